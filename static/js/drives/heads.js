// The head of a table for the columns that are shown, as webapp/templates/register/drives/table.html has it.
import {addressOf} from './question.js';
import {escape} from './rows.js';
import {decimal} from './shelf.js';

export const columnsOf = (section, chosen) =>
  section.columns.filter(({code, is_usual: isUsual}) => chosen.length ? code === 'drive' || chosen.includes(code) : isUsual);

function unitOf({threshold_us: thresholdUs, unit}, limits) {
  if (thresholdUs === null) return unit;
  const limit = limits.get(String(thresholdUs));
  return limit === undefined ? '%, no limit' : `limit ${decimal(limit)}\u00a0%`;
}

function sorting(column, question) {
  const isSorted = question.sort.code === column.code;
  const falls = isSorted ? !question.sort.falls : column.falls_first;
  return {
    address: addressOf({...question, sort: {code: column.code, falls}, page: 1}),
    order: isSorted ? (question.sort.falls ? 'descending' : 'ascending') : '',
  };
}

function headOf(column, question) {
  const {address, order} = sorting(column, question), unit = unitOf(column, question.limits), name = escape(column.head);
  const classes = [column.is_number ? 'n' : '', column.group ? `g-${column.group}` : ''].filter(Boolean).join(' ');
  const label = column.is_sortable ? `<a href="${escape(address)}">${name}</a>` : `<span>${name}</span>`;
  return `<th scope="col"${classes ? ` class="${classes}"` : ''}${order ? ` aria-sort="${order}"` : ''} data-column="${column.code}">${label}`
    + `${unit ? `<span class="u">${escape(unit)}</span>` : ''}<a class="means sign" href="${escape(column.meaning)}" aria-label="What ${name} means">?</a></th>`;
}

/** The groups of columns that a narrow screen chooses from: code and label. */
export function groupsOf(section, columns, labels) {
  const used = new Set(columns.map(({group}) => group));
  const hasRating = columns.some(({code}) => code === 'endurance_dwpd');
  return Object.entries({...labels, size: section.sizeLabel, end: hasRating ? labels.end : 'Notes'}).filter(([code]) => used.has(code));
}

function drawGroups(wrap, section, columns, labels) {
  const field = wrap.querySelector('.choose');
  const groups = groupsOf(section, columns, labels);
  const before = field.querySelector('input:checked')?.className;
  const kept = groups.some(([code]) => `c-${code}` === before) ? before : `c-${groups[0]?.[0]}`;
  field.innerHTML = '<legend class="vh">Columns shown</legend>' + groups.map(([code, label]) =>
    `<label><input type="radio" name="columns-${section.code}" class="c-${code}"${`c-${code}` === kept ? ' checked' : ''}>${escape(label)}</label>`).join('');
}

// A table of more columns than a desktop shows side by side scrolls in a box of its own, which keys can reach.
function setWide(wrap, section, isWide) {
  wrap.classList.toggle('scroll', isWide);
  for (const [name, value] of [['tabindex', '0'], ['role', 'region'], ['aria-label', section.title]]) {
    if (isWide) wrap.setAttribute(name, value); else wrap.removeAttribute(name);
  }
}

// Where the columns are those that stand there the heads are kept, and with them the focus.
function update(row, columns, question) {
  columns.forEach((column, place) => {
    const head = row.children[place], {address, order} = sorting(column, question);
    head.querySelector('a:not(.means)')?.setAttribute('href', address);
    if (order) head.setAttribute('aria-sort', order); else head.removeAttribute('aria-sort');
    if (column.threshold_us !== null) head.querySelector('.u').textContent = unitOf(column, question.limits);
  });
}

/** Make the head of a table that of these columns, sorted and held against limits as is asked. */
export function showHead(wrap, section, columns, question, told) {
  const row = wrap.querySelector('thead tr');
  const shown = [...row.children].map(({dataset}) => dataset.column).join();
  if (shown === columns.map(({code}) => code).join()) {
    update(row, columns, question);
    return;
  }
  row.innerHTML = columns.map(column => headOf(column, question)).join('');
  drawGroups(wrap, section, columns, told.groupLabels);
  setWide(wrap, section, columns.length > told.columnsSideBySide);
}
