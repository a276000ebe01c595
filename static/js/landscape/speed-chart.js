// The chart of speed against the share of slow reads: webapp/register/landscape/speed_chart.py in the browser.
import {ASCENT_PX, LINE_PX, labelPlacer} from './labels.js';
import {GRID, PHONE, WIDE, bySpeed, grouped, line, overLimit, paintOrder, plain, providerClass, sideTick, speedTicks, symbolOf, text} from './picture.js';
import {enclosingLogScale, linearScale, percent} from './scales.js';

export const ABOVE_LIMIT = 1.12, NEARLY_WHOLE = 0.75;
const ABOVE_LARGEST = 1.2, LARGEST_OF_LIMIT = 3;
export const SHARE_TICKS = 6, LABELS_MAX = 12;
const NAME_ABOVE = [-6, -10], NAME_BELOW = [14, 18], LIMIT_NAME_PLACES = Array.from({length: 17}, (_, place) => 5 * (place + 1));
const LOAD_NAME_HEIGHTS = [0.12, 0.24, 0.36, 0.48, 0.6, 0.72, 0.84, 0.94];
const STACK_WIDTH = 1.6, STACK_STEP = 0.016, TRIED_MAX = 40;
const ABOVE_NAME_ROWS = 8, ABOVE_NAME_PLACES = Array.from({length: 20}, (_, place) => 5 * place);
const PLOTS = [[WIDE, 630, 208, LABELS_MAX], [PHONE, 334, 148, 1]];
export const TICK_WIDTHS_PX = [630, 264];
const LINE_STYLES = {full: 'front solid', open: 'front dashed'};
const NAME_HEIGHTS = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18];

function shareScale(limit, largest) {
  if (!limit) return linearScale(0, ABOVE_LARGEST * largest || 1, SHARE_TICKS);
  if (largest <= limit) return linearScale(0, ABOVE_LIMIT * limit, SHARE_TICKS);
  return linearScale(0, Math.max(ABOVE_LIMIT * limit, Math.min(ABOVE_LARGEST * largest, LARGEST_OF_LIMIT * limit)), SHARE_TICKS);
}

// To explore, the axis of shares ends a little above the largest share, unless the axis of the picture ends nearly there.
function fittedScale(whole, largest) {
  const high = ABOVE_LIMIT * largest;
  return high > whole.high || (high > 0 && high < NEARLY_WHOLE * whole.high) ? linearScale(0, high, SHARE_TICKS) : whole;
}

/** Return a question with its axes: limit, load, and the extent of the drives. With `isFitted`, the axis of shares is fitted to the drives. */
export function axesOf(question, isFitted = false) {
  const speeds = [question.slowest_tps, question.fastest_tps, ...(question.load_tps ? [question.load_tps] : [])];
  const whole = shareScale(question.limit_pct, question.largest_share_pct);
  return {
    ...question,
    x: enclosingLogScale(Math.min(...speeds), Math.max(...speeds)),
    y: isFitted ? fittedScale(whole, question.largest_share_pct) : whole,
    isAnswer: drive => drive.is_within && (!question.load_tps || drive.tps >= question.load_tps),
  };
}

/** Return the symbol and the classes of the mark of a drive, which are the same in both charts. */
export function lookOf(question, drive, isEdge = false) {
  const isOver = drive.share_pct > question.limit_pct, state = isOver ? 'over' : question.isAnswer(drive) ? 'in' : 'out';
  return {symbol: isOver ? overLimit(symbolOf(drive)) : symbolOf(drive), classes: `m ${drive.fill} ${state}${providerClass(drive)}${isEdge ? ' edge' : ''}`};
}

function markOf(question, drive, isEdge) {
  const {x, y} = question;
  return {
    key: drive.key, x: percent(x.place(drive.tps)), y: percent(1 - y.place(Math.min(drive.share_pct, y.high))),
    ...lookOf(question, drive, isEdge),
  };
}

// Marks without slow reads that would hide each other are stacked upwards, each by half a mark.
function stack(marks) {
  const lastAtLevel = [];
  for (const mark of marks.sort((a, b) => a.x - b.x || a.key - b.key)) {
    let level = lastAtLevel.findIndex(last => mark.x - last >= STACK_WIDTH);
    if (level < 0) level = lastAtLevel.length;
    lastAtLevel[level] = mark.x;
    if (level) mark.y = percent(1 - level * STACK_STEP);
  }
}

