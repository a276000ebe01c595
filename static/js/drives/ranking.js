// Ranking of the rows: speeds, comparison groups, and the rows that charts can plot: webapp/register/drives/store/ranking.py in the browser.
import {SYSTEMS, devicesOf} from './column-store.js';

/** Return the cached result of a name; the first call computes it. */
export function cached(store, name, make) {
  store.cache ??= new Map();
  if (!store.cache.has(name)) store.cache.set(name, make());
  return store.cache.get(name);
}

const allRows = store => Array.from({length: store.count}, (_, row) => row);

/** Return the speed that each row is ranked by, 0 if it is not known. With `isPerDevice`, a system has the speed of one of its devices, too. */
export const speedsOf = (store, isPerDevice = false) => cached(store, `speeds ${isPerDevice}`, () => allRows(store).map(row => {
  const {columns} = store, tps = columns.tps.value(row) ?? 0, devices = devicesOf(columns, row);
  if (SYSTEMS.has(columns.category.word(row)) && !isPerDevice) return tps;
  return devices ? tps / devices : 0;
}));

const FILLS = {service: 'full', 'queue-and-service': 'open'};

function groupOf(code) {
  const [statistic, time, devices, compressible] = code.split('.');
  const isRanked = !compressible && time !== 'unknown' && devices !== 'unknown';
  const kind = compressible ?? (isRanked ? time : 'unknown');
  return {code, statistic, time, devices, isCompressible: Boolean(compressible), isRanked, fill: isRanked ? FILLS[time] : 'unranked', band: `${statistic}.${kind}`};
}

/** Return the comparison group of each row; an earlier release's data file has none, and ranks nothing. */
export const groupsOf = store => cached(store, 'groups', () => {
  const {comparison_group: column, statistic} = store.columns;
  const groups = column?.words.map(groupOf);
  return allRows(store).map(row => column ? groups[column.codes[row]] : groupOf(`${statistic.word(row)}.unknown.unknown`));
});

/** Return the rows of the largest ranked group of a fill, with a speed, and the group; null for none. */
export function largestGroup(store, rows, fill) {
  const groups = groupsOf(store), speeds = speedsOf(store), members = new Map();
  for (const row of rows) {
    if (groups[row].fill !== fill || !groups[row].isRanked || !speeds[row]) continue;
    if (members.has(groups[row])) members.get(groups[row]).push(row); else members.set(groups[row], [row]);
  }
  const found = [...members].sort(([a, own], [b, others]) => others.length - own.length || (a.code < b.code ? -1 : 1));
  return found.length ? {group: found[0][0], rows: found[0][1]} : null;
}

export const rankOf = store => cached(store, 'ranks', () => { // the place of each row among all by falling speed, then by name
  const speeds = speedsOf(store), ranks = new Array(store.count);
  allRows(store).sort((a, b) => speeds[b] - speeds[a]).forEach((row, place) => { ranks[row] = place; });
  return ranks;
});

/** Return the number in a computed figure, null if it is not known. */
export const numberIn = word => word ? Number(word.replaceAll(',', '')) : null;

/** Return the capacity of a drive, or of all devices of an instance, in GB. */
export function capacityOf({columns}, row) {
  const capacity = columns.capacity_gb.value(row);
  if (capacity !== null) return capacity;
  const devices = numberIn(columns.device_count.word(row)), size = numberIn(columns.device_gb.word(row));
  return devices && size ? devices * size : null;
}

/** Return the place of each provider of cloud instances by name: it chooses the shape and colour of marks. */
export const providersOf = store => cached(store, 'providers', () => {
  const {category, vendor} = store.columns, names = new Set();
  for (let row = 0; row < store.count; row += 1) if (category.word(row) === 'cloud') names.add(vendor.word(row));
  return new Map([...names].sort().map((name, place) => [name, place]));
});
