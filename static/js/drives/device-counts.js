// Notes on other results of an instance type with other numbers of devices: webapp/register/drives/device_counts.py in the browser.
import {cached} from './ranking.js';

const SAME = ['vendor', 'model', 'device_gb', 'sole_tenant', 'statistic', 'act_version', 'device_tps'];
const NEEDED = ['device_gb', 'device_tps', 'device_count', 'pct_over_1ms'];

const severalCounts = store => cached(store, 'several device counts', () => {
  const {columns} = store, groups = new Map();
  for (let row = 0; row < store.count; row += 1) {
    const isCurrent = columns.visibility.word(row) === 'public' && columns.is_on_no_drive?.word(row) !== 'yes';
    if (!isCurrent || NEEDED.some(code => columns[code].codes[row] < 0)) continue;
    const key = SAME.map(code => columns[code].codes[row]).join();
    if (groups.has(key)) groups.get(key).push(row); else groups.set(key, [row]);
  }
  return [...groups.values()].filter(same => new Set(same.map(row => columns.device_count.codes[row])).size > 1);
});

function countsWords({columns}, rows) {
  const counts = [...new Set(rows.map(row => Number(columns.device_count.word(row))))].sort((a, b) => a - b), last = counts.pop();
  return counts.length ? `${counts.join(', ')} and ${last} devices` : `${last} ${last === 1 ? 'device' : 'devices'}`;
}

/** Return for a row whose instance has another outcome with other numbers of devices a note on these. */
export function notesOnOtherCounts(store, check) {
  const notes = new Map();
  for (const same of severalCounts(store)) {
    const passing = same.filter(check.passes), over = same.filter(check.isOver);
    if (!passing.length || !over.length) continue;
    passing.forEach(row => notes.set(row, `${countsWords(store, over)}: over a limit`));
    over.forEach(row => notes.set(row, `${countsWords(store, passing)}: within the limits`));
  }
  return notes;
}
