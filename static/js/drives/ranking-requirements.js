// What a result needs to be ranked, and sentences about results that lack it: webapp/register/drives/ranking_requirements.py in the browser.
import {count, nameOf} from './column-store.js';
import {groupsOf} from './ranking.js';

const REASONS = [
  'the test data was compressible', 'the version of ACT is not reported', 'the number of devices is not reported', 'the speed is not reported',
];
const reasonOf = ({isCompressible, time, devices}) => REASONS[[isCompressible, time === 'unknown', devices === 'unknown', true].indexOf(true)];

/** Return that these rows are within the limits but none is ranked, and why. `whose` is "the" or "your". */
export function unrankedSentences(store, rows, whose) {
  const groups = groupsOf(store), reasons = rows.map(row => reasonOf(groups[row]));
  const found = REASONS.filter(reason => reasons.includes(reason)), isOne = rows.length === 1;
  const numbered = found.map(reason => found.length > 1 ? `${reason} (${count(reasons.filter(each => each === reason).length)})` : reason);
  const subject = isOne ? `${nameOf(store, rows[0])} is` : `${count(rows.length)} results are`;
  return `${subject} within ${whose} limits, but ${isOne ? 'it is' : 'they are'} not ranked, because ${numbered.join(' or ')}. `
    + 'A result is ranked if its data was not compressible and it reports speed, version of ACT and number of devices.';
}
