// The reader's own prices of drives: stored in this browser, never sent. Fills every cell with data-price, and the price
// list.
// The server writes the cells without figures, and hides them, because they need this script.
import {cheapestText, FIGURES, figureLines, figureText, lowestText, WORDS} from './price-figures.js';
import {ungrouped} from './typed-numbers.js';

const KEY = 'drivecert.prices', COLUMN_KEY = 'drivecert.prices.column', CURRENCY_KEY = 'drivecert.prices.currency';
const SLUG = /^[a-z0-9_-]{1,120}$/, PRICE = /^\d{1,9}(\.\d{1,4})?$/;
const SIGN = String.raw`(\p{Sc}|[A-Z]{3})?`, SIGNED = new RegExp(String.raw`^${SIGN}\s*(.*?)\s*${SIGN}$`, 'iu');
const TWO_MEANINGS = /^([1-9]\d{0,2})\.(\d{3})$/; // 1.450 is 1,450 in some languages
const CURRENCY_MAX = 8;

const stored = key => { try { return localStorage.getItem(key) ?? ''; } catch { return ''; } };
const store = (key, text) => { try { localStorage.setItem(key, text); return true; } catch { return false; } };

/** Return a typed price: plain digits, or null with the problem, and the currency sign before or after it. */
export function typedPrice(text) {
  const [, before = '', number, after = ''] = SIGNED.exec(text.trim()) ?? [];
  const digits = ungrouped(number ?? ''), currency = before || after;
  if (TWO_MEANINGS.test(digits)) {
    const [whole, plain] = [digits.replace('.', ''), String(Number(digits))];
    return {price: null, currency, problem: `"${text.trim()}" has two meanings. Type ${whole} or ${plain}.`};
  }
  if (PRICE.test(digits) && Number(digits) > 0 && !(before && after)) return {price: digits.replace(/\.0+$/, ''), currency, problem: ''};
  return {price: null, currency, problem: `"${text.trim()}" is not a price. Type digits, for example 1,250.50.`};
}

