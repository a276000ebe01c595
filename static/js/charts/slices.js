// The chart of a run's slices: one panel for each limit, each scaled to its own limit. The table below has the same numbers.
import {isCountWithin} from '../limits.js';
import {readLimits} from '../your-limits.js';
import {LIMIT_PX, axis, drawIn, fetched, limitLine, limitOf, oversOf, titled, token, whenExplored} from './chart.js';

const trace = (chart, panel, over) => ({
  type: 'bar', x: chart.middles, y: panel.shares, customdata: panel.spans.map((span, place) => `${span}<br>${panel.texts[place]}`),
  marker: {color: over.map(each => token(each ? 'over' : 'mark'))},
  hovertemplate: '%{customdata}<extra></extra>',
});

// The open part of a bar, up to the largest share that the log allows.
const openPart = (chart, panel) => ({
  type: 'bar', x: chart.middles, base: panel.shares, y: panel.most.map((most, place) => most - panel.shares[place]),
  marker: {color: 'rgba(0,0,0,0)', line: {color: token('mark'), width: panel.most.map((most, place) => most > panel.shares[place] ? 1.5 : 0)}},
  hoverinfo: 'skip',
});

// Each panel reaches 1.2 x its limit, so that the limit lines sit at one height; only a higher bar stretches its panel.
const parts = (chart, panel, [limit, limitText]) => ({
  margin: {l: 40, r: LIMIT_PX, t: 20, b: 40},
  // Of few slices a tick each: nticks would put halves between them, which print as the same number twice.
  xaxis: {...axis(), showgrid: false, tickformat: 'd', title: titled('slice'), ...(chart.middles.length < 8 ? {dtick: 1} : {nticks: 7})},
  yaxis: {...axis(), showline: false, nticks: 4, range: [0, Math.max(1.2 * limit, 1.02 * Math.max(...panel.most))]},
  barmode: 'overlay', ...limitLine(limit, limitText),
});

const sentence = (panel, place, over) =>
  `${panel.spans[place]}: over ${panel.threshold} ${panel.texts[place]}${over[place] ? ', over the limit' : ''}`;

function draw(plots, chart) {
  chart.panels.forEach((panel, number) => {
    const known = [...panel.shares.keys()].filter(place => panel.shares[place] !== null);
    const limit = limitOf(panel), over = oversOf(panel.shares, panel.over, limit[0], panel.limit);
    const label = `Share over ${panel.threshold} by slice; limit ${limit[1]} %`;
    const points = known.map(place => [0, place, sentence(panel, place, over)]);
    drawIn(plots[number], [trace(chart, panel, over), openPart(chart, panel)], parts(chart, panel, limit), label, points);
  });
}

// The pictures of the server follow the reader's limit: scale, line and strong bars, as in charts/slice_bars.py.
function moveBars(picture, panel) {
  const [limit, limitText] = limitOf(panel), over = oversOf(panel.shares, panel.over, limit, panel.limit);
  const most = Math.max(0, ...panel.most), top = Math.max(1.2 * limit, 1.02 * most) || 1;
  const [line, text, highest] = ['.limit', '.limit-text', '.highest'].map(each => picture.querySelector(each));
  const height = value => `${100 - 100 * value / top}%`;
  for (const end of ['y1', 'y2']) line.setAttribute(end, height(limit));
  text.setAttribute('y', height(limit));
  text.textContent = `limit ${limitText}`;
  highest.setAttribute('y', height(most));
  highest.textContent = most > 1.2 * limit ? most.toPrecision(3) : '';
  picture.setAttribute('aria-label', `Share over ${panel.threshold} by slice; limit ${limitText} %`);
  for (const part of picture.querySelectorAll('.marks .may')) {
    const {place} = part.dataset;
    part.setAttribute('y', 100 - 100 * panel.most[place] / top);
    part.setAttribute('height', 100 * (panel.most[place] - panel.shares[place]) / top);
  }
  [...picture.querySelectorAll('.marks rect:not(.may)')].forEach((bar, place) => {
    const part = 100 * (panel.shares[place] ?? 0) / top;
    bar.setAttribute('y', 100 - part);
    bar.setAttribute('height', part);
    bar.setAttribute('class', over[place] ? 'over' : 'bar');
    bar.querySelector('title').textContent = panel.shares[place] === null ? 'no operations' : sentence(panel, place, over);
  });
}

const box = document.querySelector('[data-explore=slices]');
const inPage = document.getElementById('slices-chart');
let chart;
const figures = async () => chart ??= inPage ? JSON.parse(inPage.textContent) : await fetched(box.dataset.source);
if (box) {
  whenExplored(box, figures, draw);
  document.querySelector('form[data-your-limits]')?.addEventListener('input', async () => {
    const {panels} = await figures();
    [...box.querySelectorAll('.slice-bars')].forEach((picture, number) => moveBars(picture, panels[number]));
  });
}

const own = document.querySelector('form[data-your-limits]');
const mayBeOver = row => [...row.querySelectorAll('[data-most]')].some(({dataset: {most, ops, threshold}}) => {
  const limit = readLimits(own).limits.get(threshold);
  return limit !== undefined && !isCountWithin(most, ops, limit);
});

// The word of each slice follows its marks, which your-limits.js has updated by then.
own?.addEventListener('input', () => {
  for (const cell of document.querySelectorAll('.slices [data-outcome]')) {
    if (!cell.parentElement.querySelector('[data-share]')) continue;
    const word = document.createElement('span');
    const isOver = cell.parentElement.querySelector('.over') !== null;
    word.textContent = isOver ? 'fails' : mayBeOver(cell.parentElement) ? 'may fail' : 'passes';
    if (isOver) word.className = 'fail';
    cell.replaceChildren(word);
  }
});
