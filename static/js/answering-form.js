// Forms that ask by GET and answer on the same page: the answer follows the fields, and the address follows the answer.
// Without script the button does the same.
const WAIT_MS = 250;

async function renew(form, signal) {
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ''));
  const address = `${location.pathname}?${query}`;
  const answer = await fetch(address, {signal, headers: {Accept: 'text/html'}});
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const places = [...document.querySelectorAll(form.dataset.answers)];
  if (!answer.ok) {
    places[0].textContent = page.querySelector('.lede')?.textContent ?? `The server answered ${answer.status}.`;
    return;
  }
  keepFocus(() => places.forEach(place => place.replaceChildren(...page.getElementById(place.id).childNodes)));
  history.replaceState(null, '', address);
}

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
  document.addEventListener('input', event => { if (event.target.form === form) ask(); });
}
