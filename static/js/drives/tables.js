// Filters, sorts and pages the tables of drives in the browser, from the register's data file. Without this script or the file,
// the form and the links ask the server, which answers the same addresses.
import {resultsOf} from './results.js';
import {tickAgain} from '../choose-runs.js';
import {devicesTable} from './devices-table.js';
import {columnsOf, showHead} from './heads.js';
import {addressOf, fillForm, readForm, tickColumns, ticked, viewOf, without, withEverything} from './query.js';
import '../menus.js';
import {escape} from '../parts.js';
import {fill, linesOf} from './rows.js';
import {count, load} from './column-store.js';
import {showServerPage} from './server-page.js';
import {carryLimits} from '../your-limits.js';
import {drawLandscape} from '../landscape/drawing.js';
import {endExploring, exploreResults} from '../landscape/navigation.js';

const form = document.querySelector('form[data-drives]');
const layout = JSON.parse(document.getElementById('drives-page').textContent);
const profile = new Map([...form.querySelectorAll('input[data-threshold]')].map(({dataset}) => [dataset.threshold, dataset.profile]));
let view = viewOf(new URLSearchParams(location.search), layout.defaultSort);
let loading, isLoaded = false;
const currentStore = () => loading ??= load(form.dataset.file).then(store => { isLoaded = true; return store; })
  .catch(error => { loading = undefined; throw error; });
const queriesServerFirst = () => 'queriesServer' in form.dataset && !isLoaded; // the file of a large register takes long to load
const lift = (query, text) => `<span class="lift"> <a href="${escape(addressOf(query))}">${text}</a></span>`;

const LOWEST_ROW_PX = 22, FEWEST_LINES = 8;
let later = []; // functions that add the lines below the window, once those in it are painted

/** Return how many lines of a table the window can show. */
const linesSeen = wrap => Math.max(FEWEST_LINES, Math.ceil((innerHeight - wrap.getBoundingClientRect().top) / LOWEST_ROW_PX));

// The page has a fixed height meanwhile, so that nothing below moves.
function reserveHeight(wrap, heightPx, addRest) {
  wrap.style.minHeight = addRest ? `${heightPx}px` : '';
  wrap.setAttribute('aria-busy', String(addRest !== null));
  if (addRest) later.push(() => { addRest(); reserveHeight(wrap, 0, null); tickAgain(); });
}

function addLater() {
  const now = later;
  if (now.length) requestAnimationFrame(() => setTimeout(() => { if (now === later) { later = []; now.forEach(addRest => addRest()); } }));
}

function showTable(wrap, store, {groups, isEmpty}, query, notes, [most, heightPx]) {
  const section = layout.sections.find(({code}) => code === wrap.dataset.section);
  const columns = columnsOf(section, query, layout.filters);
  showHead(wrap, section, columns, query, layout, store, groups.flatMap(({rows}) => rows));
  const table = wrap.querySelector('table');
  table.querySelectorAll('tbody').forEach(body => body.remove());
  reserveHeight(wrap, heightPx, fill(table, linesOf(store, columns, groups, {...query, showsProviders: layout.hasOnlyInstances}, !layout.isHistorical, notes), most));
  if (table.tBodies[0]) Object.assign(table.tBodies[0], {id: `${section.code}-rows`, tabIndex: -1}); // of the skip link
  (wrap.closest('section') ?? wrap).hidden = isEmpty;
}

/** Let the skip link lead to the first table that has rows. */
function placeSkipLink(wraps) {
  const first = wraps.find(wrap => wrap.querySelector('tbody[id]') && !(wrap.closest('section') ?? wrap).hidden);
  if (first) document.querySelector('.skip').setAttribute('href', `#${first.querySelector('tbody[id]').id}`);
}

function hiddenLine({hidden, reasons}, query) {
  if (!hidden) return '';
  const [{name, text}] = reasons;
  if (reasons.length === 1) return ` ${count(hidden)} hidden: ${escape(text)}.${lift(without(query, name), 'Show them')}`;
  return ` ${count(hidden)} hidden for ${reasons.length} reasons.${lift(withEverything(query), 'Show all')}`;
}

