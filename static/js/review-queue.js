// Keys of the review queue: j and k move between submissions, Enter opens the focused link, n opens the next
// submission from the page of one. Without this script, Tab and the links do the same.
const links = [...document.querySelectorAll('[data-queue] th a')];
document.addEventListener('keydown', event => {
  const {key, target, altKey, ctrlKey, metaKey} = event;
  if (altKey || ctrlKey || metaKey || target.closest('input, textarea, select')) return;
  if (key === 'n') document.querySelector('[data-next-in-queue]')?.click();
  if ((key !== 'j' && key !== 'k') || !links.length) return;
  const place = links.indexOf(document.activeElement), step = key === 'j' ? 1 : -1;
  links[place < 0 ? 0 : Math.min(Math.max(place + step, 0), links.length - 1)].focus();
  event.preventDefault();
});
