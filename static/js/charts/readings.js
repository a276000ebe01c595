// Readings of charts by keyboard: a chart is one tab stop, arrow keys move between its marks, and each mark is read aloud.
// The charts are complete without this script; the pointer shows the same words.

function markOf(marks, now, key) {
  const last = marks.length - 1;
  return {ArrowRight: Math.min(now + 1, last), ArrowDown: Math.min(now + 1, last), ArrowLeft: Math.max(now - 1, 0),
    ArrowUp: Math.max(now - 1, 0), Home: 0, End: last}[key];
}

function listen(chart) {
  const marks = [...chart.querySelectorAll('.mark')];
  if (!marks.length) return;
  const status = document.createElement('p');
  status.className = 'reading';
  status.setAttribute('aria-live', 'polite');
  (chart.closest('.plotbox') ?? chart).after(status);
  chart.setAttribute('role', 'group');
  chart.setAttribute('aria-label', `${chart.getAttribute('aria-label')} Arrow keys read its values.`);
  chart.setAttribute('tabindex', '0');
  let now = -1;
  const select = place => {
    marks[now]?.classList.remove('on');
    now = place;
    marks[now]?.classList.add('on');
    status.textContent = marks[now]?.querySelector('title').textContent ?? '';
  };
  chart.addEventListener('keydown', event => {
    const place = markOf(marks, now, event.key);
    if (place === undefined) return;
    event.preventDefault();
    select(place);
  });
  chart.addEventListener('blur', () => select(-1));
}

document.querySelectorAll('svg[data-readings]').forEach(listen);
