// The order of rows: sorted within their comparison group, in pages of a hundred: webapp/register/drives/order.py in the browser.
import {count} from './column-store.js';
import {groupsOf} from './ranking.js';

const ROWS_A_PAGE = 100;

function byColumn(rows, {codes, values}, falls) {
  const order = values ? row => values[codes[row]] : row => codes[row];
  const stated = rows.filter(row => codes[row] >= 0), missing = rows.filter(row => codes[row] < 0);
  return [...stated.sort((a, b) => falls ? order(b) - order(a) : order(a) - order(b)), ...missing];
}

function allRows(store, {code, falls}) {
  const every = Array.from({length: store.count}, (_, row) => row);
  const fastest = byColumn(every, store.columns.tps, true);
  if (code === 'tps' && falls) return fastest;
  if (code === 'drive') return fastest.sort((a, b) => falls ? b - a : a - b);
  return byColumn(fastest, store.columns[code], falls);
}

/** Return the rows sorted. Missing values come last in both directions; ties are sorted by speed, then by name. Each order is made once. */
export function inOrder(store, rows, sort) {
  store.orders ??= new Map();
  const name = `${sort.falls}${sort.code}`;
  if (!store.orders.has(name)) store.orders.set(name, allRows(store, sort));
  const isShown = new Uint8Array(store.count);
  for (const row of rows) isShown[row] = 1;
  return store.orders.get(name).filter(row => isShown[row]);
}

const titleOf = ({title, note, statistic_note: statisticNote}, number, isFirst) => {
  const results = `${count(number)} ${number === 1 ? 'result' : 'results'}, ${note}`;
  return [`${title}.`, isFirst ? `${results} ${statisticNote}` : results];
};

/** Divide rows into bands of results that compare. */
export function grouped(store, ordered, bands) {
  const groups = groupsOf(store), rows = new Map(bands.map(({code}) => [code, []])), explained = new Set();
  for (const row of ordered) rows.get(groups[row].band).push(row);
  return bands.flatMap(band => {
    const same = rows.get(band.code);
    if (!same.length) return [];
    const title = titleOf(band, same.length, !explained.has(band.statistic));
    explained.add(band.statistic);
    return [{title, rows: same}];
  });
}

export const pagesCount = rowsCount => Math.max(1, Math.ceil(rowsCount / ROWS_A_PAGE));

/** Return the groups of one page; `earlier` is the number of rows in the tables above. */
export function pageOf(groups, page, earlier) {
  const first = (page - 1) * ROWS_A_PAGE, shown = [];
  let before = earlier;
  for (const {title, rows} of groups) {
    const cut = rows.slice(Math.max(first - before, 0), Math.max(first + ROWS_A_PAGE - before, 0));
    if (cut.length) shown.push({title, rows: cut});
    before += rows.length;
  }
  return shown;
}
