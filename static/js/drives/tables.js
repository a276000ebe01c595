// Filters, limits, order and pages of the tables of drives at once, on the register's one data file. The server answers the
// same questions by the same address: where this script or the file is missing, form and links ask it.
import {answerTo} from './answer.js';
import {addressOf, fillForm, readForm, viewOf, without, withEverything} from './question.js';
import {bodies, escape} from './rows.js';
import {decimal, load} from './shelf.js';

const form = document.querySelector('form[data-drives]');
const told = JSON.parse(document.getElementById('drives-page').textContent);
const profile = new Map([...form.querySelectorAll('input[data-threshold]')].map(({dataset}) => [dataset.threshold, dataset.profile]));
let view = viewOf(new URLSearchParams(location.search));
let loading;
const shelfOf = () => { loading ??= load(form.dataset.file); return loading; };
const count = number => decimal(String(number));
const link = (address, text) => `<a href="${escape(address)}">${text}</a>`;

const columnsOf = (section, chosen) =>
  section.columns.filter(({code, is_usual: isUsual}) => chosen.length ? code === 'drive' || chosen.includes(code) : isUsual);

function showHead(wrap, question) {
  for (const head of wrap.querySelectorAll('thead th')) {
    const column = told.sections.find(({code}) => code === wrap.dataset.section).columns.find(({code}) => code === head.dataset.column);
    const isSorted = question.sort.code === column.code;
    const falls = isSorted ? !question.sort.falls : column.falls_first;
    const sorted = head.querySelector('a');
    if (sorted) sorted.setAttribute('href', addressOf({...question, sort: {code: column.code, falls}, page: 1}));
    if (isSorted) head.setAttribute('aria-sort', question.sort.falls ? 'descending' : 'ascending'); else head.removeAttribute('aria-sort');
    const limit = question.limits.get(String(column.threshold_us));
    if (limit !== undefined) head.querySelector('.u').textContent = `limit ${decimal(limit)}\u00a0%`;
  }
}

function showTable(wrap, shelf, {groups, isEmpty}, question) {
  const section = told.sections.find(({code}) => code === wrap.dataset.section);
  showHead(wrap, question);
  const table = wrap.querySelector('table');
  table.querySelectorAll('tbody').forEach(body => body.remove());
  table.insertAdjacentHTML('beforeend', bodies(shelf, columnsOf(section, question.columns), groups, question.limits, !told.isHistorical));
  (wrap.closest('section') ?? wrap).hidden = isEmpty;
}

function hiddenLine({hidden, reasons}, question) {
  if (!hidden) return '';
  const alone = reasons.length === 1;
  const lines = reasons.map(({name, text, hidden: number, back}) => {
    const lift = back ? `${alone ? '.' : ''} ${link(addressOf(without(question, name)), alone ? 'Show them' : `show ${count(back)}`)}` : '';
    return escape(alone ? text : `${text}: ${count(number)}`) + lift;
  });
  return ` Hidden by your filter: ${count(hidden)}, because ${lines.join('; ')}${alone ? '' : `. ${link(addressOf(withEverything(question)), 'Show all')}`}`;
}

function showAround(answer, question) {
  const said = answer.readSentence ? ` ${escape(answer.readSentence)}` : '';
  document.querySelector('[data-shown]').innerHTML = `<b>${count(answer.shown)} of ${count(answer.shown + answer.hidden)} shown.</b>${hiddenLine(answer, question)}${said}`;
  document.querySelector('[data-changes]').textContent = answer.limitsSentence;
  document.querySelectorAll('[data-empty]').forEach(state => { state.hidden = answer.shown > 0; });
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

/** Show what the form asks, and keep it in the address. */
async function show() {
  const question = readForm(form, told, view);
  if (question.wrong.length || form.querySelector('[aria-invalid=true]')) return;
  const shelf = await shelfOf();
  const answer = answerTo(shelf, told, question, profile);
  question.page = view.page = answer.page;
  for (const wrap of document.querySelectorAll('[data-section]')) {
    showTable(wrap, shelf, answer.sections.find(({code}) => code === wrap.dataset.section), question);
  }
  showAround(answer, question);
  const address = addressOf(question);
  history.replaceState(null, '', location.pathname + (address === '?' ? '' : address) + location.hash);
}

const ask = () => show().catch(() => form.submit()); // without the file the server answers

form.addEventListener('focusin', () => { shelfOf().catch(() => {}); }, {once: true});
form.addEventListener('input', ({target}) => {
  if (target.name === 'columns') return; // the heads change too: Apply asks the server
  view.page = 1;
  ask();
});
form.addEventListener('submit', event => {
  const chosen = [...form.querySelectorAll('input[name=columns]')];
  if (chosen.some(field => field.checked !== field.defaultChecked)) return;
  event.preventDefault();
  ask();
});

/** A link of the page to itself asked otherwise: answered here, with the focus kept. */
document.querySelector('main').addEventListener('click', event => {
  const followed = event.target.closest('thead a, [data-shown] a, [data-pages] a, [data-profile-limits]');
  if (!followed || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const parameters = new URL(followed.href).searchParams;
  fillForm(form, parameters);
  view = viewOf(parameters);
  const isOfShown = followed.closest('[data-shown]');
  ask().then(() => { if (isOfShown) document.querySelector('[data-shown]').focus(); });
});
