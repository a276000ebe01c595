// Forms whose results are on the same page: results and address are updated while the reader types.
// Without this script the button of the form does the same.
import {groupedDigits, plainNumber} from './typed-numbers.js';

const WAIT_MS = 250;

// An address has the number in the unit of its field, also if it was typed as 1M, 500k or, in a field of TB, 20T.
const plain = (field, value) => ['decimal', 'numeric'].includes(field?.inputMode) ? plainNumber(value, field.dataset.unit) ?? value : value;

function addressOf(form) {
  const isSet = ([name, value]) => value !== '' && value !== form.elements[name]?.dataset?.profile;
  const query = new URLSearchParams([...new FormData(form)].filter(isSet).map(([name, value]) => [name, plain(form.elements[name], value)]));
  return `${location.pathname}?${query}`;
}

async function update(form, address, signal) {
  const response = await fetch(address, {signal, headers: {Accept: 'text/html'}});
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const places = [...document.querySelectorAll(form.dataset.answers)];
  const carrying = carryingOutside(page, form); // these links contain the limits; those of the answers are replaced with them
  showWrong(form, page);
  if (!response.ok) {
    const first = document.querySelector(form.dataset.answers.split(',')[0]);
    const message = page.getElementById(first.id) ?? page.querySelector('.lede');
    first.textContent = message?.textContent.trim() ?? `The server responded with status ${response.status}.`;
    return;
  }
  replaceWithFocus(() => places.forEach(place => replaceContent(place, page.getElementById(place.id).childNodes)));
  carryingOutside(document, form).forEach((link, place) => link.setAttribute('href', carrying[place].getAttribute('href')));
  addToHistory(form, address);
  document.dispatchEvent(new Event('answers-replaced'));
}

// A menu whose options are replaced would show the last one.
function replaceContent(place, nodes) {
  const {value} = place;
  place.replaceChildren(...nodes);
  if (place.matches('select')) place.value = value;
}

// Return the links outside the answers that limits go along by: two pages of one address have the same ones in the same order.
const carryingOutside = (root, form) =>
  [...root.querySelectorAll('a[data-carries]')].filter(link => !link.closest(form.dataset.answers));

// A choice above a chart sets what the form has in hidden fields: the threshold and the statistic.
function setHiddenFields(form, parameters) {
  form.querySelectorAll('input[type=hidden]').forEach(field => field.remove());
  for (const [name, value] of parameters) {
    if (!form.elements.namedItem(name)) form.append(Object.assign(document.createElement('input'), {type: 'hidden', name, value}));
  }
}

// Mark only the fields that the response marks as wrong.
function showWrong(form, page) {
  const wrong = new Set([...page.querySelectorAll('main [aria-invalid=true]')].map(({name}) => name));
  for (const field of form.elements) {
    if (wrong.has(field.name)) field.setAttribute('aria-invalid', 'true'); else field.removeAttribute('aria-invalid');
  }
  if (!wrong.size) form.querySelectorAll('.wrong').forEach(message => message.remove());
}

// Each change is one step of the browser history; typing in one field is a single step.
let lastChanged;
function addToHistory(form, address) {
  const field = form.dataset.changed;
  const isNew = field !== lastChanged && !history.state?.explored && address !== location.pathname + location.search;
  history[isNew ? 'pushState' : 'replaceState'](null, '', address);
  lastChanged = field;
  shownAddress = address;
}
// A link to a place within the page is a step, too, and changes nothing.
let shownAddress = location.pathname + location.search;
if (document.querySelector('form[data-answers]')) addEventListener('popstate', () => {
  if (shownAddress !== location.pathname + location.search) location.reload();
});

// A field inside the results is replaced, too. The focus moves to the new one, so that typing continues, and a choice of columns stays.
function replaceWithFocus(change) {
  const {id, selectionStart} = document.activeElement ?? {};
  const chosen = [...document.querySelectorAll('.choose [id]:checked')].map(choice => choice.id);
  change();
  chosen.map(choice => document.getElementById(choice)).filter(Boolean).forEach(choice => { choice.checked = true; });
  const again = id && document.getElementById(id);
  if (again && again !== document.activeElement) {
    again.focus({preventScroll: true});
    if (again.type === 'text') again.setSelectionRange(selectionStart, selectionStart);
  }
}

for (const form of document.querySelectorAll('form[data-answers]')) {
  let timer, running;
  const show = (address, onError) => {
    clearTimeout(timer);
    running?.abort();
    running = new AbortController();
    return update(form, address, running.signal).catch(error => { if (error.name !== 'AbortError') onError(); });
  };
  const schedule = () => {
    clearTimeout(timer);
    timer = setTimeout(() => show(addressOf(form), () => form.submit()), WAIT_MS);
  };
  // A choice above a chart is shown without loading the page, so that the focus stays on it.
  document.addEventListener('click', event => {
    const link = event.target.closest('[data-switches] a');
    if (!link?.closest(form.dataset.answers) || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    const choices = () => [...document.querySelectorAll('[data-switches] :is(a, b)')], chosen = choices().indexOf(link);
    form.dataset.changed = link.search;
    setHiddenFields(form, new URLSearchParams(link.search));
    show(link.pathname + link.search, () => location.assign(link.href)).then(() => choices()[chosen]?.focus());
  });
  // The answer already says what is wrong: another page would say no more.
  form.addEventListener('submit', event => {
    const wrong = form.querySelector('[aria-invalid=true]');
    if (!wrong) return;
    event.preventDefault();
    wrong.focus();
  });
  form.addEventListener('change', ({target}) => { if ('groupsDigits' in form.dataset && target.inputMode === 'decimal') target.value = groupedDigits(target.value); });
  document.addEventListener('input', event => { if (event.target.form !== form) return; form.dataset.changed = event.target.name; schedule(); });
}
