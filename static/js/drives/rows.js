// The rows of a table as HTML, filled into the same templates as by webapp/register/drives/cells.py.
import {billionths} from '../limits.js';
import {escape, fill as part} from '../parts.js';
import {shareHtml} from '../your-limits.js';
import {providerClass, symbolOf} from '../landscape/picture.js';
import {capacityOf, groupsOf, providersOf} from './ranking.js';

const RUN = '\0'; // in the cell of a tier, for the id of the run that it links to; no stored text contains it
const TIERS = ['published', 'vendor-reported', 'reviewed', 'lab-verified'];
const places = printed => printed.includes('.') ? printed.length - printed.indexOf('.') - 1 : 0;

function padding(printed, most) {
  const missing = most - places(printed);
  return (!printed.includes('.') && missing > 0 ? '\u2008' : '') + '\u2007'.repeat(missing);
}

function shareWriter({words, codes, values}, shown, group, limit) {
  const used = new Set(shown.map(row => codes[row]));
  const most = Math.max(0, ...[...used].filter(code => code >= 0).map(code => places(words[code])));
  const bound = limit === undefined ? undefined : billionths(limit);
  const text = code => shareHtml(words[code], padding(words[code], most), values[code], bound, bound !== undefined && values[code] > bound);
  return code => part('share', {group, text_html: code < 0 ? part('missing') : text(code)});
}

const textOr = missing => word => escape(word) || missing();
const tagged = (kind, word) => part('word', {kind, word});

// The content of a cell by the kind of its column: as `word_cell` of cells.py.
const CONTENTS = {
  speed: textOr(() => ''),
  notes: word => word.split('\n').filter(Boolean).map(note => tagged('tag', note)).join(' '),
  tier(word, carried) {
    const filled = TIERS.indexOf(word.split(',')[0]);
    const bars = Object.fromEntries(TIERS.map((_, place) => [`bar_${place + 1}`, place <= filled ? 'on' : 'off']));
    return part('tier', bars) + part('run', {run: RUN, text: word, carried});
  },
};
const usual = textOr(() => part('missing'));
const PART_OF_KIND = {category: 'text', notes: 'text', tier: 'text'};

const marks = (visibility, outcome, isHistorical, note) => [
  visibility === 'withdrawn' && ['fail', 'withdrawn'],
  visibility === 'superseded' && ['tag', 'superseded'],
  outcome && outcome !== 'pass' && (outcome === 'fail' ? ['fail', 'fails'] : ['tag', outcome]),
  isHistorical && ['tag', 'historical'],
  note && ['sub other-counts', note],
].filter(Boolean);

// A name breaks only at blanks, and not at the hyphens of a word.
const wholeWords = name => name.split(' ').map(word => word.includes('-') ? tagged('nowrap', word) : escape(word)).join(' ');

function driveCell(store, row, {tagsHistorical, showsProviders, carried, note}) {
  const [vendor, model, capacity, visibility, outcome, historical] =
    ['vendor', 'model', 'capacity_gb', 'visibility', 'outcome', 'historical'].map(code => store.columns[code].word(row));
  const storage = capacity ? '' : store.columns.storage.word(row), words = marks(visibility, outcome, tagsHistorical && historical === 'yes', note);
  const provider = showsProviders ? providersOf(store).get(vendor) : undefined, drive = {provider, endurance_dwpd: store.columns.endurance_dwpd.value(row), capacity_gb: capacityOf(store, row)};
  return part('drive', {
    glyph_html: part('glyph', {fill: `${groupsOf(store)[row].fill}${providerClass(drive)}`, symbol: symbolOf(drive)}),
    run: store.run[row], product: store.product[row], vendor, model, model_html: wholeWords(model), carried,
    size: capacity ? `, ${capacity}` : '', storage_html: storage ? part('storage', {storage}) : '', marks_html: words.map(word => ` ${tagged(...word)}`).join(''),
  });
}

const remarks = (store, row, across, carried) => (store.remarks[row] ?? []).map(([word, text, successor]) => part('remark', {
  across, word, text: text ? `: ${text}` : '', successor_html: successor ? part('successor', {run: successor, carried}) : '',
})).join('\n');

function wordWriter({words}, {kind, group, labels}, carried) {
  const content = CONTENTS[kind] ?? usual, name = PART_OF_KIND[kind] ?? kind;
  const text = code => labels?.[words[code]] ?? words[code] ?? '';
  return code => part(name, {group, text_html: content(text(code), carried)});
}

// Return a function that writes the cell of a row. Rows with the same word have the same cell, which is written once.
function writerOf(store, shownColumn, shown, limits, carried) {
  const column = store.columns[shownColumn.code], {kind, group, threshold_us: thresholdUs} = shownColumn, cells = new Map();
  const write = kind === 'share' ? shareWriter(column, shown, group, limits.get(String(thresholdUs))) : wordWriter(column, shownColumn, carried);
  return row => {
    const code = column.codes[row];
    if (!cells.has(code)) cells.set(code, write(code));
    return kind === 'tier' ? cells.get(code).replaceAll(RUN, store.run[row]) : cells.get(code);
  };
}

/** Return the bodies of a table, each a list of functions that write a line: the title, then rows. Links contain the reader's own limits, those to drives also the load. `notes` has a note for some rows. */
export function linesOf(store, columns, groups, {limits, ownLimits, toDrive = ownLimits, showsProviders = false}, tagsHistorical, notes = new Map()) {
  const [carried, carriedToDrive] = [ownLimits, toDrive].map(own => own.length ? `?${new URLSearchParams(own)}` : ''), across = columns.length;
  const shown = groups.flatMap(({rows}) => rows);
  const writers = columns.map(column => column.kind === 'drive'
    ? row => driveCell(store, row, {tagsHistorical, showsProviders, carried: carriedToDrive, note: notes.get(row)}) : writerOf(store, column, shown, limits, carried));
  const struck = row => store.columns.visibility.word(row) === 'withdrawn' ? ' class="withdrawn"' : ''; // css/withdrawn.css
  const written = row => `<tr${struck(row)}>${writers.map(write => write(row)).join('')}</tr>\n${remarks(store, row, across, carried)}`;
  return groups.map(({title: [title, note], rows}) => [
    () => part('title', {across, title, note}), ...rows.map(row => () => written(row)),
  ]);
}

const asText = lines => lines.map(write => write()).join('');
const asBody = lines => `<tbody>\n${asText(lines)}</tbody>\n`;

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
  return () => rest.forEach(([into, body]) => into ? into.insertAdjacentHTML('beforeend', asText(body)) : table.insertAdjacentHTML('beforeend', asBody(body)));
}
