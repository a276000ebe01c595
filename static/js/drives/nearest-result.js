// The result that comes nearest to the filters of a page without a match: webapp/register/drives/nearest_result.py in the browser.
import {count, decimal, nameOf} from './column-store.js';
import {boundOf, numberTest} from './filters.js';
import {INCLUDED, without} from './query.js';
import {rankOf} from './ranking.js';

const fixed = (number, places) => number.toFixed(places).replace(/\.?0+$/, '');
const resultsText = number => `${count(number)} ${number === 1 ? 'result' : 'results'}`;

// Return how a row fails a filter by numbers: `factor` is the quotient of its number and the bound, `plain` its number in an address.
function numberMiss(store, row, {name}, filter, text) {
  const column = store.columns[filter.column], value = column.value(row);
  if (value === null) return {name, text: `${filter.subject} is not reported`, factor: Infinity};
  const plain = filter.scale === 1 ? column.word(row).replaceAll(',', '') : fixed(value / filter.scale, filter.places);
  const bound = boundOf(filter, text), lower = Math.min(value, bound), side = filter.kind === 'least' ? 'at least' : 'at most';
  const own = `${decimal(plain)} ${filter.unit}`;
  return {
    name, plain, filter, text: `${filter.subject} is ${own}, not ${side} ${decimal(text)} ${filter.unit}`,
    factor: lower ? Math.max(value, bound) / lower : Infinity,
  };
}

function missesOf(store, layout, query, row, tests) {
  const numbers = new Map(query.numbers);
  return tests.filter(({passes}) => !passes(row)).map(test => numbers.has(test.name)
    ? numberMiss(store, row, test, layout.filters.find(({name}) => name === test.name), numbers.get(test.name))
    : {name: test.name, text: test.text, factor: Infinity});
}

// Return the text of the link and the query that shows the row: one number relaxed, or without the failed filters.
function relaxed(store, query, misses, passed) {
  const [{name, plain, filter}] = misses, isOne = misses.length === 1;
  if (isOne && plain !== undefined) {
    const found = passed.filter(numberTest(filter, plain, store).passes);
    const numbers = query.numbers.map(([each, text]) => [each, each === name ? plain : text]);
    return {link: `${filter.label} ${decimal(plain)} ${filter.unit}: show ${resultsText(found.length)}`, query: {...query, numbers, page: 1}};
  }
  const those = isOne ? 'this filter' : `these ${misses.length} filters`;
  return {link: `Without ${those}: show ${resultsText(passed.length)}`, query: misses.reduce((left, miss) => without(left, miss.name), query)};
}

/** Return the sentence about the row that fails the fewest filters, and a less strict query; null if no row is left without the filters. */
export function nearestResult(store, layout, query, universe, tests) {
  const defaults = tests.filter(({name}) => INCLUDED.includes(name)), set = tests.filter(({name}) => !INCLUDED.includes(name));
  const shown = universe.filter(row => defaults.every(({passes}) => passes(row)));
  if (!shown.length) return null;
  const failed = new Map(shown.map(row => [row, set.filter(({passes}) => !passes(row)).length]));
  const fewest = [...failed.values()].reduce((a, b) => Math.min(a, b)), ranks = rankOf(store);
  const nearest = shown.filter(row => failed.get(row) === fewest).map(row => {
    const misses = missesOf(store, layout, query, row, set);
    return {row, misses, factor: Math.max(...misses.map(({factor}) => factor))};
  });
  const {row, misses} = nearest.reduce((a, b) => b.factor < a.factor || b.factor === a.factor && ranks[b.row] < ranks[a.row] ? b : a);
  const passed = shown.filter(each => set.every(({passes}) => passes(each) || !passes(row)));
  const number = misses.length === 1 ? 'one filter' : `${misses.length} filters`;
  const sentence = `The nearest result is ${nameOf(store, row)}. It fails ${number}: ${misses.map(({text}) => text).join('; ')}.`;
  return {sentence, ...relaxed(store, query, misses, passed)};
}