/** Return the folded list of several reasons for hidden rows, which stays open if it was. */
function reasonsFold({hidden, reasons}, query, isOpen) {
  if (reasons.length < 2) return '';
  const lines = reasons.map(({name, text, hidden: number, hiddenOnly}) => {
    const alone = hiddenOnly && hiddenOnly < number ? `, ${count(hiddenOnly)} only for this reason` : '';
    return `<li>${escape(`${text}: ${count(number)}${alone}`)}${hiddenOnly ? lift(without(query, name), `Show ${count(hiddenOnly)}`) : ''}</li>`;
  });
  const overlap = reasons.reduce((sum, reason) => sum + reason.hidden, 0) > hidden ? 'A drive can fail several filters.' : '';
  return `<details class="why"${isOpen ? ' open' : ''}><summary>Reasons</summary><ul class="plain">${lines.join('')}</ul>${overlap}</details>`;
}

/** Return how many filters and limits are set, and how many results match: filters_sentence() of form.py. */
function filtersSentence({choices, numbers, search, ownLimits, onlyWithin, included}, shown) {
  const number = choices.length + numbers.length + included.length + [search, ownLimits.length, onlyWithin].filter(Boolean).length;
  return `Filter and limits: ${number ? `${number} set` : 'none'}, ${count(shown)} ${shown === 1 ? 'result' : 'results'}`;
}

/** Show the headline; the best instances of all providers are shown as long as there is no filter. */
function showHeadline({headline: {first, others}, isNarrowed}) {
  const providers = document.querySelector('[data-providers]');
  if (providers) providers.hidden = isNarrowed;
  document.querySelector('[data-headline]').textContent = first;
  document.querySelector('[data-headline-others]').textContent = others;
}

function showNearest({nearest}) {
  const link = nearest && `<a href="${escape(addressOf(nearest.query))}">${escape(nearest.link)}</a>`;
  document.querySelector('[data-nearest]').innerHTML = nearest ? `${escape(nearest.sentence)} ${link}` : '';
}

/** Show the speed by number of devices, on a page that has it. */
function showDevices(store, {passing}) {
  const table = document.querySelector('[data-devices]');
  if (!table) return;
  table.querySelectorAll('tbody').forEach(body => body.remove());
  table.insertAdjacentHTML('beforeend', devicesTable(store, passing));
}

function showAround(results, query) {
  const note = results.readSentence ? ` ${escape(results.readSentence)}` : '';
  const place = document.querySelector('[data-shown]'), reasons = reasonsFold(results, query, place.querySelector('details')?.open);
  place.innerHTML = `<b>${count(results.shown)} of ${count(results.shown + results.hidden)} shown.</b>${results.firstOverSentence && ` <b>${results.firstOverSentence}</b>`}${results.ratingSentence && ` ${escape(results.ratingSentence)}`}${hiddenLine(results, query)}${note}${reasons}`;
  document.querySelector('[data-changes]').textContent = results.limitsSentence;
  document.querySelector('[data-filters]').textContent = filtersSentence(query, results.shown);
  form.querySelector('[data-show]').textContent = `Show ${count(results.shown)} ${results.shown === 1 ? 'result' : 'results'}`;
  showHeadline(results);
  showNearest(results);
  for (const note of form.querySelectorAll('[data-over]')) note.hidden = (note.dataset.over === 'hidden') !== query.onlyWithin;
  document.querySelectorAll('[data-empty]').forEach(state => { state.hidden = results.shown > 0; });
  document.querySelectorAll('[data-profile-limits]').forEach(line => {
    line.hidden = !query.ownLimits.length;
    line.setAttribute('href', addressOf({...query, ownLimits: []}));
  });
  carryLimits(form);
  const address = addressOf(query);
  for (const line of document.querySelectorAll('[data-form]')) {
    const shape = line.dataset.form === 'html' ? '' : `${address === '?' ? '' : '&'}format=${line.dataset.form}`;
    line.setAttribute('href', addressOf({...query, page: shape ? 1 : query.page}) + shape);
  }
  const pages = document.querySelector('[data-pages]');
  if (pages) pages.innerHTML = results.pages < 2 ? '' : Array.from({length: results.pages}, (_, place) => place + 1)
    .map(page => `<a href="${escape(addressOf({...query, page}))}"${page === results.page ? ' aria-current="page"' : ''}>${page}</a> `).join('');
  for (const pick of form.querySelectorAll('[data-pick]')) {
    const labels = [...pick.querySelectorAll('input:checked')].map(field => field.nextSibling.data.trim());
    pick.querySelector('[data-picked]').textContent = labels.join(', ') || 'any';
    const heading = pick.dataset.pick === 'category' && document.querySelector('[data-categories]');
    if (heading) document.querySelector('[data-cloud-notes]').hidden = labels.length > 0 && !pick.querySelector('input[value=cloud]:checked');
    if (heading) heading.textContent = labels.length ? `Drives: ${labels.join(', ')}` : 'Drives of all categories';
  }
}

