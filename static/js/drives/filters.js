// The tests that a row must pass to be shown, and the reasons for hidden rows: webapp/register/drives/filters.py in the browser.
import {billionths} from '../limits.js';
import {UNSTATED, decimal} from './column-store.js';

/** Return the test that hides a kind of rows by default. */
export function defaultTest(name, [code, word, text], store) {
  const {words, codes} = store.columns[code];
  return {name, text, passes: row => words[codes[row]] !== word};
}

/** Return the test for one of several options; `unstated` is the option of rows without a word. */
export function choiceTest(filter, chosen, store) {
  const column = store.columns[filter.column];
  const wanted = column.options.map(option => chosen.includes(option));
  const missing = chosen.includes(UNSTATED);
  const labels = {...filter.labels, [UNSTATED]: 'not reported'};
  const names = chosen.map(code => labels[code] ?? column.words[column.options.lastIndexOf(code)]).join(' or ');
  return {name: filter.name, text: `${filter.subject} is not ${names}`, passes: row => column.codes[row] < 0 ? missing : wanted[column.codes[row]]};
}

const PRODUCT_PLACES = 6; // a capacity in GB has fewer decimals, and a product of floating-point numbers is exact to more

/** Return the number of a filter in the unit of its column: shares in billionths of a percent, capacities in whole GB with their tolerance. No row passes that is beyond it. */
export function boundOf({kind, scale, tolerance_pct: tolerance = 0}, text) {
  if (scale === 1) return Number(text);
  if (scale === 1e9) return billionths(text);
  const percent = 100 + (kind === 'least' ? -tolerance : tolerance);
  const requested = Number((Number(text) * scale * percent / 100).toFixed(PRODUCT_PLACES));
  return kind === 'least' ? Math.ceil(requested) : Math.floor(requested);
}

/** Return the test for a number that is at least, or at most, as large as requested; a missing one fails. */
export function numberTest(filter, text, store) {
  const column = store.columns[filter.column];
  const bound = boundOf(filter, text);
  const isLeast = filter.kind === 'least', by = filter.tolerance_pct ? ` by more than ${filter.tolerance_pct} %` : '';
  const isWithin = column.values.map(value => isLeast ? value >= bound : value <= bound);
  return {
    name: filter.name,
    text: `${filter.subject} is ${isLeast ? 'below' : 'over'} ${decimal(text)} ${filter.unit}${by} or not reported`,
    passes: row => column.codes[row] >= 0 && isWithin[column.codes[row]],
  };
}

/** Return the rows that pass every test, and for each test how many it hides and how many only it hides. */
export function applyTests(universe, tests) {
  const rows = [], hidden = tests.map(() => 0), hiddenOnly = tests.map(() => 0);
  for (const row of universe) {
    let failed = 0, last = 0;
    for (let place = 0; place < tests.length; place += 1) {
      if (!tests[place].passes(row)) { failed += 1; last = place; hidden[place] += 1; }
    }
    if (failed === 0) rows.push(row);
    if (failed === 1) hiddenOnly[last] += 1;
  }
  return {rows, hidden: universe.length - rows.length, reasons: tests.map(({name, text}, place) => ({name, text, hidden: hidden[place], hiddenOnly: hiddenOnly[place]}))};
}
