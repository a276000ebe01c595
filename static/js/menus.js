// Menus of forms (details.pick): closed by Escape, by a click or the focus outside, and when another one opens.
// Without this script they open and close by their summary; `name` on them closes the others.
const openMenus = () => document.querySelectorAll('details.pick[open]');
const closeOthers = element => openMenus().forEach(menu => { if (!menu.contains(element)) menu.open = false; });

document.addEventListener('keydown', event => {
  if (event.key !== 'Escape') return;
  const menu = document.activeElement?.closest('details.pick[open]') ?? openMenus()[0];
  if (!menu) return;
  event.preventDefault();
  menu.open = false;
  menu.querySelector('summary').focus();
});
document.addEventListener('click', ({target}) => closeOthers(target));
document.addEventListener('focusin', ({target}) => closeOthers(target));
/** Move the options of a menu to the left as far as they would leave the window. */
function moveIntoWindow(options) {
  options.style.left = '';
  const beyondPx = options.getBoundingClientRect().right - document.documentElement.clientWidth;
  if (beyondPx > 0) options.style.left = `${-Math.ceil(beyondPx)}px`;
}

document.addEventListener('toggle', ({target}) => { // does not bubble
  if (!target.matches?.('details.pick') || !target.open) return;
  closeOthers(target);
  moveIntoWindow(target.querySelector(':scope > div'));
}, true);
