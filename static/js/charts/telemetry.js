// Telemetry of the machine during a run: a panel for each quantity in its side file.
import {counted, element, headsOf, reducedSentence, reported, tableBehind} from './chart-table.js';
import {axis, drawIn, fetched, plain, rangeBars, sliceMarks, titled, unitOf, whenExplored} from './chart.js';

// The points of a panel as a table: every line is a column of the chart.
const pointsOf = (telemetry, series) => ({
  name: series.name,
  heads: headsOf({unit: series.unit, meaning: 'telemetry'}),
  rows: telemetry.columns.map(([start, end], place) => [start, end, series.least[place], series.greatest[place]].map(reported)),
  sentence: reducedSentence(telemetry.columns.length, telemetry.intervals_count, 'intervals'),
});

function panel(meanings, telemetry, series) {
  const figure = element('figure'), caption = element('figcaption'), plot = element('div', '', {className: 'plot'}), fold = element('details');
  caption.append(element('b', series.name), ' ', element('span', series.unit));
  fold.append(element('summary', `Table: ${series.name}`));
  figure.append(caption, plot, fold);
  tableBehind(fold, meanings, () => pointsOf(telemetry, series));
  return figure;
}

function draw(plot, telemetry, series) {
  const [seconds, unit] = unitOf(telemetry.columns.at(-1)[1]);
  const x = telemetry.columns.map(([start, end]) => (start + end) / 2 / seconds);
  const width = telemetry.columns.map(([start, end]) => (end - start) / seconds);
  const most = Math.max(...series.greatest.filter(value => value !== null));
  const range = (low, high) => low === high ? counted.format(low) : `${counted.format(low)} to ${counted.format(high)}`;
  const texts = series.greatest.map((high, place) => high === null ? 'not reported' : `${range(series.least[place], high)} ${series.unit}`);
  const text = {customdata: texts.map(plain), hovertemplate: `%{x:.2f} ${unit}: %{customdata}<extra></extra>`};
  drawIn(plot, [rangeBars(x, width, series.least, series.greatest, text)], {
    margin: {l: 52, r: 8, t: 20, b: 40}, ...sliceMarks(plot, seconds), xaxis: {...axis(), showgrid: false, title: titled(`${unit} since the start`), nticks: 6},
    yaxis: {...axis(), showline: false, nticks: 4, tickformat: ',.10~g', range: [0, 1.05 * most || 1]},
  }, `${series.name}, ${series.unit}`, texts.map((text, place) => [0, place, `${x[place].toFixed(2)} ${unit}: ${text}`]));
}

const box = document.querySelector('[data-explore=telemetry]');
if (box) {
  whenExplored(box, () => fetched(box.dataset.source),
    (plots, telemetry) => plots.forEach((plot, place) => draw(plot, telemetry, telemetry.series[place])),
    (copy, telemetry) => copy.replaceChildren(...telemetry.series.map(series => panel(copy.dataset.meanings, telemetry, series))));
}
