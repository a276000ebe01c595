// Try your log: sends the form without leaving the page, so that the chosen files stay chosen for another slice length
// and after an error. Without this script the browser loads the result and forgets the files. No file is sent twice: after a
// broken connection, the reader decides.
const main = document.getElementById('main');

const BROKEN = 'The connection broke before the result came. The register stored nothing. Check your connection, then choose Read the log again.';

async function send(form, body) {
  const response = await fetch(form.action, {method: 'POST', body, headers: {Accept: 'text/html'}}).catch(() => null);
  const text = await response?.text().catch(() => null);
  if (typeof text !== 'string') return BROKEN;
  const page = new DOMParser().parseFromString(text, 'text/html');
  const next = page.querySelector('#main form.trial');
  if (!next) return `The server responded with status ${response.status} and without a result. Wait a minute, then choose Read the log again.`;
  const {value} = next.elements.slice_length_s;
  if (value) form.elements.slice_length_s.value = value;
  next.dataset.next = '';
  main.replaceChildren(...page.getElementById('main').childNodes);
  main.querySelector('[data-next]').replaceWith(form);
  document.title = page.title;
  const heading = main.querySelector('h1');
  heading.tabIndex = -1;
  heading.focus();
  scrollTo(0, 0);
  return '';
}

function showFault(form, fault) {
  form.querySelector('[role=alert]')?.remove();
  if (!fault) return;
  const note = Object.assign(document.createElement('p'), {role: 'alert', innerHTML: '<span class="fail">not read</span> '});
  note.append(fault);
  form.append(note);
}

main.addEventListener('submit', async event => {
  const form = event.target, button = event.submitter ?? form.querySelector('button');
  if (!form.matches('.trial')) return;
  event.preventDefault();
  if (button.disabled) return;
  const {textContent} = button, body = new FormData(form);
  if (button.name) body.set(button.name, button.value);
  button.disabled = true;
  button.textContent = 'Reading the log';
  showFault(form, '');
  showFault(form, await send(form, body));
  button.disabled = false;
  button.textContent = textContent;
});
