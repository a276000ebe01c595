// The rows that pass limits, and the effect of a reader's limits: webapp/register/drives/limit_check.py and limits/reader_limits.py in the browser.
import {billionths} from '../limits.js';
import {count, nameOf} from './column-store.js';

const NAMED_AT_MOST = 5;
export const shareCode = thresholdUs => thresholdUs % 1000 ? `pct_over_${thresholdUs}us` : `pct_over_${thresholdUs / 1000}ms`;

/** Return for each limit (threshold in us -> limit as text) a flag for each word of its column: whether it is over. */
function overFlags(store, limits) {
  return [...limits].map(([thresholdUs, limit]) => {
    const {codes, values} = store.columns[shareCode(Number(thresholdUs))];
    const most = billionths(limit);
    return {codes, flags: values.map(value => value > most)};
  });
}

/** Return functions that check whether a row passes the limits and the profile. */
export function checkLimits(store, limits, profile) {
  const over = overFlags(store, limits), overProfile = overFlags(store, profile);
  const isOver = (columns, row) => columns.some(({codes, flags}) => codes[row] >= 0 && flags[codes[row]]);
  const isOwn = [...limits].some(([thresholdUs, limit]) => billionths(limit) !== billionths(profile.get(thresholdUs)));
  const hasPassed = row => ['', 'pass'].includes(store.columns.outcome.word(row));
  // For a minute, a browser may have the cached data file of an earlier release, which lacks the column.
  const isDecided = row => hasPassed(row) || store.columns.decided_by_limits?.word(row) === 'yes';
  const passesProfile = row => !isOver(overProfile, row) && hasPassed(row);
  return {
    isOver: row => isOver(over, row),
    limitsOver: row => [...limits].filter((_, place) => isOver([over[place]], row)),
    isOwn,
    passes: row => isOwn ? !isOver(over, row) && isDecided(row) : passesProfile(row),
    passesProfile,
  };
}

const verb = (names, word) => word + (names.length === 1 ? {pass: 'es', fail: 's'}[word] : '');
const listed = names => names.slice(0, NAMED_AT_MOST).join(', ') + (names.length > NAMED_AT_MOST ? ` and ${count(names.length - NAMED_AT_MOST)} more` : '');
const clause = (names, from, to) => names.length ? [`${count(names.length)} that ${verb(names, from)} the profile ${verb(names, to)}: ${listed(names)}`] : [];

/** Return how many of the current rows pass, and the names of those whose result differs from the profile's. */
export function limitsSentence(store, rows, check) {
  const current = rows.filter(row => store.columns.visibility.word(row) === 'public');
  if (!check.isOwn) return `Within all limits: ${count(current.filter(check.passesProfile).length)} of ${count(current.length)} results.`;
  const passing = new Set(current.filter(check.passes)), before = new Set(current.filter(check.passesProfile));
  const named = rows => rows.map(row => nameOf(store, row));
  const lost = named([...before].filter(row => !passing.has(row))), won = named([...passing].filter(row => !before.has(row)));
  const parts = [...clause(lost, 'pass', 'fail'), ...clause(won, 'fail', 'pass')];
  return `${[`With your limits, ${count(passing.size)} of ${count(current.length)} pass`, ...(parts.length ? parts : ['the same as with the profile'])].join('; ')}.`;
}