function marksOf(question, drives, edges) {
  const ordered = [...drives].sort(paintOrder), marks = ordered.map(drive => markOf(question, drive, edges.has(drive.key)));
  stack(marks.filter((_, number) => ordered[number].share_pct === 0));
  return marks;
}

function steps({fill, slowest_tps: slowest, edges}, {x, y}, limitY) {
  let left = percent(x.place(slowest));
  const corners = edges.map(([, tps, share]) => [percent(x.place(tps)), percent(1 - y.place(share))]);
  return corners.flatMap(([right, place], number) => {
    const top = number + 1 < corners.length ? corners[number + 1][1] : limitY, start = left;
    left = right;
    return [line(LINE_STYLES[fill], start, place, right, place), line(LINE_STYLES[fill], right, place, right, top)];
  });
}

/** Return the texts of the vertical axis; `limitY` is the place of the limit. */
export function shareTicks(question, limitY) {
  const near = question.y.ticks().map(value => [percent(1 - question.y.place(value)), value]);
  const texts = near.filter(([place]) => Math.abs(place - limitY) > 6).map(([place, value]) => sideTick(place, plain(value)));
  return [...texts, sideTick(limitY, plain(question.limit_pct), 'tick strong')];
}

// The names of the load and of the limit, each at the first place along its line that covers nothing.
function ruleNames(question, limitY, loadX, placer, kind) {
  const named = [], count = question.answers_count;
  if (loadX !== null) {
    const above = NAME_ABOVE.flatMap(dy => [[limitY, 2, dy, 'start'], [limitY, -2, dy, 'end']]);
    const along = LOAD_NAME_HEIGHTS.flatMap(height => [[6, 'start'], [-6, 'end']].map(([dx, anchor]) => [percent((limitY + (100 - limitY) * height) / 100), dx, 4, anchor]));
    named.push(placer.always([...above, ...along].map(place => text(`zonetext ${kind}`, loadX, ...place)), `${grouped(Math.floor(question.load_tps + 0.5))}${kind === WIDE ? ' tps' : ''}: ${grouped(count)} ${count === 1 ? 'result' : 'results'}`));
  }
  const places = [[0, 2, 'start'], [100, -2, 'end'], ...LIMIT_NAME_PLACES.map(place => [place, 0, 'start'])];
  const names = [...NAME_ABOVE, ...NAME_BELOW].flatMap(dy => places.map(([x, dx, anchor]) => text(`strong ${kind}`, x, limitY, dx, dy, anchor)));
  return [...named, placer.always(names, `limit ${plain(question.limit_pct)} %`)];
}

function orderOfLabels(question, drives, frontiers) {
  const byKey = new Map(drives.map(drive => [drive.key, drive])), fastest = [...drives].sort(bySpeed);
  const answers = fastest.filter(question.isAnswer), edges = frontiers.flatMap(frontier => [...frontier.edges].reverse()).map(([key]) => byKey.get(key)).filter(Boolean);
  return [...new Set([...answers.slice(0, 1), ...edges.filter(question.isAnswer), ...answers, ...edges, ...fastest])].slice(0, TRIED_MAX);
}

// The name of a drive in one line and in two: its model, and its capacity if another drive has the model.
function wordsOf(drive, isShort) {
  if (isShort) return [[drive.model], []];
  const capacity = (drive.name.startsWith(drive.model) ? drive.name.slice(drive.model.length) : drive.name).trim();
  return [[drive.name], capacity ? [drive.model, capacity] : []];
}

function frontierName(question, frontier, placer, kind) {
  const short = [frontier.short_name], choices = (kind === WIDE ? [frontier.name, short] : [short]).filter(lines => lines.every(Boolean));
  if (!frontier.edges.length) return [];
  const {x, y} = question, place = share => percent(1 - y.place(share)), [, tps, share] = frontier.edges.at(-1);
  const right = percent(x.place(tps)), low = place(share), left = percent(x.place(frontier.slowest_tps)), top = place(question.limit_pct);
  const along = NAME_HEIGHTS.flatMap(height => [[-9, 'end'], [9, 'start']].map(([dx, anchor]) =>
    text(`fronttext ${kind}`, right, percent((top + (low - top) * height) / 100), dx, 0, anchor)));
  for (const lines of choices) {
    const above = text(`fronttext ${kind}`, left, place(frontier.edges[0][2]), 6, 6 - LINE_PX * lines.length, 'start');
    const placed = placer.firstFree([...along, above], lines);
    if (placed.length) return placed;
  }
  return [];
}

