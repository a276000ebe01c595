// The headline of the tables under the current limits: webapp/register/drives/headline.py in the browser.
import {count, decimal, nameOf} from './column-store.js';
import {unrankedSentences} from './ranking-requirements.js';
import {groupsOf, largestGroup, rankOf} from './ranking.js';

const GROUP_WORDS = {full: 'ACT 6.x', open: 'ACT up to 5.3'};

const numberOf = (number, one, more) => `${count(number)} ${number === 1 ? one : more}`;

function resultsText(published, stored) {
  if (!published && !stored) return 'No results.';
  return [
    published ? numberOf(published, 'result from a publication', 'results from publications') : '',
    stored ? numberOf(stored, 'result from a log in the register', 'results from logs in the register') : '',
  ].filter(Boolean).join(' and ') + '.';
}

function speedText({columns}, row) {
  const devices = columns.device_count.word(row) || '1';
  return `${columns.tps.word(row)} tps${columns.storage.word(row) || devices === '1' ? '' : `, ${devices} devices together`}`;
}

// Return the fastest of each statistic and each kind of time, within the largest comparison group; of equally fast rows the first.
function fastest(store, rows, statistics, whose) {
  const groups = groupsOf(store), ranks = rankOf(store);
  const counts = new Set(rows.map(row => groups[row]).filter(({isRanked}) => isRanked).map(({devices}) => devices));
  return statistics.flatMap(({code, how}) => Object.entries(GROUP_WORDS).flatMap(([fill, words]) => {
    const found = largestGroup(store, rows.filter(row => groups[row].statistic === code), fill);
    if (!found) return [];
    const best = found.rows.reduce((a, b) => ranks[a] < ranks[b] ? a : b);
    const devices = counts.size > 1 ? ` with ${count(found.group.devices)} ${found.group.devices === '1' ? 'device' : 'devices'}` : '';
    return [`Fastest within ${whose} limits ${how}, ${words}${devices}: ${nameOf(store, best)} at ${speedText(store, best)}.`];
  }));
}

// Return which instance is fastest per device; of equal ones the first.
function fastestDevice(store, rows, whose) {
  const speed = store.columns.device_tps, ranks = rankOf(store), known = rows.filter(row => speed.value(row) !== null);
  if (!known.length) return [];
  const best = known.reduce((a, b) => (speed.value(b) - speed.value(a) || ranks[a] - ranks[b]) > 0 ? b : a);
  return [`Fastest device within ${whose} limits: that of ${nameOf(store, best)}, at ${speed.word(best)} tps.`];
}

const threshold = us => us % 1000 ? `${count(us)}\u00a0us` : `${count(us / 1000)}\u00a0ms`;
const limitsText = limits => `at most ${[...limits].map(([us, limit]) => `${decimal(limit)}\u00a0% over ${threshold(Number(us))}`).join(', ')}`;

function overSentences(over, rows, {isOwn}, limits) {
  const text = `${count(over)} of ${count(rows)} results ${over === 1 ? 'is' : 'are'} over`;
  if (isOwn) return [`${text} one of your limits: ${limitsText(limits)}.`];
  return over ? [`${text} a limit of the profile.`] : [];
}

/** Return the rows that a headline calls fastest: current, within the limits, on a physical drive. */
export function passingRows({columns}, rows, check) {
  const isOnDrive = row => columns.is_on_no_drive?.word(row) !== 'yes'; // the data file of an earlier release lacks the column
  return rows.filter(row => columns.visibility.word(row) === 'public' && check.passes(row) && isOnDrive(row));
}

/**
 * Return the headline of the page's default rows or of the matching ones: how many, the fastest within the limits, how many are over.
 * `passing` are the rows of passingRows(). A page of cloud instances without filters names none as fastest: it has a table for that.
 */
export function headline(store, isNarrowed, matching, passing, check, limits, statistics, hasOnlyInstances) {
  const {visibility, statistic} = store.columns;
  const rows = matching.filter(row => visibility.word(row) === 'public');
  const published = rows.filter(row => statistic.word(row) === 'steady-as-published').length;
  const results = resultsText(published, rows.length - published);
  const whose = check.isOwn ? 'your' : 'the';
  const named = !hasOnlyInstances ? fastest(store, passing, statistics, whose) : isNarrowed ? fastestDevice(store, passing, whose) : [];
  if (passing.length && !named.length && !hasOnlyInstances) named.push(unrankedSentences(store, passing, whose));
  return {
    first: [isNarrowed ? `${results.slice(0, -1)} ${rows.length === 1 ? 'matches' : 'match'} the filters.` : results, ...named.slice(0, 1)].join(' '),
    others: [...named.slice(1), ...(rows.length ? overSentences(rows.filter(check.isOver).length, rows.length, check, limits) : [])].join(' '),
  };
}
