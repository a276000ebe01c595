// Pages of a log that the register reads: they load themselves again as soon as the result is there.
// A draft requests its state often, at a small address. A submission requests its own page, less often, and shows each
// attempt.
const DRAFT_PERIOD_MS = 250, SUBMISSION_PERIOD_MS = 2000;
const draft = document.querySelector('[data-state]'), submission = document.querySelector('[data-reading]');

const isRead = {
  async draft() {
    const response = await fetch(draft.dataset.state);
    if (response.status >= 500 || response.status === 429) return false;  // a later turn repeats the request
    // After a sign-out, or if the draft was deleted elsewhere, the server's own page explains what to do.
    return !response.ok || (await response.json()).is_finished;
  },
  async submission() {
    const response = await fetch(location.href, {headers: {Accept: 'text/html'}});
    if (response.status >= 500 || response.status === 429) return false;
    const shown = new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('[data-reading]');
    if (shown && shown.textContent !== submission.textContent) submission.replaceChildren(...shown.childNodes);
    return !shown;  // read; after a sign-out the server's own page explains what to do
  },
};

// What a person has entered on the page stays: that person reloads the page.
// The value of a box never changes, and without an attribute it differs from its default.
const isEntered = field => ['checkbox', 'radio'].includes(field.type)
  ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
// Without a default, a browser selects the first option.
const isChosen = menu => menu.selectedIndex !== Math.max(0, [...menu.options].findLastIndex(option => option.defaultSelected));
const hasEntries = () => [...document.querySelectorAll('main :is(input, textarea)')].some(isEntered)
  || [...document.querySelectorAll('main select:not([multiple])')].some(isChosen);

function showResult() {
  if (!hasEntries()) return location.reload();
  const link = Object.assign(document.createElement('a'), {href: location.href, textContent: 'Reload this page'});
  (draft ?? submission).replaceChildren('The register has read the log. ', link, '. What you entered on this page is not saved yet.');
}

async function poll(kind, periodMs) {
  const isDone = !document.hidden && await isRead[kind]().catch(() => false);
  if (isDone) showResult();
  else setTimeout(poll, periodMs, kind, periodMs);
}

if (draft) poll('draft', DRAFT_PERIOD_MS);
if (submission) poll('submission', SUBMISSION_PERIOD_MS);
