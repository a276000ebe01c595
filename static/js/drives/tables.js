// Filters, limits, order and pages of the tables of drives at once, on the register's one data file. The server answers the
// same questions by the same address: where this script or the file is missing, form and links ask it.
import {answerTo} from './answer.js';
import {tickAgain} from '../choose-runs.js';
import {deviceSpeed} from './device-speed.js';
import {columnsOf, showHead} from './heads.js';
import {addressOf, fillForm, readForm, tickColumns, ticked, viewOf, without, withEverything} from './question.js';
import {escape, fill, linesOf} from './rows.js';
import {decimal, load} from './shelf.js';
import {carryLimits} from '../your-limits.js';

const form = document.querySelector('form[data-drives]');
const told = JSON.parse(document.getElementById('drives-page').textContent);
const profile = new Map([...form.querySelectorAll('input[data-threshold]')].map(({dataset}) => [dataset.threshold, dataset.profile]));
let view = viewOf(new URLSearchParams(location.search));
let loading;
const shelfOf = () => { loading ??= load(form.dataset.file).then(withDeviceSpeed); return loading; };
function withDeviceSpeed(shelf) {
  shelf.columns.device_tps = deviceSpeed(shelf);
  return shelf;
}
const count = number => decimal(String(number));
const lift = (question, text) => `<span class="lift"> <a href="${escape(addressOf(question))}">${text}</a></span>`;

const LOWEST_ROW_PX = 22, FEWEST_LINES = 8;
let later = []; // what puts in the lines below the window, once those in it are painted

/** How many lines of a table the window can show. */
const linesSeen = wrap => Math.max(FEWEST_LINES, Math.ceil((innerHeight - wrap.getBoundingClientRect().top) / LOWEST_ROW_PX));

// The page keeps its height meanwhile, so that nothing below moves and the place read at is kept.
function hold(wrap, heightPx, putIn) {
  wrap.style.minHeight = putIn ? `${heightPx}px` : '';
  wrap.setAttribute('aria-busy', String(putIn !== null));
  if (putIn) later.push(() => { putIn(); hold(wrap, 0, null); tickAgain(); });
}

function putInLater() {
  const now = later;
  if (now.length) requestAnimationFrame(() => setTimeout(() => { if (now === later) { later = []; now.forEach(putIn => putIn()); } }));
}

function showTable(wrap, shelf, {groups, isEmpty}, question, [most, heightPx]) {
  const section = told.sections.find(({code}) => code === wrap.dataset.section);
  const columns = columnsOf(section, question.columns);
  showHead(wrap, section, columns, question, told);
  const table = wrap.querySelector('table');
  table.querySelectorAll('tbody').forEach(body => body.remove());
  hold(wrap, heightPx, fill(table, linesOf(shelf, columns, groups, question, !told.isHistorical), most));
  (wrap.closest('section') ?? wrap).hidden = isEmpty;
}

function hiddenLine({hidden, reasons}, question) {
  if (!hidden) return '';
  const alone = reasons.length === 1;
  const lines = reasons.map(({name, text, hidden: number, back}) => {
    const shows = `show ${count(back)}${back < number ? ' hidden for this alone' : ''}`;
    return escape(alone ? `${text}.` : `${text}: ${count(number)}`) + (back ? lift(without(question, name), alone ? 'Show them' : shows) : '');
  });
  const overlap = reasons.reduce((sum, reason) => sum + reason.hidden, 0) > hidden ? '; a row may have more than one reason' : '';
  return ` Hidden by your filter: ${count(hidden)}, because ${lines.join('; ')}${alone ? '' : `${overlap}.${lift(withEverything(question), 'Show all')}`}`;
}

