// Charts of YCSB's curves: throughput by threads, latency by throughput, and lines at the level that a reader fixes.
// The tables next to them have the same numbers.
import {axis, drawIn, plain, titled, token, whenSeen} from './chart.js';

// Two curves differ twice, in colour and in line and mark, so that they do without colour.
const STYLES = [
  {colour: 'accent', dash: 'solid', symbol: 'circle'}, {colour: 'ink-3', dash: '5px,3px', symbol: 'square-open'},
  {colour: 'ink', dash: '2px,2px', symbol: 'diamond-open'}, {colour: 'accent', dash: '8px,3px,2px,3px', symbol: 'triangle-up'},
  {colour: 'ink-3', dash: 'solid', symbol: 'x-thin-open'}, {colour: 'ink', dash: '1px,3px', symbol: 'star-open'},
];

function trace(curve, number) {
  const style = STYLES[number % STYLES.length];
  return {
    mode: curve.line ? 'lines+markers' : 'markers', name: plain(curve.name), x: curve.x, y: curve.y, text: curve.labels.map(plain),
    line: {color: token(style.colour), width: 2, dash: style.dash},
    marker: {symbol: style.symbol, opacity: 1, color: token(style.colour), size: curve.x.map((_, at) => at === curve.peak ? 13 : 8)},
    hovertemplate: `${plain(curve.name)}<br>%{x:,}: %{y:,.4~r}<br>%{text}<extra></extra>`,
  };
}

const levelShape = line => ({
  type: 'line', layer: 'below', line: {color: token('ink'), width: 1.5},
  ...(line.axis === 'x' ? {yref: 'paper', y0: 0, y1: 1, x0: line.at, x1: line.at} : {xref: 'paper', x0: 0, x1: 1, y0: line.at, y1: line.at}),
});

// The text of a vertical line is on the side that has room.
const levelText = (line, right) => ({
  text: `<b>${plain(line.text)}</b>`, showarrow: false, font: {color: token('ink'), size: 12},
  ...(line.axis === 'x'
    ? {x: line.at, yref: 'paper', y: 1, yanchor: 'top', ...(line.at > right / 2 ? {xanchor: 'right', xshift: -4} : {xanchor: 'left', xshift: 4})}
    : {xref: 'paper', x: 0, y: line.at, xanchor: 'left', yanchor: 'bottom', xshift: 4}),
});

// Thread counts are doubled, or half as much again: on a logarithmic axis each power of two has its tick.
function threadTicks(panel) {
  const counts = [...new Set(panel.curves.flatMap(curve => curve.x))].sort((a, b) => a - b);
  const powers = counts.filter(count => Number.isInteger(Math.log2(count)));
  return {type: 'log', tickvals: powers.length > 2 ? powers : counts, tickformat: ',d'};
}

const greatest = (panel, name) =>
  Math.max(0, ...panel.curves.flatMap(curve => curve[name]), ...panel.levels.filter(line => line.axis === name).map(line => line.at));

function parts(panel) {
  const right = greatest(panel, 'x');
  return {
    margin: {l: 56, r: 12, t: 8, b: 68}, showlegend: true,
    legend: {orientation: 'h', x: 0, y: -0.3, yanchor: 'top', font: {color: token('ink')}},
    xaxis: {...axis(), showgrid: false, title: titled(panel.xTitle), ...(panel.xLog ? threadTicks(panel) : {range: [0, 1.08 * right]})},
    yaxis: {...axis(), showline: false, nticks: 6, title: titled(panel.yTitle), range: [0, 1.12 * greatest(panel, 'y')]},
    shapes: panel.levels.map(levelShape), annotations: panel.levels.map(line => levelText(line, right)),
  };
}

const spoken = (panel, curve, place) =>
  `${curve.name}: ${curve.y[place].toLocaleString('en')} ${panel.yTitle} at ${curve.x[place].toLocaleString('en')} ${panel.xTitle}`;

function draw(plots, panels) {
  panels.forEach((panel, number) => {
    const points = panel.curves.flatMap((curve, at) => curve.x.map((_, place) => [at, place, spoken(panel, curve, place)]));
    drawIn(plots[number], panel.curves.map(trace), parts(panel), `${panel.title}: ${panel.yTitle} by ${panel.xTitle}`, points);
  });
}

for (const box of document.querySelectorAll('[data-curves]')) {
  whenSeen(box, async () => JSON.parse(document.getElementById(box.dataset.curves).textContent), draw);
}
