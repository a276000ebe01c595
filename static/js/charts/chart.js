// Common parts of all charts: colours of the page, axes, loading of Plotly, redrawing with the theme, and reading by keyboard.
import {readLimits} from '../your-limits.js';
import {closeByBack, edgeSentence, exploreAgain} from './explored.js';

export const TEXT_PX = 12.5; // as --t-c of css/tokens.css
const root = document.documentElement;
let plotly;

export const token = name => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
export const isNarrow = () => matchMedia('(max-width: 760px)').matches;

export const axis = () => ({
  showline: true, linecolor: token('rule-2'), linewidth: 1, zeroline: false, gridcolor: token('rule'), gridwidth: 1,
  ticks: '', tickfont: {size: TEXT_PX, color: token('ink-3')}, fixedrange: true,
});

export const titled = text => ({text, standoff: 8, font: {size: TEXT_PX, color: token('ink-3')}});

export const layout = parts => ({
  paper_bgcolor: token('paper'), plot_bgcolor: token('paper'), separators: '.,', showlegend: false, bargap: 0.2,
  font: {family: token('sans'), size: TEXT_PX, color: token('ink-3')},
  hoverlabel: {bgcolor: token('paper'), bordercolor: token('ink'), align: 'left',
    font: {family: token('sans'), size: TEXT_PX, color: token('ink')}},
  ...parts,
});

export const LIMIT_PX = 48; // the right margin of a plot for the name of its limit

// A line across the plot, with its name in two lines on the right of the plot, where it covers no bar and no point, `gapPx` from the plot.
export const limitLine = (y, text, gapPx = 4) => ({
  shapes: [{type: 'line', xref: 'paper', x0: 0, x1: 1, y0: y, y1: y, line: {color: token('ink'), width: 1.5}}],
  annotations: [{xref: 'paper', x: 1, y, xanchor: 'left', yanchor: 'middle', align: 'left', xshift: gapPx, borderpad: 0, showarrow: false,
    text: `<b>limit</b><br><b>${text} %</b>`, font: {color: token('ink'), size: TEXT_PX}}],
});

// Escape the text of logs, because Plotly interprets a few tags and entities.
export const plain = text => String(text).replace(/[&<>]/g, sign => ({'&': '&amp;', '<': '&lt;', '>': '&gt;'})[sign]);

const load = address => new Promise((resolve, reject) => {
  const script = document.createElement('script');
  script.src = address;
  script.onload = resolve;
  script.onerror = () => reject(new Error('The chart library could not be loaded'));
  document.head.append(script);
});

// Over the limit by the counts, as on the server; for a limit that the reader types, by the share drawn.
export const oversOf = (shares, over, limit, ofPage) => limit === ofPage ? over : shares.map(share => share > limit);

const limitsForm = document.querySelector('form[data-your-limits]');

/** Return the limit of a panel as number and text: the reader's own from the form of the page, or the panel's. */
export function limitOf(panel) {
  const own = limitsForm && readLimits(limitsForm).limits.get(String(panel.thresholdUs));
  return own === undefined || own === null ? [panel.limit, panel.limitText] : [Number(own), own];
}

/** Fetch JSON from an address. */
export async function fetched(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`The data of the chart could not be loaded (status ${response.status})`);
  return response.json();
}

/** Return the line and the marks of a curve in a style; marks over the limit are open squares. */
export const marked = ({colour, dash, symbol}, over) => ({
  line: {color: token(colour), width: 2, dash},
  marker: {
    size: 8, symbol: over.map(each => each ? 'square-open' : symbol),
    color: over.map(each => token(each ? 'over' : colour)), line: {width: 2},
  },
});

/** Return the trace of bars from a least to a greatest value, `width` wide, as webapp/register/runs/charts/drawing.py draws them. */
export const rangeBars = (x, width, least, greatest, text) => ({
  type: 'bar', x, width, base: least, y: greatest.map((high, place) => high === null || least[place] === null ? null : high - least[place]),
  marker: {color: token('accent-2'), line: {color: token('accent'), width: 1.5}}, hoverinfo: 'all', ...text,
});

