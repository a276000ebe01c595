// Marks of drives and runs in a picture: one tab stop, between whose marks the arrow keys move, by place from left to right.
// Without this script the first mark of each picture can be reached by Tab, and all of them by a pointer.

const marksOf = picture => [...picture.querySelectorAll('a')].sort((one, other) => one.dataset.place - other.dataset.place);

/** Return the mark that a key leads to from the one at `place` of `count`; undefined for a key without a meaning. */
export function nextPlace(key, place, count) {
  const last = count - 1;
  return {ArrowRight: Math.min(place + 1, last), ArrowLeft: Math.max(place - 1, 0), Home: 0, End: last}[key];
}

function move(event) {
  const mark = event.target.closest?.('svg[data-marks] a');
  if (!mark || event.altKey || event.ctrlKey || event.metaKey) return;
  const marks = marksOf(mark.closest('svg')), next = marks[nextPlace(event.key, marks.indexOf(mark), marks.length)];
  if (!next) return;
  event.preventDefault();
  marks.forEach(each => each.setAttribute('tabindex', each === next ? '0' : '-1'));
  next.focus();
}

if (typeof document !== 'undefined') document.addEventListener('keydown', move);
