// The table behind a chart: its own points, made when its fold is opened.
const element = (name, text, properties = {}) => Object.assign(document.createElement(name), {textContent: text, ...properties});

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

/** Fill a fold with a table once it is opened: `points` gives {name, heads: [{text, unit, meaning}], rows: [[text]], sentence}. */
export function tableBehind(fold, meanings, points) {
  let isAsked = false;
  const fill = async () => {
    if (!fold.open || isAsked || fold.querySelector('table')) return;
    isAsked = true;
    const said = fold.querySelector('p') ?? fold.appendChild(element('p', '', {className: 'note'}));
    try {
      const told = await points();
      said.textContent = told.sentence;
      said.after(tableOf(told, meanings));
    } catch (error) {
      said.textContent = `${error.message}.`;
    }
    isAsked = false;
  };
  fold.addEventListener('toggle', fill);
  fill(); // whoever was quicker than this script has opened it already
}

/** How many of what a line stands for, of how many: the lines are the points of the chart. */
export function reducedSentence(lines, pieces, what) {
  const count = new Intl.NumberFormat('en-US').format;
  const length = Math.ceil(pieces / Math.max(1, lines));
  const each = length > 1 ? `each the least and the greatest of up to ${count(length)} ${what}` : `each of one of ${count(pieces)} ${what}`;
  return `${count(lines)} lines, the points of the chart: ${each}. A CSV has every one.`;
}
