// What all charts share: the colours of the page, axes, Plotly on demand, redrawing with the theme, and reading by keyboard.
import {readLimits} from './your-limits.js';

const root = document.documentElement;
let plotly;

export const token = name => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
export const isNarrow = () => matchMedia('(max-width: 760px)').matches;

export const axis = () => ({
  showline: true, linecolor: token('rule-2'), linewidth: 1, zeroline: false, gridcolor: token('rule'), gridwidth: 1,
  ticks: '', tickfont: {size: 12, color: token('ink-3')}, fixedrange: true,
});

export const titled = text => ({text, standoff: 8, font: {size: 12, color: token('ink-3')}});

export const layout = parts => ({
  paper_bgcolor: token('paper'), plot_bgcolor: token('paper'), separators: '.,', showlegend: false, bargap: 0.2,
  font: {family: token('sans'), size: 12, color: token('ink-3')},
  hoverlabel: {bgcolor: token('paper'), bordercolor: token('ink'), align: 'left',
    font: {family: token('sans'), size: 12, color: token('ink')}},
  ...parts,
});

export const limitLine = (y, text) => ({
  shapes: [{type: 'line', xref: 'paper', x0: 0, x1: 1, y0: y, y1: y, line: {color: token('ink'), width: 1.5}}],
  annotations: [{xref: 'paper', x: 0, y, xanchor: 'left', yanchor: 'bottom', showarrow: false,
    text: `<b>limit ${text} %</b>`, font: {color: token('ink'), size: 12}}],
});

// Text of logs goes into charts as text: Plotly reads a few tags and entities in what it is given.
export const plain = text => String(text).replace(/[&<>]/g, sign => ({'&': '&amp;', '<': '&lt;', '>': '&gt;'})[sign]);

const load = address => new Promise((resolve, reject) => {
  const script = document.createElement('script');
  script.src = address;
  script.onload = resolve;
  script.onerror = () => reject(new Error('The chart library did not load'));
  document.head.append(script);
});

const limitsForm = document.querySelector('form[data-your-limits]');

/** The limit of a panel as number and text: the one it came with, or the reader's own in the fields of the page. */
export function limitOf(panel) {
  const own = limitsForm && readLimits(limitsForm).limits.get(String(panel.thresholdUs));
  return own === undefined || own === null ? [panel.limit, panel.limitText] : [Number(own), own];
}

/** What an address answers as JSON. */
export async function fetched(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`The figures of the chart did not load (${answer.status})`);
  return answer.json();
}

const UNITS = [[86400, 'days', 4 * 86400], [3600, 'hours', 2 * 3600], [60, 'minutes', 5 * 60], [1, 'seconds', 0]];

/** Seconds and name of the unit that a time of so many seconds is told in. */
export const unitOf = seconds => UNITS.find(([, , from]) => seconds >= from);

/** Draw in a plot; `points` are [curve, place, sentence], which arrow keys go through once the plot has the focus. */
export function drawIn(plot, traces, parts, label, points = []) {
  plot.setAttribute('role', 'group');
  plot.setAttribute('aria-label', points.length ? `${label}. Arrow keys read its values.` : label);
  plot.tabIndex = 0;
  plot.chartPoints = points;
  window.Plotly.react(plot, traces, layout(parts), {displayModeBar: false, responsive: true});
}

function step(plot, key) {
  const last = plot.chartPoints.length - 1;
  const now = plot.chartPlace ?? -1;
  return {ArrowRight: Math.min(now + 1, last), ArrowLeft: Math.max(now - 1, 0), Home: 0, End: last}[key];
}

function readByKeys(event) {
  const plot = event.currentTarget;
  const place = step(plot, event.key);
  if (place === undefined || !plot.chartPoints.length) return;
  event.preventDefault();
  plot.chartPlace = place;
  const [curveNumber, pointNumber, sentence] = plot.chartPoints[place];
  window.Plotly.Fx.hover(plot, [{curveNumber, pointNumber}]);
  plot.chartSaid.textContent = sentence;
}

function listen(plot) {
  plot.chartSaid = document.createElement('p');
  plot.chartSaid.className = 'vh';
  plot.chartSaid.setAttribute('aria-live', 'polite');
  plot.after(plot.chartSaid);
  plot.addEventListener('keydown', readByKeys);
}

/** Draw a chart once its box comes into view: `draw(plots, figures)`, and again whenever the colours change. */
export function whenSeen(box, figures, draw) {
  let plots = [...box.querySelectorAll('.plot')];
  const show = async () => {
    let told;
    try {
      plotly ??= load(box.dataset.plotly);
      [told] = await Promise.all([figures(), plotly]);
    } catch (error) {
      (plots.length ? plots.map(plot => plot.firstElementChild) : [box.firstElementChild]).forEach(said => said?.append(` ${error.message}.`));
      return;
    }
    plots = [...box.querySelectorAll('.plot')]; // some boxes make theirs of the figures
    plots.forEach(plot => { plot.replaceChildren(); listen(plot); });
    const redraw = () => draw(plots, told);
    redraw();
    limitsForm?.addEventListener('input', redraw);
    new MutationObserver(redraw).observe(root, {attributeFilter: ['data-theme']});
    for (const media of ['(prefers-color-scheme: dark)', '(max-width: 760px)']) matchMedia(media).addEventListener('change', redraw);
  };
  const observer = new IntersectionObserver(entries => {
    if (!entries.some(entry => entry.isIntersecting)) return;
    observer.disconnect();
    show();
  }, {rootMargin: '200px'});
  observer.observe(box);
}