/** Return the shapes and the name of the slices of a run, for a time axis whose unit has so many seconds: webapp/register/runs/charts/slice_marks.py in the browser. */
export function sliceMarks(plot, seconds) {
  const {edges = [], worst = null} = JSON.parse(plot.closest('[data-slices]')?.dataset.slices ?? '{}');
  const upright = {yref: 'paper', y0: 0, y1: 1};
  const lines = edges.map(second => ({type: 'line', ...upright, x0: second / seconds, x1: second / seconds, line: {color: token('rule-2'), width: 1, dash: '2px,3px'}}));
  if (!worst) return {shapes: lines, annotations: []};
  const [number, start, end] = worst;
  return {
    shapes: [...lines, {type: 'rect', ...upright, x0: start / seconds, x1: end / seconds, line: {color: token('ink'), width: 1.5}}],
    annotations: [{yref: 'paper', x: (start + end) / 2 / seconds, y: 1, yanchor: 'bottom', borderpad: 0, showarrow: false,
      text: `<b>worst slice: ${number.toLocaleString('en-US')}</b>`, font: {color: token('ink'), size: TEXT_PX}}],
  };
}

const UNITS = [[86400, 'days', 4 * 86400], [3600, 'hours', 2 * 3600], [60, 'minutes', 5 * 60], [1, 'seconds', 0]];

/** Return the unit for a time of so many seconds: its seconds and its name. */
export const unitOf = seconds => UNITS.find(([, , from]) => seconds >= from);

/** Draw in a plot; `points` are [curve, place, sentence], which the arrow keys step through when the plot has the focus. */
export function drawIn(plot, traces, parts, label, points = [], config = {displayModeBar: false}) {
  plot.setAttribute('role', 'group');
  plot.setAttribute('aria-label', points.length ? `${label}. Arrow keys read its values.` : label);
  plot.tabIndex = 0;
  plot.chartPoints = points;
  window.Plotly.react(plot, traces, layout(parts), {responsive: true, ...config});
}

/** Show which point of an explored plot is read: a line across the plot at its place, until the plot loses the focus. */
function moveCursor(plot, curve, point) {
  const {x, type} = plot.data[curve], {xaxis: area, yaxis: upright} = plot._fullLayout ?? {};
  if (!area || !plot.closest('.explored')) return;
  const place = type === 'heatmap' ? point[1] : point;
  const at = type === 'heatmap' ? (x[place] + x[place + 1]) / 2 : x[place];
  plot.chartCursor ??= Object.assign(document.createElement('div'), {className: 'reading-cursor'});
  const px = {left: area._offset + area.l2p(area.d2l(at)), top: upright._offset, height: upright._length};
  Object.entries(px).forEach(([side, length]) => { plot.chartCursor.style[side] = `${length}px`; });
  plot.querySelector('.svg-container').append(plot.chartCursor);
}

const STEPS = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1};

function readByKeys(event) {
  const plot = event.currentTarget;
  const last = plot.chartPoints.length - 1, now = plot.chartPlace;
  const start = plot.chartStart === 'last' ? last : 0;
  const wanted = event.key in STEPS ? now === undefined ? start : now + STEPS[event.key] : {Home: 0, End: last}[event.key];
  if (wanted === undefined || last < 0) return;
  event.preventDefault();
  const place = Math.min(Math.max(wanted, 0), last);
  plot.chartPlace = place;
  const [curveNumber, pointNumber, sentence] = plot.chartPoints[place];
  window.Plotly.Fx.hover(plot, [{curveNumber, pointNumber}]);
  moveCursor(plot, curveNumber, pointNumber);
  plot.chartStatus.textContent = `${edgeSentence(wanted, last)}${sentence}`;
  plot.chartRead(plot.chartPoints[place], sentence);
}

