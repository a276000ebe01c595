// The first answer of a large register: the server's page for a query, whose parts replace those of this page. It is much smaller than
// the data file, which the script loads once the answer is painted.
const PARTS = [
  '[data-section]', '[data-headline]', '[data-headline-others]', '[data-nearest]', '[data-shown]', '[data-changes]', '[data-filters]',
  '[data-show]', '[data-picked]', '[data-pages]', '[data-categories]', '[data-plot]', '.charted [data-over]', '[data-unit]',
  '[data-frontiers]', '[data-statistic]', '[data-switches]', '[data-devices]',
];
const ATTRIBUTES = ['[data-empty]', '[data-profile-limits]', '[data-form]', '[data-figure]', '[data-cloud-notes]', '[data-providers]', '.charted', 'form [data-over]', '.skip'];

/** Return each element of this page with the same one of another page; nothing if the pages differ in their number. */
function pairsOf(selector, page) {
  const own = [...document.querySelectorAll(selector)], others = [...page.querySelectorAll(selector)];
  return own.length === others.length ? own.map((element, place) => [element, others[place]]) : [];
}

function copyAttributes([element, other]) {
  for (const {name} of [...element.attributes]) if (!other.hasAttribute(name)) element.removeAttribute(name);
  for (const {name, value} of other.attributes) element.setAttribute(name, value);
}

/** Show the server's page of an address, unless the reader has changed the query meanwhile. */
export async function showServerPage(address, isCurrent) {
  const response = await fetch(address, {headers: {Accept: 'text/html'}});
  if (!response.ok) throw new Error(`${address}: expected 200, got ${response.status}`);
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  if (!isCurrent()) return;
  for (const pair of PARTS.flatMap(selector => pairsOf(selector, page))) {
    pair[0].replaceChildren(...pair[1].childNodes);
    copyAttributes(pair);
  }
  ATTRIBUTES.flatMap(selector => pairsOf(selector, page)).forEach(copyAttributes);
  await new Promise(done => requestAnimationFrame(() => setTimeout(done))); // it is painted
}
