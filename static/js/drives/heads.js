// The head of a table for its shown columns, like that of webapp/templates/register/drives/table.html.
import {addressOf} from './query.js';
import {escape} from './rows.js';
import {decimal} from './column-store.js';

export const columnsOf = (section, chosen) =>
  section.columns.filter(({code, is_usual: isUsual}) => chosen.length ? code === 'drive' || chosen.includes(code) : isUsual);

function unitOf({threshold_us: thresholdUs, unit}, limits) {
  if (thresholdUs === null) return unit;
  const limit = limits.get(String(thresholdUs));
  return limit === undefined ? '%, no limit' : `limit ${decimal(limit)}\u00a0%`;
}

function sorting(column, query) {
  const isSorted = query.sort.code === column.code;
  const falls = isSorted ? !query.sort.falls : column.falls_first;
  return {
    address: addressOf({...query, sort: {code: column.code, falls}, page: 1}),
    order: isSorted ? (query.sort.falls ? 'descending' : 'ascending') : '',
  };
}

function headOf(column, query) {
  const {address, order} = sorting(column, query), unit = unitOf(column, query.limits), name = escape(column.head);
  const classes = [column.is_number ? 'n' : '', column.group ? `g-${column.group}` : ''].filter(Boolean).join(' ');
  const label = column.is_sortable ? `<a href="${escape(address)}">${name}</a>` : `<span>${name}</span>`;
  return `<th scope="col"${classes ? ` class="${classes}"` : ''}${order ? ` aria-sort="${order}"` : ''} data-column="${column.code}">${label}`
    + `${unit ? `<span class="u">${escape(unit)}</span>` : ''}<a class="means sign" href="${escape(column.meaning)}" aria-label="What ${name} means">?</a></th>`;
}

/** Return code and label of the column groups that a narrow screen chooses from. */
export function groupsOf(section, columns, labels) {
  const used = new Set(columns.map(({group}) => group));
  const hasRating = columns.some(({code}) => code === 'endurance_dwpd');
  return Object.entries({...labels, size: section.sizeLabel, end: hasRating ? labels.end : 'Notes'}).filter(([code]) => used.has(code));
}

function drawGroups(wrap, section, columns, labels) {
  const field = wrap.querySelector('.choose');
  const groups = groupsOf(section, columns, labels);
  const before = field.querySelector('input:checked')?.className;
  const checked = groups.some(([code]) => `c-${code}` === before) ? before : `c-${groups[0]?.[0]}`;
  field.innerHTML = '<legend class="vh">Columns shown</legend>' + groups.map(([code, label]) =>
    `<label><input type="radio" name="columns-${section.code}" class="c-${code}"${`c-${code}` === checked ? ' checked' : ''}>${escape(label)}</label>`).join('');
}

// A table of more columns than a desktop shows side by side scrolls in a box of its own, which keys can reach.
function setWide(wrap, section, isWide) {
  wrap.classList.toggle('scroll', isWide);
  for (const [name, value] of [['tabindex', '0'], ['role', 'region'], ['aria-label', section.title]]) {
    if (isWide) wrap.setAttribute(name, value); else wrap.removeAttribute(name);
  }
}

// Unchanged columns keep their heads, and with them the focus.
function update(row, columns, query) {
  columns.forEach((column, place) => {
    const head = row.children[place], {address, order} = sorting(column, query);
    head.querySelector('a:not(.means)')?.setAttribute('href', address);
    if (order) head.setAttribute('aria-sort', order); else head.removeAttribute('aria-sort');
    if (column.threshold_us !== null) head.querySelector('.u').textContent = unitOf(column, query.limits);
  });
}

/** Show the head of these columns, with the sort links and limits of a query. */
export function showHead(wrap, section, columns, query, layout) {
  const row = wrap.querySelector('thead tr');
  const shown = [...row.children].map(({dataset}) => dataset.column).join();
  if (shown === columns.map(({code}) => code).join()) {
    update(row, columns, query);
    return;
  }
  row.innerHTML = columns.map(column => headOf(column, query)).join('');
  drawGroups(wrap, section, columns, layout.groupLabels);
  setWide(wrap, section, columns.length > layout.columnsSideBySide);
}
