// Pieces of HTML from the page's <template data-part> elements, which webapp/register/tables/parts.py fills, too.
const ESCAPED = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;'};
export const escape = text => String(text).replace(/[&<>"']/g, found => ESCAPED[found]);

// By name: the texts between slots, and in every second place the name of a slot.
const parts = new Map([...document.querySelectorAll('template[data-part]')].map(part => [part.dataset.part, part.innerHTML.split(/\{(\w+)\}/)]));

/** Return a piece with its slots filled: `{name}` with text, which is escaped, and `{name_html}` with HTML. */
export function fill(part, slots = {}) {
  const slot = name => name.endsWith('_html') ? slots[name] : escape(slots[name]);
  return parts.get(part).map((piece, place) => place % 2 ? slot(piece) : piece).join('');
}
