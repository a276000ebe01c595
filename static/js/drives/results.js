// The results of a query: the rows of each table, the hidden ones with reasons, and the effect of the limits. Does not touch the page.
import {applyTests, choiceTest, defaultTest, numberTest} from './filters.js';
import {count} from './column-store.js';
import {notesOnOtherCounts} from './device-counts.js';
import {headline, passingRows} from './headline.js';
import {checkLimits, limitsSentence} from './limit-check.js';
import {nearestResult} from './nearest-result.js';
import {grouped, inOrder, pageOf, pagesCount} from './order.js';
import {ratingSentence} from './rating.js';
import {search} from './search.js';

function universes(store, layout) {
  const category = store.columns.category, historical = store.columns.historical;
  const rows = layout.sections.map(() => []);
  const place = new Map(layout.sections.flatMap(({categories}, section) => categories.map(code => [code, section])));
  for (let row = 0; row < store.count; row += 1) {
    if (layout.isHistorical && historical.word(row) !== 'yes') continue;
    rows[place.get(category.word(row))]?.push(row);
  }
  return rows;
}

function testsOf(store, layout, query, check, found) {
  const filter = Object.fromEntries(layout.filters.map(each => [each.name, each]));
  return [
    ...layout.included.filter(name => !query.included.includes(name)).map(name => defaultTest(name, layout.hiddenBecause[name], store)),
    ...(query.search ? [{name: 'q', text: `name does not contain ${query.search}`, passes: row => found.matches[row]}] : []),
    ...query.choices.map(([name, codes]) => choiceTest(filter[name], codes, store)),
    ...query.numbers.map(([name, text]) => numberTest(filter[name], text, store)),
    ...(query.onlyWithin ? [{name: 'within', text: 'not within the limits', passes: check.passes}] : []),
  ];
}

// Each table has the same tests, so the counts of a test are added up over the tables.
const sumOf = (filtered, place, name) => filtered.reduce((sum, {reasons}) => sum + reasons[place][name], 0);
const mergedReasons = (tests, filtered) => tests.map(({name, text}, place) => (
  {name, text, hidden: sumOf(filtered, place, 'hidden'), hiddenOnly: sumOf(filtered, place, 'hiddenOnly')})).filter(({hidden}) => hidden);

// The matching rows, with those that only the limits hide.
function rowsBeforeLimits(all, tests, filtered) {
  const others = tests.filter(({name}) => name !== 'within');
  const matching = others.length < tests.length ? all.map(universe => applyTests(universe, others)) : filtered;
  return matching.flatMap(({rows}) => rows).sort((a, b) => a - b);
}

// The charts plot one device of each instance if the table ranks them by it: plots_devices of page.py in the browser.
function plottedSpeed({hasOnlyInstances, hasInstances, deviceUnit, loads}, {sort}) {
  const isPerDevice = hasInstances && sort.code === 'device_tps';
  return {isPerDevice, deviceUnit, showsProviders: hasOnlyInstances, loads: isPerDevice ? ['min_device_tps'] : loads};
}

// The rows of a page without any filter: historical ones only on their own page.
const defaultRows = (store, layout, all) => all.flat().filter(row => layout.isHistorical || store.columns.historical.word(row) !== 'yes').sort((a, b) => a - b);

// Return how many rows at the top are over a limit, if the fastest are first: the headline names others.
function firstOverSentence(sections, {sort}, check) {
  if (!['tps', 'device_tps'].includes(sort.code) || !sort.falls) return '';
  const rows = sections.flatMap(({groups}) => groups)[0]?.rows ?? [], within = rows.findIndex(row => !check.isOver(row));
  const over = within < 0 ? rows.length : within, limit = check.isOwn ? 'one of your limits' : 'a limit of the profile';
  if (over < 2) return over ? `The first row is over ${limit}.` : '';
  return `The first ${count(over)} rows are over ${limit}.`;
}

/** Return the results of a query; `profile` maps a threshold in us to the profile's limit as text. */
export function resultsOf(store, layout, query, profile) {
  const check = checkLimits(store, query.limits, profile);
  const found = query.search ? search(store, query.search) : {sentence: '', matches: []};
  const tests = testsOf(store, layout, query, check, found);
  const all = universes(store, layout);
  const filtered = all.map(universe => applyTests(universe, tests));
  const shown = filtered.reduce((sum, each) => sum + each.rows.length, 0), hidden = filtered.reduce((sum, each) => sum + each.hidden, 0);
  const pages = pagesCount(shown);
  const page = Math.min(query.page, pages);
  const matching = rowsBeforeLimits(all, tests, filtered);
  const isNarrowed = [query.choices, query.numbers, query.search].some(({length}) => length);
  const summarised = isNarrowed ? matching : defaultRows(store, layout, all);
  const passing = passingRows(store, summarised, check);
  let before = 0;
  const sections = layout.sections.map(({code}, place) => {
    const groups = grouped(store, inOrder(store, filtered[place].rows, query.sort), layout.bands);
    const onPage = pageOf(groups, page, before);
    before += filtered[place].rows.length;
    return {code, groups: onPage, isEmpty: onPage.length === 0};
  });
  return {
    sections, pages, page, hidden, shown, reasons: mergedReasons(tests, filtered), readSentence: found.sentence,
    firstOverSentence: page === 1 ? firstOverSentence(sections, query, check) : '',
    ratingSentence: ratingSentence(store, filtered.flatMap(({rows}) => rows), query, layout.loads),
    limitsSentence: limitsSentence(store, matching, check),
    plotted: {rows: filtered.flatMap(({rows}) => rows), passes: check.passes, ...plottedSpeed(layout, query), firstRows: sections.flatMap(({groups}) => groups.flatMap(({rows}) => rows))},
    isNarrowed, headline: headline(store, isNarrowed, summarised, passing, check, query.limits, layout.statistics, layout.hasOnlyInstances),
    passing, notes: notesOnOtherCounts(store, check),
    nearest: shown ? null : nearestResult(store, layout, query, all.flat(), tests),
  };
}
