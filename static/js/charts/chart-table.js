// The table of a chart's points, made when its details element is opened.
export const counted = new Intl.NumberFormat('en-US', {maximumFractionDigits: 1});
export const reported = value => value === null ? 'not reported' : counted.format(value);
export const element = (name, text, properties = {}) => Object.assign(document.createElement(name), {textContent: text, ...properties});

function headOf({text, unit, meaning}, meanings) {
  const head = element('th', '', {scope: 'col', className: 'n'});
  head.append(element('a', text, {className: 'means', href: `${meanings}#${meaning}`}));
  if (unit) head.append(element('span', unit, {className: 'u'}));
  return head;
}

function rowOf([first, ...cells]) {
  const row = document.createElement('tr');
  row.append(element('th', first, {scope: 'row', className: 'n'}), ...cells.map(cell => element('td', cell, {className: 'n'})));
  return row;
}

function tableOf({name, heads, rows}, meanings) {
  const box = element('div', '', {className: 'scroll', tabIndex: 0});
  box.setAttribute('role', 'region');
  box.setAttribute('aria-label', name);
  const table = element('table', '', {className: 'narrow points'}), head = table.createTHead().insertRow(), body = table.createTBody();
  head.append(...heads.map(each => headOf(each, meanings)));
  body.append(...rows.map(rowOf));
  box.append(table);
  return box;
}

/** Fill a details element with a table when it is opened: `points` returns {name, heads: [{text, unit, meaning}], rows: [[text]], sentence}. */
export function tableBehind(fold, meanings, points) {
  let isLoading = false;
  const fill = async () => {
    if (!fold.open || isLoading || fold.querySelector('table')) return;
    isLoading = true;
    const note = fold.querySelector('p') ?? fold.appendChild(element('p', '', {className: 'note'}));
    try {
      const table = await points();
      note.textContent = table.sentence;
      note.after(tableOf(table, meanings));
    } catch (error) {
      note.textContent = `${error.message}.`;
    }
    isLoading = false;
  };
  fold.addEventListener('toggle', fill);
  fill(); // the reader may have opened it before this script ran
}

/** Return the heads of a table of intervals: start and end, then the least and the greatest of each quantity. */
export const headsOf = (...quantities) => [
  {text: 'From', unit: 's', meaning: 'elapsed'}, {text: 'To', unit: 's', meaning: 'elapsed'},
  ...quantities.flatMap(quantity => [{text: 'Least', ...quantity}, {text: 'Greatest', ...quantity}]),
];

/** Return how many pieces (of how many in all) each line of a reduced table covers. */
export function reducedSentence(lines, pieces, what) {
  const count = counted.format;
  const length = Math.ceil(pieces / Math.max(1, lines));
  const each = length > 1 ? `each has the least and the greatest of up to ${count(length)} ${what}` : `one for each of ${count(pieces)} ${what}`;
  return `${count(lines)} lines, the points of the chart: ${each}. The CSV file has all ${what}.`;
}
