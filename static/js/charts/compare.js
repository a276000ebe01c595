// The curves of a comparison: one panel for each figure, one line for each column of the table, named by letter.
import {LIMIT_PX, TEXT_PX, axis, drawIn, limitLine, limitOf, marked, oversOf, plain, titled, token, whenExplored} from './chart.js';

const STYLES = [
  {colour: 'accent', dash: 'solid', symbol: 'circle'}, {colour: 'ink', dash: '6px,3px', symbol: 'diamond'},
  {colour: 'ink-3', dash: '2px,2px', symbol: 'triangle-up'}, {colour: 'accent', dash: '8px,3px,2px,3px', symbol: 'cross'},
  {colour: 'ink', dash: '1px,4px', symbol: 'x'}, {colour: 'ink-3', dash: '10px,4px', symbol: 'star'},
];
const DOTS_MAX = 40; // of a line: more would be a band
const LETTER_PX = 24; // right of the plot, for the letters of lines

const trace = (line, chart, limit) => ({
  mode: line.x.length > DOTS_MAX ? 'lines' : 'lines+markers', cliponaxis: false, x: line.x, y: line.y, customdata: line.text.map(plain),
  ...marked(line.style, oversOf(line.y, line.over, limit, chart.limit)),
  hovertemplate: `<b>${plain(line.name)}</b> %{customdata}<extra></extra>`,
});

// Each line has its name at its last point, so that readers need no legend.
const nameOf = line => ({
  x: line.x.at(-1), y: line.y.at(-1), xanchor: 'left', yanchor: 'middle', xshift: 8, showarrow: false,
  text: `<b>${plain(line.name)}</b>`, font: {color: token('ink'), size: TEXT_PX},
});

function drawChart(plot, chart) {
  // A line has the style of its column, as in the picture of the server, although lines without points are left out.
  const lines = chart.lines.map((line, column) => ({...line, style: STYLES[column % STYLES.length]})).filter(line => line.x.length);
  const most = Math.max(0, ...lines.flatMap(line => line.y));
  const [limit, limitText] = chart.limit === undefined ? [] : limitOf(chart);
  const label = plot.closest('figure').querySelector('[data-limit]');
  if (label) label.textContent = limitText;
  const drawn = limit === undefined ? {shapes: [], annotations: []} : limitLine(limit, limitText, LETTER_PX);
  const points = lines.flatMap((line, curve) => line.text.map((text, place) => [curve, place, `${line.name}, ${text}`]));
  drawIn(plot, lines.map(line => trace(line, chart, limit)), {
    margin: {l: 52, r: limit === undefined ? LETTER_PX : LETTER_PX + LIMIT_PX, t: 20, b: 40},
    xaxis: {...axis(), showgrid: false, nticks: 6, rangemode: 'tozero', title: titled(chart.xTitle)},
    yaxis: {...axis(), showline: false, nticks: 4, range: [0, Math.max(1.2 * (limit ?? 0), 1.05 * most)]},
    shapes: drawn.shapes, annotations: [...drawn.annotations, ...lines.map(nameOf)],
  }, `${chart.title}, ${chart.unit}`, points);
}

// Without a script the page has the same curves as pictures, which stay until Plotly is loaded.
const charts = JSON.parse(document.getElementById('compare-charts').textContent);
const box = document.querySelector('[data-explore=curves]');

whenExplored(box, () => charts, plots => {
  plots.forEach((plot, number) => {
    plot.hidden = false;
    drawChart(plot, charts[number]);
  });
});
