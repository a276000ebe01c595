// Forms that ask by GET and answer on the same page: the answer follows the fields, and the address follows the answer.
// Without script the button does the same.
const WAIT_MS = 250;

async function renew(form, signal) {
  const isAsked = ([name, value]) => value !== '' && value !== form.elements[name]?.dataset?.profile;
  const query = new URLSearchParams([...new FormData(form)].filter(isAsked));
  const address = `${location.pathname}?${query}`;
  const answer = await fetch(address, {signal, headers: {Accept: 'text/html'}});
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const places = [...document.querySelectorAll(form.dataset.answers)];
  showWrong(form, page);
  if (!answer.ok) {
    const first = document.querySelector(form.dataset.answers.split(',')[0]);
    const said = page.getElementById(first.id) ?? page.querySelector('.lede');
    first.textContent = said?.textContent.trim() ?? `The server answered ${answer.status}.`;
    return;
  }
  keepFocus(() => places.forEach(place => place.replaceChildren(...page.getElementById(place.id).childNodes)));
  const carrying = page.querySelectorAll('a[data-carries]'); // the limits of the answer go along with them
  document.querySelectorAll('a[data-carries]').forEach((link, place) => link.setAttribute('href', carrying[place].getAttribute('href')));
  keepInHistory(form, address);
}

// The fields that the answer marks as wrong are marked here, and no others.
function showWrong(form, page) {
  const wrong = new Set([...page.querySelectorAll('main [aria-invalid=true]')].map(({name}) => name));
  for (const field of form.elements) {
    if (wrong.has(field.name)) field.setAttribute('aria-invalid', 'true'); else field.removeAttribute('aria-invalid');
  }
  if (!wrong.size) form.querySelectorAll('.wrong').forEach(said => said.remove());
}

// Each change is a step that Back undoes; going on typing in one field is one step.
let lastChanged;
function keepInHistory(form, address) {
  const field = form.dataset.changed;
  const isNew = field !== lastChanged && address !== location.pathname + location.search;
  history[isNew ? 'pushState' : 'replaceState'](null, '', address);
  lastChanged = field;
  answered = address;
}
// A link to a place within the page is a step too, and asks nothing.
let answered = location.pathname + location.search;
if (document.querySelector('form[data-answers]')) addEventListener('popstate', () => {
  if (answered !== location.pathname + location.search) location.reload();
});

// A field inside the answer is renewed too: whoever types in it goes on typing in the new one.
function keepFocus(change) {
  const {id, selectionStart} = document.activeElement ?? {};
  change();
  const again = id && document.getElementById(id);
  if (again && again !== document.activeElement) {
    again.focus({preventScroll: true});
    if (again.type === 'text') again.setSelectionRange(selectionStart, selectionStart);
  }
}

for (const form of document.querySelectorAll('form[data-answers]')) {
  let timer, running;
  const ask = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running?.abort();
      running = new AbortController();
      renew(form, running.signal).catch(error => { if (error.name !== 'AbortError') form.submit(); });
    }, WAIT_MS);
  };
  document.addEventListener('input', event => { if (event.target.form !== form) return; form.dataset.changed = event.target.name; ask(); });
}
