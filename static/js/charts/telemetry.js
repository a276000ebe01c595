// Telemetry of the machine during a run: a panel for each quantity in its side file.
import {reducedSentence, tableBehind} from './chart-table.js';
import {axis, drawIn, fetched, plain, titled, token, unitOf, whenSeen} from './chart.js';

const counted = new Intl.NumberFormat('en-US', {maximumFractionDigits: 1});

// The points of a panel as a table: every line is a column of the chart.
function pointsOf(telemetry, series) {
  const value = number => number === null ? 'not reported' : counted.format(number);
  return {
    name: series.name,
    heads: [
      {text: 'From', unit: 's', meaning: 'elapsed'}, {text: 'To', unit: 's', meaning: 'elapsed'},
      {text: 'Least', unit: series.unit, meaning: 'telemetry'}, {text: 'Greatest', unit: series.unit, meaning: 'telemetry'},
    ],
    rows: telemetry.columns.map(([start, end], place) => [start, end, series.least[place], series.greatest[place]].map(value)),
    sentence: reducedSentence(telemetry.columns.length, telemetry.intervals_count, 'intervals'),
  };
}

function panel(box, telemetry, series) {
  const figure = document.createElement('figure'), caption = document.createElement('figcaption');
  const name = document.createElement('b'), unit = document.createElement('span'), plot = document.createElement('div');
  [name.textContent, unit.textContent, plot.className] = [series.name, series.unit, 'plot'];
  caption.append(name, ' ', unit);
  const fold = document.createElement('details'), summary = document.createElement('summary');
  summary.textContent = `Table: ${series.name}`;
  fold.append(summary);
  figure.append(caption, plot, fold);
  box.append(figure);
  tableBehind(fold, box.dataset.meanings, () => pointsOf(telemetry, series));
  return plot;
}

function draw(plot, telemetry, series) {
  const [seconds, unit] = unitOf(telemetry.columns.at(-1)[1]);
  const x = telemetry.columns.map(([start, end]) => (start + end) / 2 / seconds);
  const most = Math.max(...series.greatest.filter(value => value !== null));
  const line = {mode: 'lines', x, line: {color: token('mark'), width: 1}, hoverinfo: 'skip', connectgaps: false};
  const range = (low, high) => low === high ? counted.format(low) : `${counted.format(low)} to ${counted.format(high)}`;
  const texts = series.greatest.map((high, place) => high === null ? 'not reported' : `${range(series.least[place], high)} ${series.unit}`);
  drawIn(plot, [
    {...line, y: series.least},
    {...line, y: series.greatest, fill: 'tonexty', fillcolor: token('track'), hoverinfo: 'all', customdata: texts.map(plain),
      hovertemplate: `%{x:.2f} ${unit}: %{customdata}<extra></extra>`},
  ], {
    margin: {l: 52, r: 8, t: 12, b: 40}, xaxis: {...axis(), showgrid: false, title: titled(`${unit} since the start`), nticks: 6},
    yaxis: {...axis(), showline: false, nticks: 4, range: [0, 1.05 * most || 1]},
  }, `${series.name}, ${series.unit}`, texts.map((text, place) => [1, place, `${x[place].toFixed(2)} ${unit}: ${text}`]));
}

const box = document.querySelector('[data-telemetry]');
if (box) {
  whenSeen(box, async () => {
    const telemetry = await fetched(box.dataset.source);
    box.replaceChildren();
    return {telemetry, plots: telemetry.series.map(series => panel(box, telemetry, series))};
  }, (_, {telemetry, plots}) => plots.forEach((plot, place) => draw(plot, telemetry, telemetry.series[place])));
}