/** Return the currency of a text: no separators of a CSV file, and no control characters. */
export const currencyOf = text => text.replace(/[\p{C}",;]/gu, '').trim().slice(0, CURRENCY_MAX);

/** Return a price list from CSV (product, price, currency; a head is optional), and the number of the first wrong line or 0. */
export function readList(text) {
  const prices = new Map();
  for (const [place, line] of text.split(/\r?\n/).entries()) {
    if (!line.trim() || (place === 0 && /^\s*product\s*,/i.test(line))) continue;
    const [slug = '', ...rest] = line.split(',').map(part => part.trim().replace(/^"(.*)"$/, '$1'));
    const {price, currency} = typedPrice(rest[0] ?? '');
    if (!SLUG.test(slug) || price === null || rest.length > 2) return {prices, wrongLine: place + 1};
    prices.set(slug, {price, currency: currencyOf(rest[1] || currency)});
  }
  return {prices, wrongLine: 0};
}

/** Return a price list as CSV. */
export const writeList = prices => ['product,price,currency',
  ...[...prices].sort(([a], [b]) => a < b ? -1 : 1).map(([slug, {price, currency}]) => `${slug},${price},${currency}`), ''].join('\n');

const panel = globalThis.document?.querySelector('[data-prices]');
const part = name => panel.querySelector(`[data-price-${name}]`);
let prices = new Map();
const unreadable = new Map(); // by product: {text, problem} of a field as typed, until it is a price

function save(message) {
  const isStored = store(KEY, writeList(prices));
  part('message').textContent = isStored
    ? message : 'This browser does not store prices. They are lost when you leave the page.';
  show();
}

function changed(event) {
  const {target: input} = event, cell = input.closest('[data-price]');
  if (!cell || input.type !== 'text') return;
  const {price: slug, name} = cell.dataset, {price, currency, problem} = typedPrice(input.value);
  const isWrong = input.value.trim() !== '' && price === null;
  if (isWrong) unreadable.set(slug, {text: input.value, problem}); else unreadable.delete(slug);
  if (price === null) prices.delete(slug); else prices.set(slug, {price, currency: currencyOf(currency || part('currency').value)});
  document.querySelectorAll('th[data-price-added]').forEach(head => head.removeAttribute('aria-sort')); // rows stay, also while typing
  save(isWrong ? `${name}: ${problem}` : '');
}

// The text of a field stays while the reader types in it, and while the text is not a price.
let fieldsMade = 0;
function showField(cell, entry) {
  if (!cell.firstElementChild) {
    cell.replaceChildren(part('field').content.cloneNode(true));
    cell.firstElementChild.setAttribute('aria-label', `Price of one ${cell.dataset.name}`);
    cell.lastElementChild.id = `price-problem-${fieldsMade += 1}`;
  }
  const [input, currency, problem] = cell.children, wrong = unreadable.get(cell.dataset.price);
  if (input !== document.activeElement) input.value = entry?.price ?? wrong?.text ?? '';
  currency.textContent = entry?.currency ?? '';
  input.setAttribute('aria-invalid', String(Boolean(wrong)));
  if (wrong) input.setAttribute('aria-describedby', problem.id); else input.removeAttribute('aria-describedby');
  problem.hidden = !wrong;
  problem.textContent = wrong?.problem ?? '';
}

function showCell(cell) {
  const entry = prices.get(cell.dataset.price);
  if (cell.dataset.shows === 'field') return showField(cell, entry);
  if (cell.dataset.shows === 'both') return showLines(cell, figureLines(entry, cell.dataset));
  const text = figureText(entry, cell.dataset.shows, cell.dataset);
  if (textOf(cell) !== text) cell.textContent = text;
  return undefined;
}

/** Return the text of a figure without its mark. */
const textOf = place => place.firstChild?.nodeType === Node.TEXT_NODE ? place.firstChild.data : '';

function showLines(cell, lines) {
  if (cell.children.length !== lines.length || lines.some(([, text], number) => textOf(cell.children[number]) !== text)) {
    cell.replaceChildren(...lines.map(([shows, text]) => {
      const line = Object.assign(document.createElement('span'), {textContent: text});
      line.dataset.priceFigure = shows;
      return line;
    }));
  }
}

function show() {
  for (const cell of document.querySelectorAll('[data-price]')) { showCell(cell); cell.hidden = false; }
  for (const cell of document.querySelectorAll('[data-price-shown]')) cell.hidden = false;
  document.querySelectorAll('table.runs:has([data-price-added]) > tbody, .own-prices > tbody').forEach(markLowest);
  showCheapest();
  showLowest();
  const list = part('list');
  if (list !== document.activeElement) list.value = writeList(prices);
}

function showCheapest() {
  const place = document.querySelector('[data-price-cheapest]');
  if (!place) return;
  // Only the first group: sizes of two comparison groups do not compare.
  const {group} = document.querySelector('tbody[data-group]').dataset; // its last rows are in the folded table
  const cells = document.querySelectorAll(`tbody[data-group="${CSS.escape(group)}"] [data-shows=total][data-count]`);
  const clusters = [...cells].map(({dataset: {price, name, count, unrated}}) =>
    ({entry: prices.get(price), name, count, isUnrated: unrated !== undefined}));
  const text = cheapestText(clusters.filter(({entry}) => entry));
  if (place.textContent !== text) place.textContent = text;
}

function showLowest() {
  const place = document.querySelector('[data-price-lowest]');
  if (!place) return;
  const table = document.querySelector('.own-prices'), fields = table.querySelectorAll('[data-shows=field]');
  const drives = [...fields].map(({dataset: {price, name, tps, sustained, gb}}) => ({entry: prices.get(price), name, tps, sustained, gb}));
  const text = lowestText(drives, table.hasAttribute('data-not-comparable')), answer = place.firstElementChild;
  if (answer.textContent !== text) answer.textContent = text;
  if (text) place.lastElementChild.textContent = 'Change your prices';
  place.hidden = false;
}

function saveList() {
  const {prices: read, wrongLine} = readList(part('list').value);
  if (wrongLine) {
    const expected = 'Expected product,price,currency, for example micron-9400-max-12800gb,1250.50,EUR.';
    part('message').textContent = `Line ${wrongLine} of the price list was not understood. ${expected}`;
    return;
  }
  prices = read;
  unreadable.clear();
  save(`The price list has ${read.size} price${read.size === 1 ? '' : 's'}.`);
}

function download() {
  const link = Object.assign(document.createElement('a'), {download: 'drive-prices.csv'});
  link.href = URL.createObjectURL(new Blob([writeList(prices)], {type: 'text/csv'}));
  link.click();
  URL.revokeObjectURL(link.href);
}

// Rows of a table of drives: the script of the tables writes them again after each change of a filter.
let drivesByRun;
async function loadDrives() {
  const [{load}, {numberIn}] = await Promise.all([import('./drives/column-store.js'), import('./drives/ranking.js')]);
  const drives = await load(panel.dataset.file), {device_tps: tps, sustained_tps: sustained, capacity_gb: capacity} = drives.columns;
  const facts = row => ({slug: drives.product[row], tps: tps.value(row), sustained: numberIn(sustained.word(row)), gb: capacity.value(row)});
  return new Map(drives.run.map((run, row) => [run, facts(row)]));
}

// A row across the table is as wide as its head, also after the column is removed.
function widenRows(table) {
  for (const cell of table.querySelectorAll('tr.group > *, tr.remark > *')) cell.colSpan = table.tHead.rows[0].cells.length;
}

// A narrow screen shows the column as a group of its own, and begins with it once the reader asks for the column.
function offerGroup(table, isChosen) {
  const groups = table.closest('[data-section]').querySelector('.choose');
  if (!groups.querySelector('.c-price')) groups.append(part('group').content.cloneNode(true));
  const choice = groups.querySelector('.c-price');
  choice.name = groups.querySelector('input').name;
  if (isChosen) choice.checked = true;
}

function removeGroup(choice) {
  const groups = choice.closest('.choose');
  choice.parentElement.remove();
  if (!groups.querySelector(':checked')) groups.querySelector('input').checked = true;
}

function addColumn(table, drives) {
  const head = table.tHead.rows[0];
  if (!head.querySelector('[data-price-added]')) {
    head.append(part('head').content.cloneNode(true));
    head.querySelector('[data-price-sort]').addEventListener('click', () => sortByPrice(table));
  }
  for (const box of table.querySelectorAll('tbody input[name=run]')) {
    const row = box.closest('tr'), drive = drives.get(box.value);
    if (row.querySelector('[data-price-added]')) continue;
    head.querySelector('[data-price-added]').removeAttribute('aria-sort');
    const cell = row.insertCell();
    cell.className = 'n g-price';
    cell.dataset.priceAdded = '';
    if (!drive?.gb) continue; // an instance or a system has no price of a drive
    const model = box.getAttribute('aria-label').replace(/^Compare (.*), run .*$/, '$1');
    const name = `${model} ${drive.gb >= 1000 ? `${drive.gb / 1000} TB` : `${drive.gb} GB`}`; // two rows may be of one model
    for (const [tag, shows] of [['span', 'field'], ['small', 'both']]) {
      const figure = document.createElement(tag);
      Object.assign(figure.dataset, {price: drive.slug, shows, name, tps: drive.tps ?? '', sustained: drive.sustained ?? '', gb: drive.gb});
      cell.append(figure);
    }
  }
}

/** Return the cell of a row with the facts of its drive, in a table of drives or in the reader's price list. */
const pricedCell = row => row.querySelector('[data-price][data-tps]');

/** Return a figure of the drive of a row; null without a price, or if the drive lacks the figure. */
function figureOf(row, shows) {
  const cell = pricedCell(row), entry = cell && prices.get(cell.dataset.price);
  return entry ? FIGURES[shows](Number(entry.price), cell.dataset) : null;
}

const sustainedPrice = row => figureOf(row, 'per-sustained-tps');
const drivesOf = body => [...body.rows].filter(pricedCell);
const currencyOfRow = row => prices.get(pricedCell(row).dataset.price).currency;
const lowestMark = () => Object.assign(document.createElement('b'), {textContent: ' lowest', className: 'lowest'});

/** Mark the lowest of each figure in a comparison group, next to the figure. Prices in several currencies do not compare. */
function markLowest(body) {
  for (const [shows] of WORDS) {
    const isOfSpeed = shows !== 'per-tb', isNotComparable = isOfSpeed && body.closest('[data-not-comparable]');
    const rows = drivesOf(body).filter(row => figureOf(row, shows) !== null), figures = rows.map(row => figureOf(row, shows));
    const isComparable = !isNotComparable && rows.length > 1 && new Set(rows.map(currencyOfRow)).size === 1;
    const lowest = new Set(isComparable ? rows.filter((row, place) => figures[place] === Math.min(...figures)) : []);
    for (const row of drivesOf(body)) {
      const place = row.querySelector(`[data-price-figure=${shows}], [data-shows=${shows}]`), mark = place?.querySelector('.lowest');
      if (!lowest.has(row)) mark?.remove();
      else if (!mark) place.append(lowestMark());
    }
  }
}

/** Sort the shown rows of each comparison group by price; those without a figure come last. Remarks follow their row. */
function sortByPrice(table) {
  for (const body of table.tBodies) {
    const blocks = drivesOf(body).map(row => {
      const block = [row];
      for (let next = row.nextElementSibling; next && !next.querySelector('input[name=run]'); next = next.nextElementSibling) block.push(next);
      return {block, figure: sustainedPrice(row) ?? Infinity, currency: sustainedPrice(row) === null ? '' : currencyOfRow(row)};
    });
    blocks.sort((a, b) => (a.figure === Infinity) - (b.figure === Infinity) || a.currency.localeCompare(b.currency) || (a.figure < b.figure ? -1 : Number(a.figure > b.figure)));
    body.append(...blocks.flatMap(({block}) => block));
  }
  table.tHead.querySelectorAll('[aria-sort]').forEach(head => head.removeAttribute('aria-sort'));
  table.tHead.querySelector('[data-price-added]').setAttribute('aria-sort', 'ascending');
}

async function showColumn(isChosen = false) {
  const isShown = part('column')?.checked;
  document.querySelectorAll('[data-section]').forEach(wrap => wrap.classList.toggle('with-prices', Boolean(isShown)));
  const tables = document.querySelectorAll('table.runs');
  if (!isShown) {
    document.querySelectorAll('[data-price-added]').forEach(cell => cell.remove());
    document.querySelectorAll('.choose .c-price').forEach(removeGroup);
    return tables.forEach(widenRows);
  }
  try {
    drivesByRun ??= await loadDrives();
  } catch (error) {
    part('message').textContent = `The figures of the drives could not be loaded. Load the page again. ${error.message}`;
    part('column').checked = false; // otherwise each change of the table would load them again
    return undefined;
  }
  for (const table of tables) { offerGroup(table, isChosen); addColumn(table, drivesByRun); widenRows(table); }
  return show();
}

function start() {
  const read = () => {
    prices = readList(stored(KEY)).prices;
    for (const slug of prices.keys()) unreadable.delete(slug);
  };
  read();
  panel.hidden = false;
  part('currency').value = stored(CURRENCY_KEY);
  part('currency').addEventListener('input', ({target}) => store(CURRENCY_KEY, currencyOf(target.value)));
  part('save').addEventListener('click', saveList);
  part('download').addEventListener('click', download);
  document.addEventListener('input', changed);
  addEventListener('storage', ({key}) => { if (key === KEY) { read(); show(); } });
  if (part('column')) {
    part('column').checked = stored(COLUMN_KEY) === 'shown';
    part('column').addEventListener('change', ({target}) => {
      store(COLUMN_KEY, target.checked ? 'shown' : '');
      showColumn(target.checked);
    });
    showColumn();
  }
  show();
  // Results are replaced while the reader types in a form; new cells are empty.
  new MutationObserver(() => {
    if (document.querySelector('[data-price][hidden], [data-price-shown][hidden]')) show(); // as the server writes them
    const row = document.querySelector('tbody tr:has(input[name=run]):not(:has([data-price-added]))');
    if (row && part('column')?.checked) showColumn();
  }).observe(document.getElementById('main'), {childList: true, subtree: true});
}

if (panel) start();
