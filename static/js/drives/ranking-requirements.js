// What a result needs to be ranked, and sentences about results that lack it: webapp/register/drives/ranking_requirements.py in the browser.
import {count, nameOf} from './column-store.js';
import {groupsOf} from './ranking.js';

const WORDS = { // by the code of a reason; the first reason of a result counts
  compressible: 'the test data was compressible', 'no-version': 'the version of ACT is not reported',
  'no-device-count': 'the number of devices is not reported', 'no-speed': 'the speed is not reported',
};

function reasonOf({isCompressible, time, devices}) {
  if (isCompressible) return 'compressible';
  if (time === 'unknown') return 'no-version';
  return devices === 'unknown' ? 'no-device-count' : 'no-speed';
}

/** Return why none of these rows is ranked: each reason with the number of its rows, in the order of the codes. */
export function reasonsNotRanked(store, rows) {
  const groups = groupsOf(store), numbers = {};
  for (const row of rows) numbers[reasonOf(groups[row])] = (numbers[reasonOf(groups[row])] ?? 0) + 1;
  return Object.fromEntries(Object.keys(WORDS).filter(code => numbers[code]).map(code => [code, numbers[code]]));
}

/** Return that these rows are within the limits but none is ranked, and why. `whose` is "the" or "your". */
export function unrankedSentences(store, rows, whose) {
  const reasons = Object.entries(reasonsNotRanked(store, rows)), isOne = rows.length === 1;
  const counted = reasons.map(([code, number]) => reasons.length > 1 ? `${WORDS[code]} (${count(number)})` : WORDS[code]);
  const subject = isOne ? `${nameOf(store, rows[0])} is` : `${count(rows.length)} results are`;
  return `${subject} within ${whose} limits, but ${isOne ? 'it is' : 'they are'} not ranked, because ${counted.join(' or ')}. `
    + 'A result is ranked if its data was not compressible and it reports speed, version of ACT and number of devices. '
    + 'A published result of a drive counts as one device.';
}