/** Show the results of the form and update the address. If several queries wait for the file, only the last one is shown. */
let lastTurn = 0;
async function show(step) {
  const query = readForm(form, layout, view);
  if (query.wrong.length || form.querySelector('[aria-invalid=true]')) return;
  const turn = lastTurn += 1;
  if (queriesServerFirst()) {
    endExploring();
    await showServerPage(addressOf(query), () => turn === lastTurn);
    if (turn !== lastTurn) return;
    tickAgain();
    placeAddress(query, step);
  }
  const store = await currentStore();
  if (turn !== lastTurn) return;
  const results = resultsOf(store, layout, query, profile);
  query.page = view.page = results.page;
  const wraps = [...document.querySelectorAll('[data-section]')];
  const seen = wraps.map(wrap => [linesSeen(wrap), wrap.offsetHeight]); // measured before anything changes
  later = [];
  wraps.forEach((wrap, place) => showTable(wrap, store, results.sections.find(({code}) => code === wrap.dataset.section), query, results.notes, seen[place]));
  placeSkipLink(wraps);
  tickAgain();
  endExploring();
  later.push(drawLandscape(store, results.plotted, query));
  showDevices(store, results);
  showAround(results, query);
  addLater();
  placeAddress(query, step);
}

function placeAddress(query, step) {
  const address = addressOf(query);
  pushAddress(location.pathname + (address === '?' ? '' : address), step);
  shownSearch = location.search;
}

form.querySelector('[data-apply]').hidden = true; // everything is applied at once

/** Each change is one step of the browser history; typing in one field is a single step. */
let lastStep;
function pushAddress(address, step) {
  if (!step || address === location.pathname + location.search) return;
  history[step === lastStep || history.state?.explored ? 'replaceState' : 'pushState'](null, '', address + location.hash);
  lastStep = step;
}

function update(step = Symbol('step')) {
  const turn = lastTurn + 1;
  return show(step).catch(() => { if (turn === lastTurn) form.submit(); }); // without the file, ask the server
}

function setQuery(parameters) {
  fillForm(form, parameters, layout.usual);
  view = viewOf(parameters, layout.defaultSort);
}

let shownSearch = location.search;
addEventListener('popstate', () => {
  if (shownSearch === location.search) return; // a link to a place within the page changes nothing
  lastStep = undefined;
  setQuery(new URLSearchParams(location.search));
  update(null);
});

// The chart to explore has the results of the form, as the picture.
exploreResults(async () => {
  const store = await currentStore(), query = readForm(form, layout, view);
  return {store, plotted: resultsOf(store, layout, query, profile).plotted, query};
});

form.addEventListener('focusin', () => { if (!queriesServerFirst()) currentStore().catch(() => {}); }, {once: true});
form.addEventListener('input', ({target}) => {
  if (target.name === 'columns') {
    if (!ticked(form, 'columns').length) tickColumns(form, layout.usual); // at least one column next to the name
  } else {
    view.page = 1;
  }
  update(target.type === 'checkbox' ? undefined : target.name);
});
form.addEventListener('submit', event => {
  event.preventDefault();
  update().then(() => { if (event.submitter?.matches('[data-show]')) showRows(); });
});

/** Close the filters of a phone, and move to the first row, or to the sentence that states why there is none. */
function showRows() {
  form.querySelector('.opener').open = false;
  const rows = [...document.querySelectorAll('.rows tbody[id]')].find(body => body.checkVisibility()), place = rows ?? document.querySelector('[data-shown]');
  place.scrollIntoView();
  place.focus({preventScroll: true});
}

/** Follow a link of the page to itself without loading it, so that the focus stays. */
document.querySelector('main').addEventListener('click', event => {
  const followed = event.target.closest('thead a:not(.means), [data-shown] a, [data-nearest] a, [data-pages] a, [data-profile-limits], [data-switches] a, a.cell');
  if (!followed || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const parameters = new URL(followed.getAttribute('href'), location.href).searchParams;
  setQuery(parameters);
  const choices = () => [...document.querySelectorAll('[data-switches] :is(a, b)')], chosen = choices().indexOf(followed);
  const isReplaced = followed.closest('[data-shown], [data-nearest], a.cell');
  update().then(() => { // the followed link was replaced
    if (chosen >= 0) choices()[chosen]?.focus();
    else if (isReplaced) document.querySelector('[data-shown]').focus();
  });
});
