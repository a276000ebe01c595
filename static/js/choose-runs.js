// Runs selected in tables: remembered while rows are redrawn, counted, and sent to the comparison page.
// Without this script the boxes and the button are a plain form.
const bar = document.querySelector('form[data-chosen]');
const most = Number(bar?.dataset.chosen), fewest = Number(bar?.dataset.fewest);
const chosen = new Map(); // run -> name
const boxes = () => document.querySelectorAll(`input[name=run][form="${bar?.id}"]`);
const nameOf = box => box.getAttribute('aria-label').replace(/^Compare /, '');
const part = name => bar.querySelector(`[data-${name}]`);

// The next Tab stop after the box that was changed last, because the bar follows the whole table. Only the focus shows it.
const nearby = Object.assign(document.createElement('a'), {className: 'also nearby', href: `#${bar?.id}`});
nearby.addEventListener('click', event => {
  event.preventDefault();
  bar.requestSubmit();
});

function show(sentence) {
  const names = [...chosen.values()];
  bar.classList.toggle('on', names.length > 0);
  for (const each of [part('do'), nearby]) each.textContent = names.length < fewest ? 'Compare selected' : `Compare ${names.length}`;
  if (!names.length) nearby.remove();
  part('none').hidden = names.length === 0;
  part('status').textContent = sentence ?? (names.length ? `Selected: ${names.join('; ')}.` : part('status').dataset.first);
}

function take(box) {
  if (!box.checked) chosen.delete(box.value);
  else if (chosen.size < most) chosen.set(box.value, nameOf(box));
  else {
    box.checked = false;
    return show(`At most ${most} runs can be compared. Clear one first.`);
  }
  return show();
}

/** Tick the selected runs in redrawn rows. */
export function tickAgain() {
  for (const box of boxes()) box.checked = chosen.has(box.value);
}

if (bar) {
  part('status').dataset.first = part('status').textContent;
  document.addEventListener('change', ({target}) => {
    if (!target.matches?.('input[name=run]') || target.form !== bar) return;
    target.after(nearby);
    take(target);
  });
  document.addEventListener('answers-replaced', tickAgain); // live-form.js has redrawn the rows
  part('none').addEventListener('click', () => {
    chosen.clear();
    tickAgain();
    show();
    part('do').focus();
  });
  bar.addEventListener('submit', event => { // selected runs of other pages have no box here
    event.preventDefault();
    if (chosen.size < fewest) return show(`${chosen.size ? 'One run is' : 'No run is'} selected. Tick ${fewest} to ${most} runs in the table, then press Compare.`);
    const query = new URLSearchParams([...chosen.keys()].map(run => ['run', run]));
    for (const {name, value} of bar.querySelectorAll('[data-carried] input')) query.append(name, value);
    return location.assign(`${bar.action}?${query}`);
  });
  const before = [...boxes()].filter(({checked}) => checked); // restored by the browser
  before.forEach(take);
}
