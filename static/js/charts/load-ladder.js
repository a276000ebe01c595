// The load ladder of a product: a panel for each limit, a line for each number of devices (solid, dashed or dotted).
import {axis, drawIn, limitLine, limitOf, marked, plain, titled, whenSeen} from './chart.js';

const STYLES = [
  {dash: 'solid', symbol: 'circle', colour: 'accent'}, {dash: '5px,3px', symbol: 'diamond', colour: 'ink-3'},
  {dash: '2px,2px', symbol: 'triangle-up', colour: 'ink-2'},
];

const trace = (line, number, limit) => ({
  mode: 'lines+markers', cliponaxis: false, name: plain(line.name), x: line.loads, y: line.shares,
  customdata: line.runs.map((run, place) => [plain(run), line.printed[place], plain(line.name)]),
  ...marked(STYLES[number % STYLES.length], line.shares.map(share => share > limit)),
  hovertemplate: '%{x}x, %{customdata[2]}<br>%{customdata[1]} %<br>run %{customdata[0]}<extra></extra>',
});

function drawPanel(plot, panel) {
  const [limit, limitText] = limitOf(panel);
  const shares = panel.lines.flatMap(line => line.shares);
  const points = panel.lines.flatMap((line, curve) => line.runs.map((run, place) =>
    [curve, place, `run ${run}, ${line.loads[place]}x, ${line.name}: ${line.printed[place]} %`]));
  drawIn(plot, panel.lines.map((line, number) => trace(line, number, limit)), {
    margin: {l: 40, r: 8, t: 20, b: 40},
    xaxis: {...axis(), showgrid: false, rangemode: 'tozero', nticks: 6, ticksuffix: 'x', title: titled('load of each device')},
    yaxis: {...axis(), showline: false, nticks: 4, range: [0, Math.max(1.2 * limit, 1.05 * Math.max(0, ...shares))]},
    ...limitLine(limit, limitText),
  }, `Share over ${panel.threshold} by load; limit ${limitText} %`, points);
}

for (const box of document.querySelectorAll('[data-ladder]')) {
  const chart = JSON.parse(document.getElementById(box.dataset.ladder).textContent);
  whenSeen(box, () => chart, plots => chart.panels.forEach((panel, number) => drawPanel(plots[number], panel)));
}
