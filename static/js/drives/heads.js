// The head of a table for its shown columns, like that of webapp/templates/register/drives/table.html.
import {addressOf} from './query.js';
import {escape} from '../parts.js';
import {decimal} from './column-store.js';

/** Return the columns that a table shows: the chosen ones, by default the usual ones and those of the filters that are set. */
export function columnsOf(section, {columns: chosen, choices, numbers}, filters) {
  if (chosen.length) return section.columns.filter(({code}) => code === 'drive' || chosen.includes(code));
  const isSet = new Set([...choices, ...numbers].map(([name]) => name));
  const shown = new Set(filters.filter(({name}) => isSet.has(name)).flatMap(({shows}) => shows));
  return section.columns.filter(({code, is_usual: isUsual}) => isUsual || shown.has(code));
}

// A narrow screen chooses from the groups of the shown columns.
function drawGroups(wrap, section, columns, labels) {
  const used = new Set(columns.map(({group}) => group));
  const hasRating = columns.some(({code}) => code === 'endurance_dwpd');
  const groups = Object.entries({...labels, size: section.sizeLabel, end: hasRating ? labels.end : 'Notes'}).filter(([code]) => used.has(code));
  const field = wrap.querySelector('.choose'), prices = field.querySelector('label:has(.c-price)'); // of prices.js
  const before = field.querySelector('input:checked')?.className;
  const wasChosen = before === 'c-price' || groups.some(([code]) => `c-${code}` === before), checked = wasChosen ? before : `c-${groups[0]?.[0]}`;
  field.innerHTML = '<legend class="vh">Columns shown</legend>' + groups.map(([code, label]) =>
    `<label><input type="radio" name="columns-${section.code}" class="c-${code}"${`c-${code}` === checked ? ' checked' : ''}>${escape(label)}</label>`).join('');
  if (prices) field.append(prices);
}

// A narrow screen shows the group of the sorted column, except in the page's default order, until the reader chooses another.
// It does not begin with a column that has no value.
function showSorted(wrap, columns, {sort, defaultSort}, store, rows) {
  if (wrap.dataset.sorted === sort.code) return;
  wrap.dataset.sorted = sort.code;
  const group = `${sort.falls ? '-' : ''}${sort.code}` !== defaultSort && columns.find(({code}) => code === sort.code)?.group;
  const isFull = () => columns.filter(column => column.group === group).every(({code}) => rows.some(row => store.columns[code].word(row)));
  const choice = group && isFull() && wrap.querySelector(`.choose .c-${group}`);
  if (choice) choice.checked = true;
}

// A table of more columns than a desktop shows side by side scrolls in a box of its own, which keys can reach.
function setWide(wrap, section, isWide) {
  wrap.classList.toggle('scroll', isWide);
  for (const [name, value] of [['tabindex', '0'], ['role', 'region'], ['aria-label', section.title]]) {
    if (isWide) wrap.setAttribute(name, value); else wrap.removeAttribute(name);
  }
}

// Heads are moved between the table and its template. While the columns are the same, they stay, and with them the focus.
function placeHeads(wrap, row, columns) {
  const spare = wrap.querySelector('template[data-heads]').content.querySelector('tr');
  const heads = new Map([...row.children, ...spare.children].map(head => [head.dataset.column, head]));
  const shown = columns.map(({code}) => heads.get(code));
  if (shown.every((head, place) => head === row.children[place]) && shown.length === row.children.length) return false;
  spare.replaceChildren(...[...heads.values()].filter(head => !shown.includes(head)));
  row.replaceChildren(...shown);
  return true;
}

function update(head, {code, falls_first: fallsFirst, threshold_us: thresholdUs}, query) {
  const isSorted = query.sort.code === code;
  const sort = {code, falls: isSorted ? !query.sort.falls : fallsFirst};
  head.querySelector('a:not(.means)')?.setAttribute('href', addressOf({...query, sort, page: 1}));
  if (isSorted) head.setAttribute('aria-sort', query.sort.falls ? 'descending' : 'ascending'); else head.removeAttribute('aria-sort');
  if (thresholdUs === null) return;
  const limit = query.limits.get(String(thresholdUs));
  head.querySelector('.u').textContent = limit === undefined ? '%, no limit' : `limit ${decimal(limit)}\u00a0%`;
}

/** Show the head of these columns above these rows, with the sort links and limits of a query. */
export function showHead(wrap, section, columns, query, layout, store, rows) {
  const row = wrap.querySelector('thead tr'), areOthers = placeHeads(wrap, row, columns);
  columns.forEach((column, place) => update(row.children[place], column, query));
  if (areOthers) {
    drawGroups(wrap, section, columns, layout.groupLabels);
    setWide(wrap, section, columns.length > layout.columnsSideBySide);
  }
  showSorted(wrap, columns, query, store, rows);
}