// How many results are above the picture, whose marks are on its upper edge.
function aboveName(count, placer) {
  if (!count) return [];
  const places = Array.from({length: ABOVE_NAME_ROWS}, (_, row) => ABOVE_NAME_PLACES.map(place => text(`overtext ${placer.kind}`, place, 0, 0, ASCENT_PX + row * LINE_PX, 'start')));
  const whole = placer.firstFree(places.flat(), [`\u2191 ${grouped(count)} ${count === 1 ? 'result' : 'results'} above the chart`]);
  return whole.length ? whole : placer.firstFree(places.flat(), [`\u2191 ${grouped(count)} above`]);
}

function labelsOf(question, drives, frontiers, marks, rules, plots, aboveCount) {
  const markByKey = new Map(marks.map(mark => [mark.key, mark])), models = new Map();
  for (const {model} of drives) models.set(model, (models.get(model) ?? 0) + 1);
  const wanted = orderOfLabels(question, drives, frontiers), found = [], leaders = [];
  const limitY = rules[0].y1, loadX = rules.find(({kind}) => kind === 'load')?.x1 ?? null;
  const edges = new Set(frontiers.flatMap(frontier => frontier.edges.map(([key]) => key)));
  const namesFirst = wanted.filter(drive => edges.has(drive.key) && question.isAnswer(drive)).length;
  for (const [kind, width, height, most, widthOf] of plots) {
    const placer = labelPlacer(kind, width, height, widthOf);
    placer.avoidMarks(marks);
    placer.avoidLines(rules);
    found.push(...ruleNames(question, limitY, loadX, placer, kind));
    found.push(...aboveName(aboveCount, placer));
    placer.avoidLines([line('', 0, 0, 100, limitY)]);
    let placedCount = 0;
    wanted.forEach((drive, number) => {
      if (number === Math.min(namesFirst, wanted.length - 1)) for (const frontier of frontiers) found.push(...frontierName(question, frontier, placer, kind));
      if (placedCount === most) return;
      const words = wordsOf(drive, models.get(drive.model) === 1), mark = markByKey.get(drive.key);
      let placed = placer.nextTo(mark, `name ${kind}`, ...words), lines = [];
      const isAnswer = kind === WIDE && question.load_tps && question.isAnswer(drive);
      if (!placed.length && (number === 0 || isAnswer)) [placed, lines] = placer.withLeader(mark, `name ${kind}`, ...words);
      leaders.push(...lines);
      if (placed.length) placedCount += 1;
      found.push(...placed);
    });
  }
  return [found, leaders];
}

/** Return the picture of some drives; `question` has its axes. `plots` are the sizes to place labels for: class, width, height, number of labels, and what measures a text. */
export function speedChart(question, drives, frontiers = [], cells = [], plots = PLOTS) {
  const {x, y} = question, limitY = percent(1 - y.place(question.limit_pct));
  const loadX = question.load_tps ? percent(x.place(question.load_tps)) : null;
  const edges = new Set(frontiers.flatMap(frontier => frontier.edges.map(([key]) => key))), marks = marksOf(question, drives, edges);
  const aboveCount = cells.length ? 0 : drives.filter(drive => drive.share_pct > y.high).length; // cells count those, too
  const labelled = cells.length ? drives.filter(({key}) => edges.has(key)) : drives;
  const rules = [line('limit', 0, limitY, 100, limitY), ...(loadX === null ? [] : [line('load', loadX, limitY, loadX, 100)]),
    ...frontiers.flatMap(frontier => steps(frontier, question, limitY))];
  const grid = y.ticks().map(value => percent(1 - y.place(value))).filter(place => place !== limitY).map(place => line(GRID, 0, place, 100, place));
  const [ticks, tickTexts] = speedTicks(x, TICK_WIDTHS_PX), [labels, leaders] = labelsOf(question, labelled, frontiers, marks, rules, plots, aboveCount);
  return {
    zone: {x: loadX ?? 0, y: limitY, width: percent((100 - (loadX ?? 0)) / 100), height: percent((100 - limitY) / 100)},
    cells, lines: [...grid, ...rules, ...leaders], ticks, marks, labels,
    axis_texts: [...shareTicks(question, limitY), ...tickTexts],
  };
}
