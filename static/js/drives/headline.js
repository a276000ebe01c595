// The headline of the tables under the current limits: webapp/register/drives/headline.py in the browser.
import {SYSTEMS, count, decimal, devicesOf, nameOf} from './column-store.js';

const numberOf = (number, one, more) => `${count(number)} ${number === 1 ? one : more}`;

function resultsText(published, stored) {
  if (!published && !stored) return 'No results.';
  return [
    published ? numberOf(published, 'result from a publication', 'results from publications') : '',
    stored ? numberOf(stored, 'result from a log in the register', 'results from logs in the register') : '',
  ].filter(Boolean).join(' and ') + '.';
}

function rankedTps({columns}, row) {
  const tps = columns.tps.value(row) ?? 0, devices = devicesOf(columns, row);
  if (SYSTEMS.has(columns.category.word(row))) return tps;
  return devices ? tps / devices : 0;
}

function speedText({columns}, row) {
  const devices = columns.device_count.word(row) || '1';
  return `${columns.tps.word(row)} tps${columns.storage.word(row) || devices === '1' ? '' : `, ${devices} devices together`}`;
}

// Return the fastest of each statistic; of equally fast rows the first.
function fastest(store, rows, statistics) {
  return statistics.flatMap(({code: kind, how}) => {
    const same = rows.filter(row => store.columns.statistic.word(row) === kind);
    const speeds = same.map(row => rankedTps(store, row));
    const best = same[speeds.indexOf(speeds.reduce((most, speed) => Math.max(most, speed), 0))];
    return best !== undefined && store.columns.tps.value(best) ? [`${how}: ${nameOf(store, best)} at ${speedText(store, best)}.`] : [];
  });
}

const threshold = us => us % 1000 ? `${count(us)}\u00a0us` : `${count(us / 1000)}\u00a0ms`;
const limitsText = limits => `at most ${[...limits].map(([us, limit]) => `${decimal(limit)}\u00a0% over ${threshold(Number(us))}`).join(', ')}`;

function overSentences(over, rows, {isOwn}, limits) {
  const text = `${count(over)} of ${count(rows)} results ${over === 1 ? 'is' : 'are'} over`;
  if (isOwn) return [`${text} one of your limits: ${limitsText(limits)}.`];
  return over ? [`${text} a limit of the profile.`] : [];
}

/** Return the headline of the page's default rows or of the matching ones: how many, the fastest within the limits, how many are over. */
export function headline(store, isNarrowed, matching, check, limits, statistics) {
  const {visibility, statistic} = store.columns;
  const rows = matching.filter(row => visibility.word(row) === 'public').sort((a, b) => a - b);
  const published = rows.filter(row => statistic.word(row) === 'steady-as-published').length;
  const isOnDrive = row => store.columns.is_on_no_drive?.word(row) !== 'yes'; // the data file of an earlier release lacks the column
  const passing = rows.filter(row => (check.isOwn ? check.passes(row) : check.passesProfile(row)) && isOnDrive(row));
  const results = resultsText(published, rows.length - published);
  return [
    isNarrowed ? `${results.slice(0, -1)} ${rows.length === 1 ? 'matches' : 'match'}.` : results,
    ...fastest(store, passing, statistics).map(text => `Fastest within ${check.isOwn ? 'your' : 'the'} limits ${text}`),
    ...(rows.length ? overSentences(rows.filter(check.isOver).length, rows.length, check, limits) : []),
  ].join(' ');
}
