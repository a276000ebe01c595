// Charts of drives and runs: their marks are one tab stop and show their names; on a phone, Tab follows the order on the screen;
// the button "Explore" opens a chart to zoom. Without this script the first mark of each chart can be reached by Tab, and all of them by a pointer.
const STEPS = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1};

const placeOf = link => parseFloat(link.lastElementChild.getAttribute('x'));
const linksOf = svg => [...svg.querySelectorAll('a')].sort((a, b) => placeOf(a) - placeOf(b));

function target(links, at, key) {
  if (key === 'Home') return links[0];
  if (key === 'End') return links.at(-1);
  return links[at + STEPS[key]];
}

document.addEventListener('keydown', event => {
  const link = event.target.closest?.('svg[data-marks] a');
  if (!link || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !(event.key in STEPS || event.key === 'Home' || event.key === 'End')) return;
  const links = linksOf(link.closest('svg')), next = target(links, links.indexOf(link), event.key);
  event.preventDefault();
  if (!next) return;
  links.forEach(each => each.setAttribute('tabindex', each === next ? '0' : '-1'));
  next.focus();
});

// The name of the mark under the pointer or with the focus is shown below its chart, or above it where the window has no room below.
// It is in the page and not in the chart, so that nothing moves. The first touch of a mark shows its name, the second one opens its page.
const readout = Object.assign(document.createElement('p'), {className: 'readout', hidden: true});
readout.setAttribute('aria-hidden', 'true'); // it is the name of the link
let named = null, touched = null; // the mark whose name is shown, and the one that a touch has only shown

const markOf = element => element?.closest?.('svg[data-marks] a') ?? null;

function show(link) {
  named = link;
  readout.hidden = !link;
  if (!link) return;
  document.body.append(readout);
  readout.textContent = link.getAttribute('aria-label');
  const box = link.closest('svg').parentElement.getBoundingClientRect(), width = document.documentElement.clientWidth;
  readout.style.maxWidth = `${Math.max(box.width, Math.min(width, 480) - 2 * box.left)}px`;
  const {width: own, height} = readout.getBoundingClientRect(), top = box.bottom + height <= window.innerHeight ? box.bottom : box.top - height;
  readout.style.left = `${Math.max(0, Math.min(box.left, width - own)) + window.scrollX}px`;
  readout.style.top = `${top + window.scrollY}px`;
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

// On a phone, the style sheet shows the key and the chart of endurance below the rows. There they are also moved, so that Tab has the same order.
const phone = matchMedia('screen and (max-width: 760px)'), below = Object.assign(document.createElement('div'), {className: 'charts'});

function placeEndurance() {
  const charted = document.querySelector('.charted');
  if (!charted) return;
  const section = charted.querySelector('[data-charts]'), figure = charted.querySelector('[data-figure]'), key = charted.querySelector('p.key');
  if (phone.matches) {
    below.replaceChildren(key, figure);
    below.hidden = section.hidden;
    charted.append(below);
  } else {
    section.append(figure, key);
    below.remove();
  }
}

// Only after the button is pressed, the scripts of the chart and Plotly are loaded.
let resultsOf = async figure => (await import('./explore.js')).resultsOfHome(figure);
let end = null; // the function that shows the picture again

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
    undo = draw(plot);
    button.textContent = 'Show picture';
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

offerExploring();
placeEndurance();
phone.addEventListener('change', placeEndurance);
document.addEventListener('answers-replaced', () => { show(null); endExploring(); offerExploring(); placeEndurance(); }); // of home, with new figures
