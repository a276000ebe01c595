// The chart of a run's slices: one panel for each limit, each scaled to its own limit. The table below has the same numbers.
import {axis, drawIn, fetched, limitLine, limitOf, oversOf, titled, token, whenSeen} from './chart.js';

const trace = (chart, panel, over) => ({
  type: 'bar', x: chart.middles, y: panel.shares, customdata: panel.spans,
  marker: {
    color: over.map(each => token(each ? 'over-2' : 'mark')),
    line: {color: over.map(each => token(each ? 'over' : 'mark')), width: over.map(Number)},
    pattern: {shape: over.map(each => each ? '/' : ''), size: 5, fgcolor: over.map(() => token('over'))},
  },
  hovertemplate: '%{customdata}<br>%{y} %<extra></extra>',
});

// Each panel reaches 1.2 x its limit, so that the limit lines sit at one height; only a higher bar stretches its panel.
const parts = (chart, panel, [limit, limitText]) => ({
  margin: {l: 40, r: 8, t: 20, b: 40},
  // Of few slices a tick each: nticks would put halves between them, which print as the same number twice.
  xaxis: {...axis(), showgrid: false, tickformat: 'd', title: titled('slice'), ...(chart.middles.length < 8 ? {dtick: 1} : {nticks: 7})},
  yaxis: {...axis(), showline: false, nticks: 4, range: [0, Math.max(1.2 * limit, 1.02 * Math.max(...panel.shares))]},
  ...limitLine(limit, limitText),
});

const sentence = (panel, place, over) =>
  `${panel.spans[place]}: ${panel.shares[place]} % over ${panel.threshold}${over[place] ? ', over the limit' : ''}`;

function draw(plots, chart) {
  chart.panels.forEach((panel, number) => {
    const known = [...panel.shares.keys()].filter(place => panel.shares[place] !== null);
    const limit = limitOf(panel), over = oversOf(panel.shares, panel.over, limit[0], panel.limit);
    const label = `Share over ${panel.threshold} by slice; limit ${limit[1]} %`;
    const points = known.map(place => [0, place, sentence(panel, place, over)]);
    drawIn(plots[number], [trace(chart, panel, over)], parts(chart, panel, limit), label, points);
  });
}

const box = document.querySelector('[data-slices-chart]');
const inPage = document.getElementById('slices-chart');
// For few slices the table is enough, without a chart.
if (box) whenSeen(box, async () => inPage ? JSON.parse(inPage.textContent) : fetched(box.dataset.source), draw);

// The word of each slice follows its marks, which your-limits.js has updated by then.
document.querySelector('form[data-your-limits]')?.addEventListener('input', () => {
  for (const cell of document.querySelectorAll('.slices [data-outcome]')) {
    if (!cell.parentElement.querySelector('[data-share]')) continue;
    const word = document.createElement('span');
    const isOver = cell.parentElement.querySelector('.over') !== null;
    word.textContent = isOver ? 'fails' : 'passes';
    if (isOver) word.className = 'fail';
    cell.replaceChildren(word);
  }
});
