// The query of the form, and its shortest address: webapp/register/drives/query.py in the browser.
import {limitParameters, readLimits} from '../your-limits.js';
import {escape} from '../parts.js';
import {plainNumber} from '../typed-numbers.js';
import {wordsOf} from './search.js';

export const THRESHOLD = '1ms';
export const INCLUDED = ['historical', 'withdrawn', 'superseded']; // kinds of rows that are hidden by default
const SEPARATOR = '~';
/** Mark a field whose text is not a number, and show below it what is expected. */
function showWrong(field, isWrong, expected) {
  field.setAttribute('aria-invalid', String(isWrong));
  const label = field.closest('label'), shown = label.querySelector('.wrong');
  if (isWrong && !shown) label.insertAdjacentHTML('beforeend', `<span class="wrong" role="alert">${escape(expected)}</span>`);
  if (!isWrong) shown?.remove();
}

function numbersOf(form, filters) {
  return filters.filter(({kind}) => kind !== 'choice').flatMap(({name, unit, places, largest, expected}) => {
    const field = form.elements[name], isEmpty = !field.value.trim();
    const plain = plainNumber(field.value, unit, places);
    const isRight = plain !== null && Number(plain) <= largest;
    showWrong(field, !isEmpty && !isRight, expected);
    return isRight ? [[name, plain]] : [];
  });
}

/** Return the ticked values of a name in the form. */
export const ticked = (form, name) => [...form.querySelectorAll(`input[type=checkbox][name="${name}"]:checked`)].map(({value}) => value);

/** Tick only these columns. */
export function tickColumns(form, codes) {
  for (const field of form.querySelectorAll('input[name=columns]')) field.checked = codes.includes(field.value);
}

// Return the ticked columns; none for the default ones, which an address leaves out.
function columnsOf(form, usual) {
  const chosen = ticked(form, 'columns');
  return chosen.join() === usual.join() ? [] : chosen;
}

/** Return the reader's load: the speed that the filters require, 0 for none. */
export const loadOf = (numbers, loads) => Math.max(0, ...numbers.filter(([name]) => loads.includes(name)).map(([, text]) => Number(text)));

const loadToDrive = load => load ? [['min_device_tps', String(Math.ceil(load))]] : [];

/** Read the query of the form. `view` has what the form has no fields for: sort and page. */
export function readForm(form, layout, view) {
  const {limits, wrong} = readLimits(form), ownLimits = limitParameters(form), numbers = numbersOf(form, layout.filters);
  const search = form.elements.q.value.trim().split(/\s+/).join(' ');
  return {
    limits, wrong, ownLimits, numbers, toDrive: [...loadToDrive(loadOf(numbers, layout.loads)), ...ownLimits],
    choices: layout.filters.filter(({kind}) => kind === 'choice').map(({name}) => [name, ticked(form, name)]).filter(([, codes]) => codes.length),
    search: wordsOf(search).length ? search : '',
    onlyWithin: ticked(form, 'within').length > 0,
    included: layout.included.filter(name => ticked(form, name).length),
    columns: columnsOf(form, layout.usual),
    ...view,
  };
}

const quoted = text => encodeURIComponent(text).replace(/[!'()*]/g, found => `%${found.charCodeAt(0).toString(16).toUpperCase()}`).replaceAll('%20', '+');

/** Return the address of a query, without defaults. */
export function addressOf({search, choices, numbers, ownLimits, onlyWithin, included, defaultSort, sort, columns, threshold, statistic, page}) {
  const order = `${sort.falls ? '-' : ''}${sort.code}`;
  const parameters = [
    ['q', search], ...choices.map(([name, codes]) => [name, codes.join(SEPARATOR)]), ...numbers, ...ownLimits,
    ['within', onlyWithin ? 'only' : ''], ...included.map(name => [name, 'include']),
    ['sort', order === defaultSort ? '' : order],
    ['columns', columns.join(SEPARATOR)], ['threshold', threshold === THRESHOLD ? '' : threshold], ['statistic', statistic], ['page', page > 1 ? String(page) : ''],
  ];
  return `?${parameters.filter(([, text]) => text).map(([name, text]) => `${quoted(name)}=${quoted(text)}`).join('&')}`;
}

/** Return the parameters of an address that the form has no fields for. `defaultSort` is the sort of an address without one. */
export function viewOf(parameters, defaultSort) {
  const sort = parameters.get('sort') || defaultSort;
  return {
    defaultSort,
    sort: {code: sort.replace(/^-/, ''), falls: sort.startsWith('-')},
    threshold: parameters.get('threshold') || THRESHOLD,
    statistic: parameters.get('statistic') ?? '',
    page: Number(parameters.get('page') || 1),
  };
}

/** Set the form to the query of an address; `usual` are the default columns. */
export function fillForm(form, parameters, usual) {
  const columns = parameters.getAll('columns').flatMap(text => text.split(SEPARATOR)).filter(Boolean);
  tickColumns(form, columns.length ? columns : usual);
  for (const field of form.elements) {
    const values = parameters.getAll(field.name).flatMap(text => text.split(SEPARATOR));
    if (field.type === 'checkbox' && field.name && field.name !== 'columns') field.checked = values.includes(field.value);
    if (field.type === 'text') field.value = parameters.get(field.name) ?? field.dataset.profile ?? '';
    if (field.type === 'search') field.value = parameters.get(field.name) ?? '';
    if (field.type === 'hidden' && field.name === 'sort') field.value = parameters.get('sort') ?? '';
  }
  const more = form.querySelector('[data-more]');
  if (more?.querySelector('input:checked') || [...more?.querySelectorAll('input[type=text]') ?? []].some(({value}) => value)) more.open = true;
}

/** Return the query without one filter, or with a kind of rows that is hidden by default. */
export function without(query, name) {
  if (INCLUDED.includes(name)) return {...query, page: 1, included: INCLUDED.filter(each => each === name || query.included.includes(each))};
  if (name === 'q') return {...query, page: 1, search: ''};
  if (name === 'within') return {...query, page: 1, onlyWithin: false};
  const left = pairs => pairs.filter(([each]) => each !== name);
  return {...query, page: 1, choices: left(query.choices), numbers: left(query.numbers)};
}

/** Return the query that hides no row, and is otherwise the same. */
export const withEverything = query => ({
  ...query, page: 1, choices: [], numbers: [], search: '', onlyWithin: false, included: INCLUDED,
});
