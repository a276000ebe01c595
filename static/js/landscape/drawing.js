// Draws pictures into the charts of a page with the templates of webapp/templates/register/landscape/parts.html:
// webapp/register/landscape/page_svg.py in the browser. While the drives are the same, only x, y and class of their marks are set.
import {escape, fill} from '../parts.js';
import {addressOf} from '../drives/query.js';
import {count} from '../drives/column-store.js';
import {STATISTICS, THRESHOLDS, chartedRows, linksOf} from './charted-rows.js';
import {followStyles} from './navigation.js';
import {GRID} from './picture.js';

const FEWEST_CHARTED = 3; // fewer marks are no picture: a phone then shows the rows first

const plain = number => String(Number(number.toPrecision(6)));
const numbers = values => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeof value === 'number' ? plain(value) : value]));
const writeText = ({kind, x, y, dx, dy, anchor, text}) => fill('plot-text', {...numbers({x, y, dx, dy}), kind, anchor, text});

const linesHtml = lines => lines.map(line => fill('plot-line', numbers(line))).join('');
const groundHtml = ({zone, lines}) => (zone ? fill('plot-zone', numbers(zone)) : '') + linesHtml(lines.filter(({kind}) => kind === GRID));
const rulesHtml = ({lines, ticks, axis_texts: texts}) => [
  linesHtml(lines.filter(({kind}) => kind !== GRID)), ...ticks.map(x => fill('plot-tick', numbers({x}))), ...texts.map(writeText),
].join('');

function cellWriter(query, speedFilter, hasStop) {
  const share = `max_${query.threshold}`, beforeWithout = (...replaced) => {
    const address = addressOf({...query, numbers: query.numbers.filter(([name]) => !replaced.includes(name)), page: 1});
    return address === '?' ? address : `${address}&`;
  };
  const before = beforeWithout(speedFilter, share), beforeHighest = beforeWithout(speedFilter);
  return (cell, number) => {
    const isHighest = cell.max_share_pct === null, most = isHighest ? '' : plain(cell.max_share_pct);
    const results = `${count(cell.drives_count)} ${cell.drives_count === 1 ? 'result' : 'results'}`;
    const sentence = `${results} here. Show those from ${count(cell.min_tps)} tps${isHighest ? '' : ` with at most ${most} % over ${query.threshold}`}.`;
    const address = isHighest ? `${beforeHighest}${speedFilter}=${cell.min_tps}` : `${before}${speedFilter}=${cell.min_tps}&${share}=${most}`;
    return fill('plot-cell', {...numbers({x: cell.x, y: cell.y, level: cell.level}), address, sentence, tab: hasStop && number === 0 ? '0' : '-1'});
  };
}

const drawn = new WeakMap(); // what the marks of a layer show: rows and threshold

function drawMarks(layer, marks, linkOfRow, name) {
  const shown = `${name} ${marks.map(({key}) => key).join()}`;
  const stop = marks.reduce((fastest, mark) => !fastest || mark.x > fastest.x || (mark.x === fastest.x && mark.key < fastest.key) ? mark : fastest, null);
  if (drawn.get(layer) === shown) {
    marks.forEach(({x, y, classes, symbol}, place) => {
      const link = layer.children[place], use = link.lastElementChild;
      link.setAttribute('class', classes);
      for (const [attribute, value] of [['x', `${plain(x)}%`], ['y', `${plain(y)}%`], ['href', `#${symbol}`]]) use.setAttribute(attribute, value);
      link.setAttribute('href', linkOfRow(marks[place].key).address);
      link.setAttribute('tabindex', marks[place] === stop ? '0' : '-1');
    });
    return;
  }
  layer.innerHTML = marks.map(mark => fill('plot-mark', {...linkOfRow(mark.key), ...numbers({x: mark.x, y: mark.y}), classes: mark.classes, symbol: mark.symbol, tab: mark === stop ? '0' : '-1'})).join('');
  drawn.set(layer, shown);
}

const EMPTY = '<title></title><desc></desc><g data-layer="ground" aria-hidden="true"></g><g data-layer="cells"></g><g data-layer="rules" aria-hidden="true"></g><g data-layer="marks"></g><g data-layer="labels" aria-hidden="true"></g>';