function showAround(answer, question) {
  const said = answer.readSentence ? ` ${escape(answer.readSentence)}` : '';
  document.querySelector('[data-shown]').innerHTML = `<b>${count(answer.shown)} of ${count(answer.shown + answer.hidden)} shown.</b>${hiddenLine(answer, question)}${said}`;
  document.querySelector('[data-changes]').textContent = answer.limitsSentence;
  document.querySelector('[data-headline]').textContent = answer.headline;
  for (const said of form.querySelectorAll('[data-over]')) said.hidden = (said.dataset.over === 'hidden') !== question.onlyWithin;
  document.querySelectorAll('[data-empty]').forEach(state => { state.hidden = answer.shown > 0; });
  document.querySelectorAll('[data-profile-limits]').forEach(line => {
    line.hidden = !question.ownLimits.length;
    line.setAttribute('href', addressOf({...question, ownLimits: []}));
  });
  carryLimits(form);
  const address = addressOf(question);
  for (const line of document.querySelectorAll('[data-form]')) {
    const shape = line.dataset.form === 'html' ? '' : `${address === '?' ? '' : '&'}format=${line.dataset.form}`;
    line.setAttribute('href', addressOf({...question, page: shape ? 1 : question.page}) + shape);
  }
  const pages = document.querySelector('[data-pages]');
  if (pages) pages.innerHTML = answer.pages < 2 ? '' : Array.from({length: answer.pages}, (_, place) => place + 1)
    .map(page => `<a href="${escape(addressOf({...question, page}))}"${page === answer.page ? ' aria-current="page"' : ''}>${page}</a> `).join('');
  for (const pick of form.querySelectorAll('[data-pick]')) {
    const labels = [...pick.querySelectorAll('input:checked')].map(field => field.parentElement.textContent.trim());
    pick.querySelector('[data-picked]').textContent = labels.join(', ') || 'any';
  }
}

/** Show what the form asks, and keep it in the address; of questions that wait for the file the last one alone. */
let asked = 0;
async function show(step) {
  const question = readForm(form, told, view);
  if (question.wrong.length || form.querySelector('[aria-invalid=true]')) return;
  const turn = asked += 1;
  const shelf = await shelfOf();
  if (turn !== asked) return;
  const answer = answerTo(shelf, told, question, profile);
  question.page = view.page = answer.page;
  const wraps = [...document.querySelectorAll('[data-section]')];
  const seen = wraps.map(wrap => [linesSeen(wrap), wrap.offsetHeight]); // all is measured before anything changes
  later = [];
  wraps.forEach((wrap, place) => showTable(wrap, shelf, answer.sections.find(({code}) => code === wrap.dataset.section), question, seen[place]));
  tickAgain();
  showAround(answer, question);
  putInLater();
  const address = addressOf(question);
  keep(location.pathname + (address === '?' ? '' : address), step);
  answered = location.search;
}

form.querySelector('[data-apply]').hidden = true; // everything is applied at once

/** Each change is a step that Back undoes; going on typing in one field is one step. */
let lastStep;
function keep(address, step) {
  if (!step || address === location.pathname + location.search) return;
  history[step === lastStep ? 'replaceState' : 'pushState'](null, '', address + location.hash);
  lastStep = step;
}

function ask(step = Symbol('step')) {
  return show(step).catch(() => form.submit()); // without the file the server answers
}

function become(parameters) {
  fillForm(form, parameters, told.usual);
  view = viewOf(parameters);
}

let answered = location.search;
addEventListener('popstate', () => {
  if (answered === location.search) return; // a link to a place within the page asks nothing
  lastStep = undefined;
  become(new URLSearchParams(location.search));
  ask(null);
});

form.addEventListener('focusin', () => { shelfOf().catch(() => {}); }, {once: true});
form.addEventListener('input', ({target}) => {
  if (target.name === 'columns') {
    if (!ticked(form, 'columns').length) tickColumns(form, told.usual); // a table of names alone says nothing
  } else {
    view.page = 1;
  }
  ask(target.type === 'checkbox' ? undefined : target.name);
});
form.addEventListener('submit', event => {
  event.preventDefault();
  ask();
});

/** A link of the page to itself asked otherwise: answered here, with the focus kept. */
document.querySelector('main').addEventListener('click', event => {
  const followed = event.target.closest('thead a:not(.means), [data-shown] a, [data-pages] a, [data-profile-limits]');
  if (!followed || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const parameters = new URL(followed.href).searchParams;
  become(parameters);
  const isOfShown = followed.closest('[data-shown]');
  ask().then(() => { if (isOfShown) document.querySelector('[data-shown]').focus(); });
});
