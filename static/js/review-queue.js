// Keys of the review. In the queue: j and k move between submissions, x chooses the focused one, Enter opens it. On the
// page of a submission: n opens the next one, and a key of data-key focuses the control of a decision; Enter or Space
// then makes it. No key decides by itself. Without this script, Tab and the links do the same.
const links = [...document.querySelectorAll('[data-queue] th a')];

const move = step => {
  const place = links.indexOf(document.activeElement);
  links[place < 0 ? 0 : Math.min(Math.max(place + step, 0), links.length - 1)].focus();
};

const choose = () => {
  const box = document.activeElement.closest('[data-queue] tr')?.querySelector('input[type=checkbox]');
  if (box) box.checked = !box.checked;
};

const focusControl = part => {
  if (part.matches('details')) part.open = true;
  const control = part.matches('button') ? part : part.querySelector('select, textarea, input:not([type=hidden])');
  control?.focus();
};

document.addEventListener('keydown', event => {
  const {key, target, altKey, ctrlKey, metaKey} = event;
  if (altKey || ctrlKey || metaKey || target.closest('input:not([type=checkbox]), textarea, select')) return;
  const part = /^[a-z]$/.test(key) && document.querySelector(`[data-key="${key}"]`);
  if (key === 'n') document.querySelector('[data-next-in-queue]')?.click();
  else if (key === 'j' && links.length) move(1);
  else if (key === 'k' && links.length) move(-1);
  else if (key === 'x' && links.length) choose();
  else if (part) focusControl(part);
  else return;
  event.preventDefault();
});
