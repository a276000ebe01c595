// Runs ticked in tables: kept while rows are drawn anew, counted, and sent to the page that sets them side by side.
// Without this script the boxes and the button are a plain form.
const bar = document.querySelector('form[data-chosen]');
const most = Number(bar?.dataset.chosen), fewest = Number(bar?.dataset.fewest);
const chosen = new Map(); // run -> what it is called
const boxes = () => document.querySelectorAll(`input[name=run][form="${bar?.id}"]`);
const nameOf = box => box.getAttribute('aria-label').replace(/^Compare /, '');
const part = name => bar.querySelector(`[data-${name}]`);

function show(sentence) {
  const names = [...chosen.values()];
  bar.classList.toggle('on', names.length > 0);
  part('do').textContent = names.length < fewest ? 'Compare selected' : `Compare ${names.length}`;
  part('none').hidden = names.length === 0;
  part('said').textContent = sentence ?? (names.length ? `Chosen: ${names.join('; ')}.` : part('said').dataset.first);
}

function take(box) {
  if (!box.checked) chosen.delete(box.value);
  else if (chosen.size < most) chosen.set(box.value, nameOf(box));
  else {
    box.checked = false;
    return show(`At most ${most} are compared: untick one first.`);
  }
  return show();
}

/** Tick what was chosen in rows that have been drawn anew. */
export function tickAgain() {
  for (const box of boxes()) box.checked = chosen.has(box.value);
}

if (bar) {
  part('said').dataset.first = part('said').textContent;
  document.addEventListener('change', ({target}) => {
    if (target.matches?.('input[name=run]') && target.form === bar) take(target);
  });
  part('none').addEventListener('click', () => {
    chosen.clear();
    tickAgain();
    show();
    part('do').focus();
  });
  bar.addEventListener('submit', event => { // rows of other pages are chosen too, and have no box here
    event.preventDefault();
    if (chosen.size < fewest) return show(`Tick ${fewest} at least.`);
    const asked = new URLSearchParams([...chosen.keys()].map(run => ['run', run]));
    for (const {name, value} of bar.querySelectorAll('[data-carried] input')) asked.append(name, value);
    return location.assign(`${bar.action}?${asked}`);
  });
  const before = [...boxes()].filter(({checked}) => checked); // as a browser restores them
  before.forEach(take);
}
