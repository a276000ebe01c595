// Your limits: compares every share on the page with the limits in the form, by the rules of limits.js.
// Without this script the server returns the same page after "Apply".
import {billionths, isCountWithin} from './limits.js';
import {escape, fill} from './parts.js';
import {plainNumber} from './typed-numbers.js';

const TRACK = 44; // units of the track; webapp/register/tables/marks.py draws the same
const STRONG_FROM = 0.9; // of the limit

const percentage = text => plainNumber(text, '%', 9);
// The limit in a field, in digits; null for text that is not a number.
const limitOf = field => percentage(field.value.trim() || field.dataset.profile);

/** Return the limits of a form (threshold in us as text -> limit as text), and in `wrong` the fields without a percentage. */
export function readLimits(form) {
  const limits = new Map(), wrong = [];
  for (const field of form.querySelectorAll('input[data-threshold]')) {
    const text = limitOf(field), isRight = text !== null && Number(text) <= 100;
    field.setAttribute('aria-invalid', String(!isRight));
    if (isRight) limits.set(field.dataset.threshold, text); else wrong.push(field);
  }
  return {limits, wrong};
}

/** Return the parameters of the limits that differ from the profile's, without trailing zeros. */
export function limitParameters(form) {
  return [...form.querySelectorAll('input[data-threshold]')]
    .map(field => [field.name, limitOf(field), percentage(field.dataset.profile)])
    .filter(([, text, profile]) => text !== profile).map(([name, text]) => [name, text]);
}

/** Let the links and forms that the limits go along by ask for those of this form: as webapp/templatetags/pages.py. */
export function carryLimits(form) {
  const names = [...form.querySelectorAll('input[data-threshold]')].map(({name}) => name), own = limitParameters(form);
  for (const link of document.querySelectorAll('a[data-carries]')) {
    const {pathname, searchParams, hash} = new URL(link.href);
    names.forEach(name => searchParams.delete(name));
    own.forEach(([name, text]) => searchParams.set(name, text));
    link.setAttribute('href', `${pathname}${searchParams.size ? `?${searchParams}` : ''}${hash}`);
  }
  for (const place of document.querySelectorAll('[data-carried]')) {
    place.replaceChildren(...own.map(([name, value]) => Object.assign(document.createElement('input'), {type: 'hidden', name, value})));
  }
}

/** Return whether a share is over a limit: by its counts if a log is stored, otherwise by the digits. */
const isOver = ({share, over, ops}, limit) =>
  over !== undefined && ops !== undefined ? !isCountWithin(over, ops, limit) : billionths(share) > billionths(limit);

/** Return the mark of a share: a track that ends at its limit, filled up to the share, with an open box if it is over. Both are in billionths of a percent. */
function nearness(share, limit, over) {
  const ratio = limit ? share / limit : 2 * Number(share > 0), filled = Math.min(ratio, 1) * TRACK;
  return fill('near', {
    fill_html: filled >= 0.05 ? fill('near-fill', {strength: over || ratio >= STRONG_FROM ? 'strong' : 'fill', width: filled.toFixed(1)}) : '',
    beyond_html: over ? fill('near-beyond') : '',
  });
}

/** Return a share as HTML, framed if it is over its limit. `printed` are its digits, `padding` the blanks after them; without a limit it has no mark. */
export function shareHtml(printed, padding, share, limit, over) {
  return (over ? fill('over', {digits: printed}) : escape(printed)) + padding + (limit === undefined ? '' : nearness(share, limit, over));
}

function fillShare(cell, {printed, padding = '', share, over, ops}, limit) {
  cell.innerHTML = limit === undefined ? escape(printed + padding)
    : shareHtml(printed, padding, billionths(share), billionths(limit), isOver({share, over, ops}, limit));
}

/** Mark every share below `root` again; cells have their threshold, share and digits in data attributes. */
function markAll(root, limits) {
  for (const cell of root.querySelectorAll('[data-share][data-threshold]')) {
    fillShare(cell, cell.dataset, limits.get(cell.dataset.threshold));
  }
  for (const head of root.querySelectorAll('[data-limit-of]')) {
    const limit = limits.get(head.dataset.limitOf);
    if (limit !== undefined) head.textContent = `limit ${limit}\u00a0%`;
  }
}

/** Update marks, address and sentence while the reader types. On a product's page the server's answer follows a moment later. */
function improve(form) {
  if (form.dataset.answers && form.dataset.marksFirst === undefined) return; // updated by live-form.js alone
  const apply = () => {
    const {limits, wrong} = readLimits(form);
    if (wrong.length) return;
    markAll(document, limits);
    const query = new URLSearchParams(location.search);
    for (const field of form.querySelectorAll('input[data-threshold]')) query.delete(field.name);
    for (const [name, text] of limitParameters(form)) query.set(name, text);
    history.replaceState(history.state, '', `${location.pathname}${query.size ? `?${query}` : ''}${location.hash}`);
    document.querySelectorAll('[data-profile-limits]').forEach(line => { line.hidden = !limitParameters(form).length; });
    carryLimits(form);
    const rows = [...document.querySelectorAll('table:not(.mini) tr:has([data-share])')];
    const within = rows.filter(row => !row.querySelector('.over')).length;
    for (const line of form.querySelectorAll('[data-changes]')) {
      line.textContent = `${within} of ${rows.length} rows have no share over these limits.`;
    }
  };
  form.addEventListener('input', apply);
  if (!form.dataset.answers) addEventListener('popstate', apply); // Back from a chart to explore keeps the limits
}

if (typeof document !== 'undefined') document.querySelectorAll('form[data-your-limits]').forEach(improve);
