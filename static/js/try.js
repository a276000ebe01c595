// Try your log: sends the form without leaving the page, so that the chosen files stay chosen for another slice length
// and after an error. Without this script the browser loads the result and forgets the files.
const main = document.getElementById('main');

async function send(form) {
  const response = await fetch(form.action, {method: 'POST', body: new FormData(form), headers: {Accept: 'text/html'}});
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const next = page.querySelector('#main form.trial');
  if (!next) throw new Error(`expected a page with the form, got status ${response.status}`);
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
}

main.addEventListener('submit', async event => {
  const form = event.target, button = form.querySelector('button');
  if (!form.matches('.trial')) return;
  event.preventDefault();
  if (button.disabled) return;
  const {textContent} = button;
  button.disabled = true;
  button.textContent = 'Reading the log';
  try {
    await send(form);
  } catch { // the browser sends the form itself and shows what it receives
    form.submit();
  } finally {
    button.disabled = false;
    button.textContent = textContent;
  }
});
