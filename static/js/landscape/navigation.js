// Marks show their names to a pointer. They are one tab stop: arrow keys move between them by speed, Home and End to the fastest and the slowest.
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
  if (!svg || !(event.key in STEPS || event.key === 'Home' || event.key === 'End')) return;
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
