// The rows of a table as HTML: the same as webapp/register/drives/cells.py makes from the same columns. Every text is escaped.
import {billionths} from '../limits.js';

const ESCAPED = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;'};
export const escape = text => text.replace(/[&<>"']/g, found => ESCAPED[found]);
const NOT_REPORTED = '<span class="dim" aria-hidden="true">-</span><span class="vh">not reported</span>';
const TRACK_UNITS = 44;
const TIERS = ['published', 'vendor-reported', 'reviewed', 'lab-verified'];
const BARS = [['0.5', '7.8', '2.6'], ['5.5', '5.4', '5.0'], ['10.5', '3.0', '7.4'], ['15.5', '0.6', '9.8']];
const places = printed => printed.includes('.') ? printed.length - printed.indexOf('.') - 1 : 0;

function padding(printed, most) {
  const missing = most - places(printed);
  return (!printed.includes('.') && missing > 0 ? '\u2008' : '') + '\u2007'.repeat(missing);
}

function nearness(value, limit, isOver) {
  const ratio = limit ? value / limit : 2 * Number(value > 0);
  const filled = Math.min(ratio, 1) * TRACK_UNITS;
  const fill = filled >= 0.05 ? `<rect class="${isOver || ratio >= 0.9 ? 'strong' : 'fill'}" y="3" width="${filled.toFixed(1)}" height="4"/>` : '';
  const beyond = isOver ? '<rect class="beyond" x="45" y="2" width="6" height="6"/>' : '';
  return `<svg class="near" viewBox="0 0 52 10" aria-hidden="true"><rect class="track" y="3" width="44" height="4"/>${fill}${beyond}<rect class="line" x="43.5" width="1.5" height="10"/></svg>`;
}

function shareCells({words, codes, values}, shown, group, limit) {
  const used = new Set(shown.map(row => codes[row]));
  const most = Math.max(0, ...[...used].filter(code => code >= 0).map(code => places(words[code])));
  const bound = limit === undefined ? undefined : billionths(limit);
  return code => {
    if (code < 0) return `<td class="n share${group}">${NOT_REPORTED}</td>`;
    const isOver = bound !== undefined && values[code] > bound, printed = escape(words[code]);
    const text = isOver ? `<span class="over">${printed}</span><span class="vh"> over the limit</span>` : printed;
    return `<td class="n share${group}">${text}${padding(words[code], most)}${bound === undefined ? '' : nearness(values[code], bound, isOver)}</td>`;
  };
}

const WRITERS = {
  number: (word, group) => `<td class="n${group}">${escape(word) || NOT_REPORTED}</td>`,
  computed: (word, group) => `<td class="n computed${group}">${escape(word) || NOT_REPORTED}</td>`,
  speed: word => `<td class="n"><b>${escape(word)}</b></td>`,
  text: (word, group) => `<td class="${group.trim()}">${escape(word) || NOT_REPORTED}</td>`,
  notes: (word, group) => `<td class="${group.trim()}">${word.split('\n').filter(Boolean).map(note => `<span class="tag">${escape(note)}</span>`).join(' ')}</td>`,
};

// A withdrawn run's row is struck through (css/withdrawn.css), with the word "withdrawn".
const struckClass = visibility => visibility === 'withdrawn' ? ' class="withdrawn"' : '';
const withdrawnMark = visibility => visibility === 'withdrawn' ? ' <span class="fail">withdrawn</span>' : '';

function tierCell(word, group, run, carried) {
  const filled = TIERS.indexOf(word.split(',')[0]);
  const bars = BARS.map(([x, y, height], place) => `<rect class="${place <= filled ? 'on' : 'off'}" x="${x}" y="${y}" width="3" height="${height}"/>`).join('');
  return `<td class="${group.trim()}"><svg class="tier" viewBox="0 0 19 11" aria-hidden="true">${filled < 0 ? '' : bars}</svg><a href="/runs/${run}/${carried}">${escape(word)}<span class="vh">: run ${run}</span></a></td>`;
}

function driveCell(store, row, tagsHistorical, carried) {
  const word = code => store.columns[code].word(row);
  const capacity = word('capacity_gb'), visibility = word('visibility'), outcome = word('outcome');
  let marks = withdrawnMark(visibility);
  if (visibility === 'superseded') marks += ' <span class="tag">superseded</span>';
  if (outcome && outcome !== 'pass') marks += outcome === 'fail' ? ' <span class="fail">fails</span>' : ` <span class="tag">${escape(outcome)}</span>`;
  if (tagsHistorical && word('historical') === 'yes') marks += ' <span class="tag">historical</span>';
  const run = store.run[row], box = `<input type="checkbox" name="run" value="${run}" form="compare-runs" aria-label="Compare ${escape(word('model'))}, run ${run}">`;
  return `<th scope="row">${box}<span class="vendor">${escape(word('vendor'))}<span class="only-phone">${capacity ? `, ${capacity}` : ''}</span> </span><a href="/drive/${store.product[row]}/${carried}">${escape(word('model'))}</a>${marks}</th>`;
}

const remarks = (store, row, across, carried) => (store.remarks[row] ?? []).map(([word, text, successor]) =>
  `<tr class="remark"><td colspan="${across}"><b>${escape(word)}</b>${successor ? ` by <a href="/runs/${successor}/${carried}">run ${successor}</a>` : ''}${text ? `: ${escape(text)}` : ''}</td></tr>`).join('\n');

/** Return the bodies of a table, each a list of lines: titles, then rows. Links contain the reader's own limits. */
export function linesOf(store, columns, groups, {limits, ownLimits}, tagsHistorical) {
  const carried = ownLimits.length ? escape(`?${new URLSearchParams(ownLimits)}`) : '';
  const shown = groups.flatMap(({rows}) => rows);
  const writers = columns.map(({code, kind, group: name, threshold_us: thresholdUs, labels}) => {
    const group = name ? ` g-${name}` : '';
    if (kind === 'drive') return row => driveCell(store, row, tagsHistorical, carried);
    const column = store.columns[code];
    if (kind === 'tier') return row => tierCell(column.word(row), group, store.run[row], carried);
    if (kind === 'share') {
      const cell = shareCells(column, shown, group, limits.get(String(thresholdUs)));
      return row => cell(column.codes[row]);
    }
    if (kind === 'category') return row => WRITERS.text(labels[column.word(row)], group);
    return row => WRITERS[kind](column.word(row), group);
  });
  const written = row => `<tr${struckClass(store.columns.visibility.word(row))}>${writers.map(write => write(row)).join('')}</tr>\n${remarks(store, row, columns.length, carried)}`;
  const title = ([name, note]) => `<tr class="group"><th colspan="${columns.length}" scope="colgroup"><b>${escape(name)}</b> ${escape(note)}</th></tr>`;
  return groups.map(({titles, rows}) => [...titles.map(title), ...rows.map(written)]);
}

const asBody = body => `<tbody>\n${body.join('')}</tbody>\n`;

/** Return the bodies of a table as HTML. */
export const bodies = (...table) => linesOf(...table).map(asBody).join('');

/** Add at most `most` lines of the bodies to a table. Return a function that adds the others, null if there are none. */
export function fill(table, whole, most) {
  const rest = [];
  let left = most;
  for (const body of whole) {
    if (left > 0) table.insertAdjacentHTML('beforeend', asBody(body.slice(0, left)));
    const into = left > 0 ? table.lastElementChild : null;
    if (left < body.length) rest.push([into, body.slice(Math.max(left, 0))]);
    left -= body.length;
  }
  if (!rest.length) return null;
  return () => rest.forEach(([into, body]) => into ? into.insertAdjacentHTML('beforeend', body.join('')) : table.insertAdjacentHTML('beforeend', asBody(body)));
}

