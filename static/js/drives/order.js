// The order of rows: inside their statistic, never across, a hundred a page: webapp/register/drives/order.py in the browser.
export const ROWS_A_PAGE = 100;
const STATISTICS = [
  ['steady-as-published', 'As published:', 'shares are steady-state values, not the worst hour.'],
  ['worst-slice', 'From stored logs:', 'shares are those of the worst slice of each run.'],
  ['overall', 'From stored logs, whole run:', 'shares are over the whole run, not its worst slice.'],
];

function byColumn(rows, {codes, values}, falls) {
  const order = values ? row => values[codes[row]] : row => codes[row];
  const stated = rows.filter(row => codes[row] >= 0), missing = rows.filter(row => codes[row] < 0);
  return [...stated.sort((a, b) => falls ? order(b) - order(a) : order(a) - order(b)), ...missing];
}

function everyRow(shelf, {code, falls}) {
  const every = Array.from({length: shelf.count}, (_, row) => row);
  const fastest = byColumn(every, shelf.columns.tps, true);
  if (code === 'tps' && falls) return fastest;
  if (code === 'drive') return fastest.sort((a, b) => falls ? b - a : a - b);
  return byColumn(fastest, shelf.columns[code], falls);
}

/** The rows sorted; what is not stated comes last either way, ties stand fastest first, then by name. Each order is made once. */
export function inOrder(shelf, rows, sort) {
  shelf.orders ??= new Map();
  const name = `${sort.falls}${sort.code}`;
  if (!shelf.orders.has(name)) shelf.orders.set(name, everyRow(shelf, sort));
  const kept = new Uint8Array(shelf.count);
  for (const row of rows) kept[row] = 1;
  return shelf.orders.get(name).filter(row => kept[row]);
}

function byVendor(shelf, title, rows) {
  const {words, codes} = shelf.columns.vendor;
  const of = new Map();
  for (const row of rows) {
    const name = words[codes[row]];
    if (of.has(name)) of.get(name).push(row); else of.set(name, [row]);
  }
  const vendors = [...of].sort(([, a], [, b]) => b.length - a.length);
  return vendors.map(([name, same], place) => {
    const line = [name, same.length === 1 ? '1 result' : `${same.length} results`];
    return {titles: place ? [line] : [title, line], rows: same};
  });
}

/** Rows divided by statistic, and by vendor where the table is. */
export function grouped(shelf, ordered, isByVendor) {
  const {words, codes} = shelf.columns.statistic;
  return STATISTICS.flatMap(([kind, ...title]) => {
    const same = ordered.filter(row => words[codes[row]] === kind);
    if (!same.length) return [];
    return isByVendor ? byVendor(shelf, title, same) : [{titles: [title], rows: same}];
  });
}

export const pagesCount = rowsCount => Math.max(1, Math.ceil(rowsCount / ROWS_A_PAGE));

/** The groups of one page, cut where it begins and ends; `earlier` are the rows of the tables before. */
export function pageOf(groups, page, earlier) {
  const first = (page - 1) * ROWS_A_PAGE, shown = [];
  let before = earlier;
  for (const {titles, rows} of groups) {
    const cut = rows.slice(Math.max(first - before, 0), Math.max(first + ROWS_A_PAGE - before, 0));
    if (cut.length) shown.push({titles, rows: cut});
    before += rows.length;
  }
  return shown;
}