function drawChart(plot, picture, [title, description], linkOf, name, writeCell = () => '') {
  const ident = plot.dataset.plot;
  if (!picture) { plot.replaceChildren(); return; }
  if (!plot.firstElementChild) plot.innerHTML = `<svg class="landscape" role="group" aria-labelledby="${ident}-title ${ident}-desc" data-marks>${EMPTY}</svg>`;
  const svg = plot.firstElementChild, layer = name => svg.querySelector(`[data-layer=${name}]`);
  const set = (name, words) => Object.assign(svg.querySelector(`:scope > ${name}`), {id: `${ident}-${name}`, textContent: words});
  set('title', title);
  set('desc', description);
  layer('ground').innerHTML = groundHtml(picture);
  layer('rules').innerHTML = rulesHtml(picture);
  layer('cells').innerHTML = picture.cells.map(writeCell).join('');
  drawMarks(layer('marks'), picture.marks, linkOf, name);
  layer('labels').innerHTML = picture.labels.map(writeText).join('');
}

const switchHtml = (before, choices) => `<span class="switch">${before}${choices.map(([label, isCurrent, query]) =>
  isCurrent ? `<b tabindex="-1">${label}</b>` : `<a href="${escape(addressOf(query))}">${label}</a>`).join(' ')}</span>`;

function switchesHtml(query, {statistic, statistics}) {
  const thresholds = Object.entries(THRESHOLDS).map(([code, [, label]]) => [label.replace(' ', '\u00a0'), code === query.threshold, {...query, threshold: code}]);
  const others = statistics.map(code => [STATISTICS[code], code === statistic, {...query, statistic: code}]);
  return switchHtml('over ', thresholds) + (others.length > 1 ? switchHtml('', others) : '');
}

/** Draw the chart of speed of a page for a query; `plotted` has the matching rows. Return a function that draws the chart of endurance. */
export function drawLandscape(store, plotted, query) {
  const charts = document.querySelector('.charted');
  if (!charts) return () => {};
  const charted = chartedRows(store, plotted, query), threshold = THRESHOLDS[query.threshold][1].replace(' ', '\u00a0');
  const words = name => charts.querySelector(`[data-${name}-words]`).textContent;
  const plot = name => charts.querySelector(`[data-plot=${name}]`), figure = charts.querySelector('[data-figure=endurance-chart]');
  const orderMarks = () => ['data-no-results', 'data-few'].map(name => charts.hasAttribute(name)).join(), before = orderMarks();
  charts.toggleAttribute('data-no-results', !charted.shownCount);
  charts.toggleAttribute('data-few', charted.shownCount > 0 && charted.shownCount < FEWEST_CHARTED);
  if (orderMarks() !== before) followStyles(); // it makes the browser compute all styles
  figure.hidden = !charted.hasRatings;
  figure.setAttribute('aria-busy', 'true');
  const links = linksOf(store, query, charted.isPerDevice), name = `${store.version} ${query.threshold} ${charted.isPerDevice}`;
  const title = `Speed and slow reads: speed${charted.isPerDevice ? ' of one device' : ''}, and share of reads over ${threshold}`;
  drawChart(plot('speed-chart'), charted.speed, [title, charted.description], links.speed, name, cellWriter(query, charted.speedFilter, !charted.speed.marks.length));
  charts.querySelector('[data-over]').textContent = threshold;
  const unit = charts.querySelector('[data-unit]');
  unit.textContent = charted.isPerDevice ? charted.deviceUnit : unit.dataset.unit;
  charts.querySelector('[data-frontiers]').innerHTML = charted.legends.map(([style, words]) => fill('frontier', {style, words})).join('');
  charts.querySelector('[data-statistic]').textContent = STATISTICS[charted.statistic];
  charts.querySelector('[data-switches]').innerHTML = switchesHtml(query, charted);
  return () => {
    drawChart(plot('endurance-chart'), charted.endurance(), ['title', 'sentence'].map(words), links.endurance, name);
    figure.removeAttribute('aria-busy');
  };
}
