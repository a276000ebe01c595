// What a question gets: the rows of each table, what is hidden and why, and what the limits change. No page is touched here.
import {choiceTest, keep, leftOut, numberTest} from './filters.js';
import {headline} from './headline.js';
import {judge, limitsSentence} from './judged.js';
import {grouped, inOrder, pageOf, pagesCount} from './order.js';
import {search} from './search.js';

function universes(shelf, told) {
  const category = shelf.columns.category, historical = shelf.columns.historical;
  const rows = told.sections.map(() => []);
  const place = new Map(told.sections.flatMap(({categories}, section) => categories.map(code => [code, section])));
  for (let row = 0; row < shelf.count; row += 1) {
    if (told.isHistorical && historical.word(row) !== 'yes') continue;
    rows[place.get(category.word(row))]?.push(row);
  }
  return rows;
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

// What the limits change is told of the rows that they alone hide, too.
function judgedRows(all, tests, kept) {
  const others = tests.filter(({name}) => name !== 'within');
  const judged = others.length < tests.length ? all.map(universe => keep(universe, others)) : kept;
  return judged.flatMap(({rows}) => rows).sort((a, b) => a - b);
}

// What a page is of by itself: without the past, unless it is the page of the past.
const currentRows = (shelf, told, all) => all.flat().filter(row => told.isHistorical || shelf.columns.historical.word(row) !== 'yes');

/** The answer to a question; `profile` is threshold in us -> the profile's limit as text. */
export function answerTo(shelf, told, question, profile) {
  const judged = judge(shelf, question.limits, profile);
  const found = question.query ? search(shelf, question.query) : {sentence: '', kept: []};
  const tests = testsOf(shelf, told, question, judged, found);
  const all = universes(shelf, told);
  const kept = all.map(universe => keep(universe, tests));
  const shown = kept.reduce((sum, each) => sum + each.rows.length, 0), hidden = kept.reduce((sum, each) => sum + each.hidden, 0);
  const pages = pagesCount(shown);
  const page = Math.min(question.page, pages);
  const asked = judgedRows(all, tests, kept);
  const isNarrowed = [question.choices, question.numbers, question.query].some(({length}) => length);
  let before = 0;
  const sections = told.sections.map(({code, isByVendor}, place) => {
    const groups = grouped(shelf, inOrder(shelf, kept[place].rows, question.sort), isByVendor);
    const onPage = pageOf(groups, page, before);
    before += kept[place].rows.length;
    return {code, groups: onPage, isEmpty: onPage.length === 0};
  });
  return {
    sections, pages, page, hidden, shown, reasons: mergedReasons(kept), readSentence: found.sentence,
    limitsSentence: limitsSentence(shelf, asked, judged),
    headline: headline(shelf, isNarrowed, isNarrowed ? asked : currentRows(shelf, told, all), judged, question.limits),
  };
}
