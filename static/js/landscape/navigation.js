// Marks show their names to a pointer. They are one tab stop: arrow keys move between them by speed, Home and End to the slowest and the fastest.
const STEPS = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1};

const placeOf = link => parseFloat(link.lastElementChild.getAttribute('x'));
const linksOf = svg => [...svg.querySelectorAll('a')].sort((a, b) => placeOf(a) - placeOf(b));

function target(links, at, key) {
  if (key === 'Home') return links[0];
  if (key === 'End') return links.at(-1);
  return links[at + STEPS[key]];
}

document.addEventListener('keydown', event => {
  const svg = event.target.closest?.('svg.landscape');
  if (!svg || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !(event.key in STEPS || event.key === 'Home' || event.key === 'End')) return;
  const links = linksOf(svg), next = target(links, links.indexOf(event.target), event.key);
  event.preventDefault();
  if (!next) return;
  links.forEach(link => link.setAttribute('tabindex', link === next ? '0' : '-1'));
  next.focus();
});

document.addEventListener('pointerover', event => {
  const link = event.target.closest?.('svg.landscape a');
  if (!link || link.querySelector('title')) return;
  const title = document.createElementNS('http://www.w3.org/2000/svg', 'title');
  title.textContent = link.getAttribute('aria-label');
  link.prepend(title);
});

// The button "Explore" replaces the picture of speed by a chart of the same results. Only then its scripts and Plotly are loaded.
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
document.addEventListener('answers-replaced', () => { endExploring(); offerExploring(); }); // of home, with a new figure
