// How many results have a rating that allows a load: webapp/register/drives/page.py and store/ranking.py in the browser.
import {count} from './column-store.js';
import {loadOf} from './query.js';
import {speedsOf} from './ranking.js';

// results/rules/endurance.py: 23.53 blocks of 128 KiB a second, at 3,000 tps; ratings have two places, capacities are in GB.
const WRITTEN_A_DAY = 2353n * 131072n * 86400n, GB_AT_1X = 3000n * 1_000_000_000n;
const numberIn = word => word ? Number(word.replaceAll(',', '')) : null;

function isRatedFor({endurance_dwpd: rated, capacity_gb: capacity, sustained_tps: sustained}, row, tps) {
  if (!sustained.word(row)) return false;
  return BigInt(Math.round(rated.value(row) * 100)) * BigInt(Math.round(capacity.value(row))) * GB_AT_1X >= BigInt(tps) * WRITTEN_A_DAY;
}

/** Return how many of the shown rows have a rating that allows the load, or the tested speed if only DWPD is set; empty without such a filter. */
export function ratingSentence(store, rows, {numbers}, loads) {
  const {columns} = store, load = Math.ceil(loadOf(numbers, loads)), speeds = speedsOf(store);
  const isRated = row => columns.sustained_tps.word(row) && speeds[row] && columns.is_on_no_drive?.word(row) !== 'yes';
  if (!(load || numbers.some(([name]) => name === 'min_dwpd')) || !rows.some(isRated)) return '';
  const sustains = row => load ? isRatedFor(columns, row, load) : isRated(row) && (numberIn(columns.sustained_tps.word(row)) ?? 0) >= speeds[row];
  const sustained = rows.filter(sustains).length, speed = load ? `${count(load)} tps` : 'the tested speed';
  if (rows.length === 1) return `Its rating ${sustained ? 'allows' : 'does not allow'} ${speed}.`;
  return `${sustained ? count(sustained) : 'None'} of the ${count(rows.length)} ${sustained < 2 ? 'has' : 'have'} a rating that allows ${speed}.`;
}
