// Rows held against limits, and what changes by them: webapp/register/drives/limit_check.py and your_limits.py in the browser.
import {billionths} from '../limits.js';
import {decimal, nameOf} from './shelf.js';

const NAMED_AT_MOST = 5;
export const shareCode = thresholdUs => thresholdUs % 1000 ? `pct_over_${thresholdUs}us` : `pct_over_${thresholdUs / 1000}ms`;

/** `limits`: threshold in us -> limit as text. The flags say for each word of a column whether it is over. */
function overFlags(shelf, limits) {
  return [...limits].map(([thresholdUs, limit]) => {
    const {codes, values} = shelf.columns[shareCode(Number(thresholdUs))];
    const most = billionths(limit);
    return {codes, flags: values.map(value => value > most)};
  });
}

/** Whether rows pass under limits and under the profile's own. */
export function judge(shelf, limits, profile) {
  const over = overFlags(shelf, limits), overProfile = overFlags(shelf, profile);
  const isOver = (columns, row) => columns.some(({codes, flags}) => codes[row] >= 0 && flags[codes[row]]);
  const isOwn = [...limits].some(([thresholdUs, limit]) => billionths(limit) !== billionths(profile.get(thresholdUs)));
  const hasPassed = row => ['', 'pass'].includes(shelf.columns.outcome.word(row));
  // A browser may keep, for a minute, the data file of an earlier release, which lacks the column.
  const isDecided = row => hasPassed(row) || shelf.columns.decided_by_limits?.word(row) === 'yes';
  const passesProfile = row => !isOver(overProfile, row) && hasPassed(row);
  return {
    isOver: row => isOver(over, row),
    isOwn,
    passes: row => isOwn ? !isOver(over, row) && isDecided(row) : passesProfile(row),
    passesProfile,
  };
}

const count = number => decimal(String(number));
const verb = (names, word) => word + (names.length === 1 ? {pass: 'es', fail: 's'}[word] : '');
const listed = names => names.slice(0, NAMED_AT_MOST).join(', ') + (names.length > NAMED_AT_MOST ? ` and ${count(names.length - NAMED_AT_MOST)} more` : '');
const clause = (names, from, to) => names.length ? [`${count(names.length)} that ${verb(names, from)} the profile ${verb(names, to)}: ${listed(names)}`] : [];

/** How many of the rows that stand pass, and by name what is otherwise than under the profile. */
export function limitsSentence(shelf, rows, judged) {
  const standing = rows.filter(row => shelf.columns.visibility.word(row) === 'public');
  if (!judged.isOwn) return `${count(standing.filter(judged.passesProfile).length)} of ${count(standing.length)} keep within them.`;
  let number = 0;
  const lost = [], won = [];
  for (const row of standing) {
    const before = judged.passesProfile(row), now = judged.passes(row);
    number += Number(now);
    if (before && !now) lost.push(nameOf(shelf, row));
    if (now && !before) won.push(nameOf(shelf, row));
  }
  const parts = [`With your limits ${count(number)} of ${count(standing.length)} pass`, ...clause(lost, 'pass', 'fail'), ...clause(won, 'fail', 'pass')];
  return `${(parts.length > 1 ? parts : [...parts, 'as under the profile']).join('; ')}.`;
}
