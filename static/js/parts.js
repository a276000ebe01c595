// Pieces of HTML from the page's <template data-part> elements, which webapp/register/tables/parts.py fills, too.
const ESCAPED = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;'};
export const escape = text => String(text).replace(/[&<>"']/g, found => ESCAPED[found]);

// By name: the texts between slots, and in every second place the name of a slot.
const parts = new Map([...document.querySelectorAll('template[data-part]')].map(part => [part.dataset.part, part.innerHTML.split(/\{(\w+)\}/)]));

/** Return a piece with its slots filled: `{name}` with text, which is escaped, and `{name_html}` with HTML. */
export function fill(part, slots = {}) {
  const pieces = parts.get(part);
  let html = pieces[0];
  for (let place = 1; place < pieces.length; place += 2) {
    const name = pieces[place];
    html += (name.endsWith('_html') ? slots[name] : escape(slots[name])) + pieces[place + 1];
  }
  return html;
}
