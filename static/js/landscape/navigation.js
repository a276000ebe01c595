// Charts of drives and runs: their marks are one tab stop and show their names; the button "Explore" opens a chart to zoom.
// Without this script the first mark of each chart can be reached by Tab, and all of them by a pointer.

const STEPS = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1};

const placeOf = link => parseFloat(link.lastElementChild.getAttribute('x'));
const linksOf = svg => [...svg.querySelectorAll('a')].sort((a, b) => placeOf(a) - placeOf(b));

// Screen readers read it when an arrow key wants to pass the first or the last mark.
const edge = Object.assign(document.createElement('p'), {className: 'vh'});
edge.setAttribute('aria-live', 'polite');
document.body.append(edge);

document.addEventListener('keydown', event => {
  const link = event.target.closest?.('svg[data-marks] a');
  if (!link || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !(event.key in STEPS || event.key === 'Home' || event.key === 'End')) return;
  const links = linksOf(link.closest('svg')), last = links.length - 1;
  const wanted = event.key in STEPS ? links.indexOf(link) + STEPS[event.key] : {Home: 0, End: last}[event.key], next = links[wanted];
  event.preventDefault();
  edge.textContent = wanted < 0 ? 'First mark.' : wanted > last ? 'Last mark.' : '';
  if (!next) return;
  links.forEach(each => each.setAttribute('tabindex', each === next ? '0' : '-1'));
  next.focus();
});

// The name of the mark under the pointer or with the focus is shown where it covers nothing: charts of drives have a line for it, which otherwise shows how to use them.
// Other charts show it in a box below them, or above where the window has no room below. The first touch of a mark shows its name, the second one opens its page.
const readout = Object.assign(document.createElement('p'), {className: 'readout', hidden: true});
readout.setAttribute('aria-hidden', 'true'); // it is the name of the link
let named = null, touched = null; // the mark whose name is shown, and the one that a touch has only shown

const markOf = element => element?.closest?.('svg[data-marks] a') ?? null;

// The line of a chart of drives. Where both charts are side by side, they share the first one.
function lineOf(figure) {
  const lines = [...figure.closest('.charted')?.querySelectorAll(':scope > .mark-line') ?? []];
  return lines.find(line => line === figure.nextElementSibling && line.checkVisibility()) ?? lines[0] ?? null;
}

function showInLine(line, words) {
  line.dataset.usage ??= line.textContent;
  line.textContent = words ?? line.dataset.usage;
  line.classList.toggle('named', Boolean(words));
}

function showInBox(chart, words) {
  document.body.append(readout);
  readout.hidden = false;
  readout.textContent = words;
  const around = chart.parentElement.getBoundingClientRect(), width = document.documentElement.clientWidth;
  readout.style.maxWidth = `${Math.max(around.width, Math.min(width, 480) - 2 * around.left)}px`;
  const {width: own, height} = readout.getBoundingClientRect(), top = around.bottom + height <= window.innerHeight ? around.bottom : around.top - height;
  readout.style.left = `${Math.max(0, Math.min(around.left, width - own)) + window.scrollX}px`;
  readout.style.top = `${top + window.scrollY}px`;
}

function show(link) {
  named = link;
  readout.hidden = true;
  document.querySelectorAll('.mark-line.named').forEach(line => showInLine(line));
  if (!link) return;
  const chart = link.closest('svg'), line = lineOf(chart.closest('figure') ?? chart), words = link.getAttribute('aria-label');
  if (line) showInLine(line, words);
  else showInBox(chart, words);
}

document.addEventListener('pointerover', ({target: element, pointerType}) => {
  const link = markOf(element);
  touched = pointerType === 'touch' && link !== named ? link : null;
  if (link !== named) show(link ?? markOf(document.activeElement));
});
document.addEventListener('click', event => {
  if (touched && markOf(event.target) === touched) event.preventDefault();
  touched = null;
});
document.addEventListener('focusin', ({target: element}) => show(markOf(element)));
document.addEventListener('focusout', () => show(null));
document.addEventListener('keydown', ({key}) => { if (key === 'Escape') show(null); });

const written = new WeakMap(); // the place of each part in the page as it was loaded

/** Put the parts of the charts into the order that the style sheet gives them on the screen, because Tab follows the document. */
export function followStyles() {
  const charted = document.querySelector('.charted');
  if (!charted) return;
  const parts = [...charted.children], orderOf = new Map(parts.map(part => [part, Number(getComputedStyle(part).order)]));
  parts.forEach((part, place) => { if (!written.has(part)) written.set(part, place); });
  let next = null;
  for (const part of parts.sort((a, b) => orderOf.get(b) - orderOf.get(a) || written.get(b) - written.get(a))) {
    if (part.nextElementSibling !== next) charted.insertBefore(part, next);
    next = part;
  }
}

// Only after the button is pressed, the scripts of the chart and Plotly are loaded.
let resultsOf = async figure => (await import('./explore.js')).resultsOfHome(figure);
let end = null; // the function that shows the picture again
const EXPLORED = 'speed'; // in the browser's history

/** Let the button show the results that a function returns. Without it, the attributes of the figure name them. */
export const exploreResults = source => { resultsOf = source; };
/** Show the picture again, because the results of the page have changed. */
export const endExploring = () => end?.();

async function explore(figure, button) {
  const picture = figure.querySelector('[data-plot]'), box = document.createElement('div'), plot = document.createElement('div');
  let undo = () => {};
  const own = () => {
    end = null;
    undo();
    box.remove();
    picture.hidden = false;
    button.textContent = 'Explore';
  };
  end = own;
  box.className = 'explored-speed';
  box.append(plot);
  button.textContent = 'Loading';
  try {
    const {explorer} = await import('./explore.js');
    const draw = await explorer(figure.dataset.library, await resultsOf(figure));
    if (end !== own) return;
    picture.hidden = true;
    picture.after(box);
    undo = draw(plot, words => showInLine(lineOf(figure), words));
    button.textContent = 'Back to the chart';
    plot.focus();
    const {closeByBack} = await import('../charts/explored.js');
    const goBack = await closeByBack(EXPLORED, box, button, own);
    if (end === own) end = goBack; else goBack();
  } catch {
    if (end !== own) return;
    own();
    button.textContent = 'Explore (not loaded, try again)';
  }
}

function offerExploring() {
  const figure = document.querySelector('.chart-speed'), caption = figure?.querySelector('figcaption');
  if (!caption || figure.querySelector('button')) return;
  const button = Object.assign(document.createElement('button'), {type: 'button', className: 'also explore', textContent: 'Explore'});
  button.setAttribute('aria-live', 'polite');
  button.addEventListener('click', () => { if (end) end(); else explore(figure, button); });
  caption.after(button);
}

// Explore again after a reload, Back or Forward. Before that, the page does not need the module.
let followsHistory = false;
async function followHistory() {
  if (followsHistory || !history.state?.explored) return;
  followsHistory = true;
  const {exploreAgain} = await import('../charts/explored.js');
  exploreAgain(EXPLORED, () => !end, () => document.querySelector('.chart-speed .explore')?.click());
}

offerExploring();
followHistory();
addEventListener('popstate', followHistory);
followStyles();
matchMedia('screen and (max-width: 760px)').addEventListener('change', followStyles);
document.addEventListener('answers-replaced', () => { show(null); endExploring(); offerExploring(); followStyles(); }); // of home, with new figures
