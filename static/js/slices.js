// The chart of a run's slices: one panel for each limit, each scaled to its own limit. The table below has the same numbers.
import {axis, drawIn, fetched, limitLine, token, whenSeen} from './chart.js';

const trace = (chart, panel) => ({
  type: 'bar', x: chart.middles, y: panel.shares, customdata: panel.spans,
  marker: {
    color: panel.over.map(over => token(over ? 'over-2' : 'mark')),
    line: {color: panel.over.map(over => token(over ? 'over' : 'mark')), width: panel.over.map(Number)},
    pattern: {shape: panel.over.map(over => over ? '/' : ''), size: 5, fgcolor: panel.over.map(() => token('over'))},
  },
  hovertemplate: '%{customdata}<br>%{y} %<extra></extra>',
});

// Each panel reaches 1.2 x its limit, so that the limit lines sit at one height; only a higher bar stretches its panel.
const parts = (chart, panel) => ({
  margin: {l: 40, r: 8, t: 20, b: 32},
  // Of few slices a tick each: nticks would put halves between them, which print as the same number twice.
  xaxis: {...axis(), showgrid: false, tickformat: 'd', ...(chart.middles.length < 8 ? {dtick: 1} : {nticks: 7})},
  yaxis: {...axis(), showline: false, nticks: 4, range: [0, Math.max(1.2 * panel.limit, 1.02 * Math.max(...panel.shares))]},
  ...limitLine(panel.limit, panel.limitText),
});

const sentence = (panel, place) =>
  `${panel.spans[place]}: ${panel.shares[place]} % over ${panel.threshold}${panel.over[place] ? ', over the limit' : ''}`;

function draw(plots, chart) {
  chart.panels.forEach((panel, number) => {
    const known = [...panel.shares.keys()].filter(place => panel.shares[place] !== null);
    const label = `Share over ${panel.threshold} by slice; limit ${panel.limitText} %`;
    const points = known.map(place => [0, place, sentence(panel, place)]);
    drawIn(plots[number], [trace(chart, panel)], parts(chart, panel), label, points);
  });
}

const box = document.querySelector('[data-slices-chart]');
const inPage = document.getElementById('slices-chart');
whenSeen(box, async () => inPage ? JSON.parse(inPage.textContent) : fetched(box.dataset.source), draw);
