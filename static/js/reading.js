// Pages of a log that the register reads: they load themselves again as soon as the result is there.
// A draft requests its state often, at a small address. A submission requests its own page, less often, and shows each
// attempt.
const DRAFT_PERIOD_MS = 250, SUBMISSION_PERIOD_MS = 2000;
const draft = document.querySelector('[data-state]'), submission = document.querySelector('[data-reading]');

const isRead = {
  async draft() {
    const response = await fetch(draft.dataset.state);
    return (await response.json()).is_finished;
  },
  async submission() {
    const response = await fetch(location.href, {headers: {Accept: 'text/html'}});
    if (response.status >= 500) return false;  // the next turn repeats the request
    const shown = new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('[data-reading]');
    if (shown && shown.textContent !== submission.textContent) submission.replaceChildren(...shown.childNodes);
    return !shown;  // read; after a sign-out the server's own page explains what to do
  },
};

// What a person has typed on the page stays: that person reloads the page.
const hasTyped = () => [...document.querySelectorAll('main :is(input, textarea)')].some(field => field.value !== field.defaultValue);

function showResult() {
  if (!hasTyped()) return location.reload();
  const link = Object.assign(document.createElement('a'), {href: location.href, textContent: 'Reload this page'});
  (draft ?? submission).replaceChildren('The register has read the log. ', link, '. What you typed on this page is not saved yet.');
}

async function poll(kind, periodMs) {
  const isDone = !document.hidden && await isRead[kind]().catch(() => false);
  if (isDone) showResult();
  else setTimeout(poll, periodMs, kind, periodMs);
}

if (draft) poll('draft', DRAFT_PERIOD_MS);
if (submission) poll('submission', SUBMISSION_PERIOD_MS);
