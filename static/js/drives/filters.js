// What a row must be to be shown, and why others are not: webapp/register/drives/filters.py in the browser.
import {UNSTATED, decimal} from './shelf.js';

const HIDDEN_BECAUSE = {
  historical: ['historical', 'yes', 'historical'],
  withdrawn: ['visibility', 'withdrawn', 'withdrawn'],
  superseded: ['visibility', 'superseded', 'superseded by another run'],
};

/** The test that leaves out what is not shown unless it is asked for. */
export function leftOut(name, shelf) {
  const [code, word, text] = HIDDEN_BECAUSE[name];
  const {words, codes} = shelf.columns[code];
  return {name, text, kept: row => words[codes[row]] !== word};
}

const labelOf = (filter, column, code) => {
  if (code === UNSTATED) return 'not stated';
  return filter.labels[code] ?? column.words[column.options.lastIndexOf(code)];
};

/** The test for one of several options; `unstated` stands for rows without a word. */
export function choiceTest(filter, chosen, shelf) {
  const column = shelf.columns[filter.column];
  const wanted = column.options.map(option => chosen.includes(option));
  const missing = chosen.includes(UNSTATED);
  const names = chosen.map(code => labelOf(filter, column, code)).join(' or ');
  return {name: filter.name, text: `${filter.subject} is not ${names}`, kept: row => column.codes[row] < 0 ? missing : wanted[column.codes[row]]};
}

/** The test for a number at least, or at most, as large as asked; what is not stated is neither. */
export function numberTest(filter, text, shelf) {
  const column = shelf.columns[filter.column];
  const [whole, places = ''] = text.split('.');
  const bound = filter.scale > 1 ? Number(whole + places.padEnd(9, '0')) : Number(text);
  const isLeast = filter.kind === 'least';
  const passes = column.values.map(value => isLeast ? value >= bound : value <= bound);
  return {
    name: filter.name,
    text: `${filter.subject} is ${isLeast ? 'below' : 'over'} ${decimal(text)} ${filter.unit} or not stated`,
    kept: row => column.codes[row] >= 0 && passes[column.codes[row]],
  };
}

/** The rows that pass every test, and for each test how many it hides and how many come back without it. */
export function keep(universe, tests) {
  const rows = [], hidden = tests.map(() => 0), back = tests.map(() => 0);
  for (const row of universe) {
    let failed = 0, last = 0;
    for (let place = 0; place < tests.length; place += 1) {
      if (!tests[place].kept(row)) { failed += 1; last = place; hidden[place] += 1; }
    }
    if (failed === 0) rows.push(row);
    if (failed === 1) back[last] += 1;
  }
  return {rows, hidden: universe.length - rows.length, reasons: tests.map(({name, text}, place) => ({name, text, hidden: hidden[place], back: back[place]}))};
}
