// What a question gets: the rows of each table, what is hidden and why, and what the limits change. No page is touched here.
import {choiceTest, keep, leftOut, numberTest} from './filters.js';
import {judge, limitsSentence} from './judged.js';
import {grouped, inOrder, pageOf, pagesCount} from './order.js';
import {search} from './search.js';

function universes(shelf, told) {
  const category = shelf.columns.category, historical = shelf.columns.historical;
  const rows = new Map(told.sections.map(({code}) => [code, []]));
  for (let row = 0; row < shelf.count; row += 1) {
    if (told.isHistorical && historical.word(row) !== 'yes') continue;
    rows.get(category.word(row))?.push(row);
  }
  return [...rows.values()];
}

function testsOf(shelf, told, question, judged, found) {
  const filter = Object.fromEntries(told.filters.map(each => [each.name, each]));
  return [
    ...told.included.filter(name => !question.included.includes(name)).map(name => leftOut(name, shelf)),
    ...(question.query ? [{name: 'q', text: `not named ${question.query}`, kept: row => found.kept[row]}] : []),
    ...question.choices.map(([name, codes]) => choiceTest(filter[name], codes, shelf)),
    ...question.numbers.map(([name, text]) => numberTest(filter[name], text, shelf)),
    ...(question.onlyWithin ? [{name: 'within', text: 'not within the limits', kept: judged.passes}] : []),
  ];
}

function mergedReasons(kept) {
  const merged = new Map();
  for (const {name, text, hidden, back} of kept.flatMap(({reasons}) => reasons)) {
    const before = merged.get(name) ?? {name, text, hidden: 0, back: 0};
    merged.set(name, {name, text, hidden: before.hidden + hidden, back: before.back + back});
  }
  return [...merged.values()].filter(({hidden}) => hidden);
}

/** The answer to a question; `profile` is threshold in us -> the profile's limit as text. */
export function answerTo(shelf, told, question, profile) {
  const judged = judge(shelf, question.limits, profile);
  const found = question.query ? search(shelf, question.query) : {sentence: '', kept: []};
  const tests = testsOf(shelf, told, question, judged, found);
  const all = universes(shelf, told);
  const kept = all.map(universe => keep(universe, tests));
  const hasPages = told.sections.length === 1;
  const pages = hasPages ? pagesCount(kept[0].rows.length) : 1;
  const page = Math.min(question.page, pages);
  const sections = told.sections.map(({code, isByVendor}, place) => {
    const groups = grouped(shelf, inOrder(shelf, kept[place].rows, question.sort), isByVendor);
    return {code, groups: hasPages ? pageOf(groups, page) : groups, isEmpty: kept[place].rows.length === 0};
  });
  const rows = kept.flatMap(each => each.rows).sort((a, b) => a - b), hidden = kept.reduce((sum, each) => sum + each.hidden, 0);
  return {
    sections, pages, page, hidden, shown: rows.length, reasons: mergedReasons(kept), readSentence: found.sentence,
    limitsSentence: limitsSentence(shelf, rows, judged),
  };
}
