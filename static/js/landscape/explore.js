// The chart of speed to explore: the same results with Plotly, from the data file of the tables.
import {axis, drawIn, isNarrow, limitLine, listen, loadPlotly, plain, token} from '../charts/chart.js';
import {count, load, nameOf} from '../drives/column-store.js';
import {groupsOf, speedsOf} from '../drives/ranking.js';
import {THRESHOLDS, linkOf, sharesOf, shownRows} from './charted-rows.js';
import {enclosingLogScale} from './scales.js';

const SYMBOLS = {full: 'circle', open: 'circle-open', apart: 'circle-open-dot'}; // as the fill of the marks of the picture

/** Return the results that the chart of the home page shows, which its attributes describe. */
export async function resultsOfHome({dataset}) {
  const store = await load(dataset.file), {category, historical} = store.columns, categories = dataset.categories.split('~');
  const rows = [...Array(store.count).keys()].filter(row => categories.includes(category.word(row)) && historical.word(row) !== 'yes');
  return {store, rows, threshold: dataset.threshold, statistic: dataset.statistic, limit: dataset.limit};
}

// On a phone, many ticks are only those of 1, 10, 100 and so on, as in the picture.
function speedAxis(speeds) {
  const scale = enclosingLogScale(Math.min(...speeds), Math.max(...speeds)), ticks = scale.ticks();
  const tickvals = isNarrow() && ticks.length > 5 ? ticks.filter(value => String(value).startsWith('1')) : ticks;
  return {...axis(), fixedrange: false, type: 'log', range: [scale.low, scale.high].map(Math.log10), tickvals, ticktext: tickvals.map(count)};
}

function draw(plot, {store, threshold, limit}, shown, links) {
  const speeds = speedsOf(store), shares = sharesOf(store, threshold), groups = groupsOf(store), over = shown.map(row => shares[row] > Number(limit));
  const printed = store.columns[`pct_over_${threshold}`];
  const words = row => `<b>${plain(nameOf(store, row))}</b><br>${count(Math.floor(speeds[row] + 0.5))} tps<br>${printed.word(row)} % of reads over ${THRESHOLDS[threshold][1]}`;
  const trace = {
    mode: 'markers', cliponaxis: false, x: shown.map(row => speeds[row]), y: shown.map(row => shares[row]), customdata: shown.map(words),
    hovertemplate: '%{customdata}<extra></extra>',
    marker: {
      size: 9, line: {width: 1.5}, symbol: shown.map((row, place) => over[place] ? 'square-open' : SYMBOLS[groups[row].fill]),
      color: over.map(each => token(each ? 'over' : 'mark')),
    },
  };
  const parts = {
    margin: {l: 36, r: 24, t: 20, b: 28}, dragmode: 'zoom', xaxis: speedAxis(shown.map(row => speeds[row])),
    yaxis: {...axis(), fixedrange: false, showline: false, nticks: 6, rangemode: 'tozero'},
    ...limitLine(Number(limit), limit),
  };
  const points = shown.map((row, place) => [0, place, links[place].sentence]).reverse(); // the slowest first
  drawIn(plot, [trace], parts, 'Speed and slow reads', points);
}

/** Load Plotly, and return a function that draws results in a plot. That one returns a function that ends the drawing. */
export async function explorer(library, results) {
  await loadPlotly(library);
  const {shown} = shownRows(results.store, results.rows, results.threshold, results.statistic);
  const links = shown.map(row => linkOf(results.store, row, results.threshold)), open = place => location.assign(links[place].address);
  return plot => {
    const redraw = () => draw(plot, results, shown, links), themes = new MutationObserver(redraw), dark = matchMedia('(prefers-color-scheme: dark)');
    redraw();
    listen(plot);
    plot.on('plotly_click', ({points: [point]}) => open(point.pointNumber));
    plot.addEventListener('keydown', ({key}) => { if (key === 'Enter' && plot.chartPlace !== undefined) open(plot.chartPoints[plot.chartPlace][1]); });
    themes.observe(document.documentElement, {attributeFilter: ['data-theme']});
    dark.addEventListener('change', redraw);
    return () => {
      themes.disconnect();
      dark.removeEventListener('change', redraw);
      window.Plotly.purge(plot);
    };
  };
}
