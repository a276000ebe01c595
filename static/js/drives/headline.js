// The sentence above the tables, against the limits that hold: webapp/register/drives/headline.py in the browser.
import {SYSTEMS, decimal, nameOf} from './shelf.js';

const HOW = {'steady-as-published': 'as published', 'worst-slice': 'in every slice of a stored log', overall: 'over a whole run'};
const count = number => decimal(String(number));
const numberOf = (number, one, more) => `${count(number)} ${number === 1 ? one : more}`;

function resultsWords(published, stored) {
  return [
    published || !stored ? numberOf(published, 'published result', 'published results') : '',
    stored ? numberOf(stored, 'result from a stored log', 'results from stored logs') : '',
  ].filter(Boolean).join(' and ') + '.';
}

function rankedTps({columns}, row) {
  const tps = columns.tps.value(row) ?? 0, devices = columns.device_count.word(row);
  if (SYSTEMS.has(columns.category.word(row))) return tps;
  return devices || columns.statistic.word(row) === 'steady-as-published' ? tps / Number(devices || 1) : 0;
}

function speedWords({columns}, row) {
  const devices = columns.device_count.word(row) || '1';
  return `${columns.tps.word(row)} tps${columns.storage.word(row) || devices === '1' ? '' : `, ${devices} devices together`}`;
}

// The fastest for each statistic; of equally fast rows the first.
function fastest(shelf, rows) {
  return Object.entries(HOW).flatMap(([kind, how]) => {
    const same = rows.filter(row => shelf.columns.statistic.word(row) === kind);
    const best = same.reduce((most, row) => most !== null && rankedTps(shelf, row) <= rankedTps(shelf, most) ? most : row, null);
    return best !== null && shelf.columns.tps.value(best) ? [`${how}: ${nameOf(shelf, best)} at ${speedWords(shelf, best)}.`] : [];
  });
}

const threshold = us => us % 1000 ? `${count(us)}\u00a0us` : `${count(us / 1000)}\u00a0ms`;
const limitsWords = limits => `at most ${[...limits].map(([us, limit]) => `${decimal(limit)}\u00a0% over ${threshold(Number(us))}`).join(', ')}`;

function overWords(over, rows, {isOwn}, limits) {
  const said = `${count(over)} of ${count(rows)} ${over === 1 ? 'is' : 'are'} over a limit of`;
  if (isOwn) return [`${said} yours: ${limitsWords(limits)}.`];
  return over ? [`${said} the profile.`] : [];
}

/** Of the whole page, or of the rows asked for: how many results, the fastest within the limits, how many are over. */
export function headline(shelf, isNarrowed, asked, judged, limits) {
  const {visibility, statistic} = shelf.columns;
  const rows = asked.filter(row => visibility.word(row) === 'public').sort((a, b) => a - b);
  const published = rows.filter(row => statistic.word(row) === 'steady-as-published').length;
  const isOnDrive = row => shelf.columns.is_on_no_drive?.word(row) !== 'yes'; // a file of before has no such column
  const passing = rows.filter(row => (judged.isOwn ? judged.passes(row) : judged.passesProfile(row)) && isOnDrive(row));
  return [
    ...(isNarrowed ? ['Asked for:'] : []),
    resultsWords(published, rows.length - published),
    ...fastest(shelf, passing).map(said => `Fastest within ${judged.isOwn ? 'your' : 'the'} limits ${said}`),
    ...(rows.length ? overWords(rows.filter(judged.isOver).length, rows.length, judged, limits) : []),
  ].join(' ');
}
