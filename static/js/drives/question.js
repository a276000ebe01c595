// What the form asks, and the shortest address that asks the same: webapp/register/drives/query.py in the browser.
import {limitParameters, readLimits} from '../your-limits.js';
import {wordsOf} from './search.js';

const SEPARATOR = '~';
const PLAIN = /^\d{1,13}(\.\d{1,4})?$/, PERCENTAGE = /^\d{1,3}(\.\d{1,9})?$/;

const GROUPED = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$|^\d{1,3}(?:\s\d{3})+(?:\.\d+)?$/;
const ungrouped = text => GROUPED.test(text) ? text.replace(/[,\s]/g, '') : text;

const shortest = text => {
  const [whole, places = ''] = text.split('.');
  const kept = places.replace(/0+$/, '');
  return (whole.replace(/^0+(?=\d)/, '')) + (kept ? `.${kept}` : '');
};

function numbersOf(form, filters) {
  return filters.filter(({kind}) => kind !== 'choice').flatMap(({name, kind}) => {
    const field = form.elements[name];
    const text = ungrouped(field.value.trim());
    const isRight = !text || (kind === 'most' ? PERCENTAGE.test(text) && Number(text) <= 100 : PLAIN.test(text));
    field.setAttribute('aria-invalid', String(!isRight));
    return text && isRight ? [[name, shortest(text)]] : [];
  });
}

/** The values of a name that are ticked in the form. */
export const ticked = (form, name) => [...form.querySelectorAll(`input[type=checkbox][name="${name}"]:checked`)].map(({value}) => value);

/** Tick these columns and no other. */
export function tickColumns(form, codes) {
  for (const field of form.querySelectorAll('input[name=columns]')) field.checked = codes.includes(field.value);
}

// The columns that are ticked; none where they are the usual ones, which an address does not name.
function columnsOf(form, usual) {
  const chosen = ticked(form, 'columns');
  return chosen.join() === usual.join() ? [] : chosen;
}

/** What the form asks. `view` holds what it has no fields for: sort and page. */
export function readForm(form, told, view) {
  const {limits, wrong} = readLimits(form);
  const query = form.elements.q.value.trim().split(/\s+/).join(' ');
  return {
    limits, wrong, ownLimits: limitParameters(form),
    choices: told.filters.filter(({kind}) => kind === 'choice').map(({name}) => [name, ticked(form, name)]).filter(([, codes]) => codes.length),
    numbers: numbersOf(form, told.filters),
    query: wordsOf(query).length ? query : '',
    onlyWithin: ticked(form, 'within').length > 0,
    included: told.included.filter(name => ticked(form, name).length),
    columns: columnsOf(form, told.usual),
    ...view,
  };
}

const quoted = text => encodeURIComponent(text).replace(/[!'()*]/g, found => `%${found.charCodeAt(0).toString(16).toUpperCase()}`).replaceAll('%20', '+');

/** The address of a question: what is not asked is left out. */
export function addressOf({query, choices, numbers, ownLimits, onlyWithin, included, sort, columns, page}) {
  const parameters = [
    ['q', query], ...choices.map(([name, codes]) => [name, codes.join(SEPARATOR)]), ...numbers, ...ownLimits,
    ['within', onlyWithin ? 'only' : ''], ...included.map(name => [name, 'include']),
    ['sort', sort.code === 'tps' && sort.falls ? '' : `${sort.falls ? '-' : ''}${sort.code}`],
    ['columns', columns.join(SEPARATOR)], ['page', page > 1 ? String(page) : ''],
  ];
  return `?${parameters.filter(([, text]) => text).map(([name, text]) => `${quoted(name)}=${quoted(text)}`).join('&')}`;
}

/** What an address holds that the form has no field for. */
export function viewOf(parameters) {
  const sort = parameters.get('sort') || '-tps';
  return {
    sort: {code: sort.replace(/^-/, ''), falls: sort.startsWith('-')},
    page: Number(parameters.get('page') || 1),
  };
}

/** Set the form to what an address asks; `usual` are the columns of one that names none. */
export function fillForm(form, parameters, usual) {
  const columns = parameters.getAll('columns').flatMap(text => text.split(SEPARATOR)).filter(Boolean);
  tickColumns(form, columns.length ? columns : usual);
  for (const field of form.elements) {
    const asked = parameters.getAll(field.name).flatMap(text => text.split(SEPARATOR));
    if (field.type === 'checkbox' && field.name && field.name !== 'columns') field.checked = asked.includes(field.value);
    if (field.type === 'text') field.value = parameters.get(field.name) ?? field.dataset.profile ?? '';
    if (field.type === 'search') field.value = parameters.get(field.name) ?? '';
    if (field.type === 'hidden' && field.name === 'sort') field.value = parameters.get('sort') ?? '';
  }
}

/** The question that lifts one filter, or includes what is left out by itself. */
export function without(question, name) {
  const included = {historical: 1, withdrawn: 1, superseded: 1}[name];
  if (included) return {...question, page: 1, included: ['historical', 'withdrawn', 'superseded'].filter(each => each === name || question.included.includes(each))};
  if (name === 'q') return {...question, page: 1, query: ''};
  if (name === 'within') return {...question, page: 1, onlyWithin: false};
  const left = pairs => pairs.filter(([each]) => each !== name);
  return {...question, page: 1, choices: left(question.choices), numbers: left(question.numbers)};
}

/** The question that leaves no row out, and asks the same else. */
export const withEverything = question => ({
  ...question, page: 1, choices: [], numbers: [], query: '', onlyWithin: false, included: ['historical', 'withdrawn', 'superseded'],
});
