// Readings of charts by keyboard: a chart is one tab stop, arrow keys move between its marks, and each mark is read aloud.
// The charts are complete without this script; the pointer shows the same words.
import {edgeSentence} from './explored.js';

const STEPS = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1};

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
  const last = marks.length - 1;
  const select = (place, before = '') => {
    marks[now]?.classList.remove('on');
    now = place;
    marks[now]?.classList.add('on');
    status.textContent = now < 0 ? '' : before + marks[now].querySelector('title').textContent;
  };
  chart.addEventListener('keydown', event => {
    const wanted = event.key in STEPS ? now < 0 ? 0 : now + STEPS[event.key] : {Home: 0, End: last}[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    select(Math.min(Math.max(wanted, 0), last), edgeSentence(wanted, last));
  });
  chart.addEventListener('blur', () => select(-1));
}

document.querySelectorAll('svg[data-readings]').forEach(listen);