/** Let the arrow keys step through the points of a plot from the first or the last one, and read them aloud. `onRead` gets each point with its sentence. */
export function listen(plot, start = 'first', onRead = () => {}) {
  plot.chartStart = start;
  plot.chartRead = onRead;
  plot.chartStatus = document.createElement('p');
  plot.chartStatus.className = plot.closest('.explored') ? 'reading' : 'vh';
  plot.chartStatus.setAttribute('aria-live', 'polite');
  plot.after(plot.chartStatus);
  plot.addEventListener('keydown', readByKeys);
  plot.addEventListener('blur', () => plot.chartCursor?.remove());
}

/** Load Plotly once. After a failure, the next chart tries again. */
export async function loadPlotly(address) {
  plotly ??= load(address);
  try {
    await plotly;
  } catch (error) {
    plotly = undefined;
    throw error;
  }
}

/** Draw a chart with `draw` in a copy of a box, and again when colours or limits change. The copy replaces the box until the returned function is called. Fails without its data or Plotly. */
async function open(box, figures, draw, prepare) {
  await loadPlotly(box.dataset.plotly);
  const loaded = await figures(), copy = box.cloneNode(true), ended = new AbortController(), {signal} = ended;
  copy.removeAttribute('id');
  delete copy.dataset.explore;
  copy.classList.add('explored');
  prepare(copy, loaded);
  box.after(copy);
  box.hidden = true;
  const plots = [...copy.querySelectorAll('.plot')];
  plots.forEach(plot => { plot.replaceChildren(); listen(plot); });
  const redraw = () => draw(plots, loaded), colours = new MutationObserver(redraw);
  const close = () => {
    ended.abort();
    colours.disconnect();
    plots.forEach(plot => window.Plotly.purge(plot));
    copy.remove();
    box.hidden = false;
  };
  redraw();
  limitsForm?.addEventListener('input', redraw, {signal});
  colours.observe(root, {attributeFilter: ['data-theme']});
  for (const media of ['(prefers-color-scheme: dark)', '(max-width: 760px)']) matchMedia(media).addEventListener('change', redraw, {signal});
  return {copy, close};
}

/** Return the first element after or before another one that a selector matches. */
function sibling(element, selector, direction) {
  let found = element[direction];
  while (found && !found.matches(selector)) found = found[direction];
  return found;
}

/** Offer a button among the links below a box with pictures of the server. It replaces them by a chart to explore, and shows them again. `prepare` changes the copy of the box before plots are found in it. */
export function whenExplored(box, figures, draw, prepare = () => {}) {
  const button = Object.assign(document.createElement('button'), {type: 'button', className: 'also explore'});
  const note = document.createElement('span');
  const head = sibling(box, 'h2, h3, summary', 'previousElementSibling');
  const title = (head?.querySelector('h2, h3') ?? head)?.firstChild.textContent.trim();
  const name = words => { button.textContent = words; button.setAttribute('aria-label', `${words}: ${title}`); };
  let goBack = null;
  name('Explore');
  note.setAttribute('role', 'status');
  const explore = async () => {
    button.disabled = true;
    note.textContent = 'Loading the chart.';
    try {
      const {copy, close} = await open(box, figures, draw, prepare);
      note.textContent = '';
      name('Back to the chart');
      goBack = await closeByBack(title, copy, button, () => {
        goBack = null;
        close();
        name('Explore');
      });
      copy.querySelector('.plot')?.focus();
    } catch (error) {
      note.textContent = `${error.message}. The picture is complete without it.`;
    }
    button.disabled = false;
  };
  button.addEventListener('click', () => goBack ? goBack() : explore());
  sibling(box, '.src', 'nextElementSibling').prepend(button, note);
  exploreAgain(title, () => !goBack && !button.disabled, explore);
}
