// The chart of tested speed against the speed that the rating allows: webapp/register/landscape/endurance_chart.py in the browser.
import {decimal} from '../drives/column-store.js';
import {LINE_PX, labelPlacer} from './labels.js';
import {GRID, PHONE, WIDE, grouped, line, paintOrder, pieces, sideTick, speedTicks, text} from './picture.js';
import {lookOf} from './speed-chart.js';
import {logScale, percent, stepAtLeast, stepBelow} from './scales.js';

const TIMES_OVER = 8, ABOVE_LABELLED = 2;
const TIMES_PLACES = [0.25, 0.4, 0.1, 0.55, 0.7, 0.85], COUNT_PLACES = [4, 1, 14, 24, 34, 44];
// The first one with room, and what is before the number.
const COUNT_NAMES = [[['rating allows the tested speed'], 'above the line: '], [['rating allows', 'the tested speed'], ''], [['rating allows'], '']];
const TIMES_NAME = [`${TIMES_OVER} times the speed`, 'that its rating allows'];
const WIDE_PLOT = [330, 208], PHONE_PLOT = [290, 148], TICK_WIDTHS_PX = [330, 220];

/** Return a number with one decimal below 10, otherwise whole. */
export function shortNumber(value) {
  const tenths = Math.floor(value * 10 + 0.5);
  return tenths >= 100 || tenths % 10 === 0 ? grouped(Math.floor(value + 0.5)) : String(tenths / 10);
}

// Return a / b rounded to a number of decimal places, half to even; fewer than 0 places round to tens and so on.
function roundedRatio(a, b, places) {
  const over = a * 10 ** Math.max(places, 0), under = b * 10 ** Math.max(-places, 0);
  const whole = Math.floor(over / under), twice = 2 * (over - whole * under);
  const digits = whole + Number(twice > under || (twice === under && whole % 2 === 1));
  return places > 0 ? digits / 10 ** places : digits * 10 ** -places;
}

/** Return how many times a figure is another one, with two significant digits: times() of results/rules/act/endurance_gap.py in the browser. */
export function times(figure, other) {
  let places = 1 - Math.floor(Math.log10(figure / other));
  while (roundedRatio(figure, other, places) === 1 && figure !== other) places += 1;
  return decimal(String(roundedRatio(figure, other, places)));
}

const ratedDrives = drives => drives.filter(drive => drive.sustained_tps && drive.endurance_dwpd)
  .map(drive => ({...drive, drive, ratio: drive.tps / drive.sustained_tps}));

function sustainedScale(rated, x) {
  const sustained = rated.length ? rated.map(each => each.sustained_tps) : [x.low];
  return logScale(stepBelow(Math.min(...sustained, x.low)), Math.max(stepAtLeast(Math.max(...sustained)), x.high));
}

function diagonal(kind, times, x, y) {
  const low = Math.max(x.low, times * y.low), high = Math.min(x.high, times * y.high);
  if (low >= high) return [];
  return [line(kind, percent(x.place(low)), percent(1 - y.place(low / times)), percent(x.place(high)), percent(1 - y.place(high / times)))];
}

const decades = y => {
  const found = y.ticks().filter(value => /^0*10*$/.test(String(value)));
  return found.length > 1 ? found : y.ticks();
};
const byRatio = (a, b) => a.ratio - b.ratio || a.key - b.key;

function wantedLabels(rated, headline) {
  const found = [], ordered = [...rated].sort(byRatio), largest = ordered.at(-1);
  if (headline) found.push([headline, [`needs ${shortNumber(headline.endurance_dwpd * headline.ratio)}`, `rated ${headline.endurance_dwpd}`]]);
  if (largest && largest !== headline && largest.ratio > 1) found.push([largest, [`${times(largest.tps, largest.sustained_tps)} times`, 'its rating']]);
  return [...found, ...ordered.filter(({ratio}) => ratio <= 1).slice(0, ABOVE_LABELLED).map(each => [each, [each.name]])];
}

// The name of the line of eight times and what it means: right of a place of the line, or left of it.
function placeTimesOver(lines, placer) {
  return lines.filter(({kind}) => kind === 'iso').flatMap(({x1, y1, x2, y2}) => {
    const at = part => [percent((x1 + (x2 - x1) * part) / 100), percent((y1 + (y2 - y1) * part) / 100)];
    const sides = [[8, 14, 'start'], [-8, -4 - LINE_PX, 'end']];
    return placer.firstFree(TIMES_PLACES.flatMap(part => sides.map(side => text(`isotext ${placer.kind}`, ...at(part), ...side))), TIMES_NAME);
  });
}

// The name of the area above the diagonal and its number of results, at the left edge.
function placeCounts([sustaining, ratedCount], placer) {
  const results = `${grouped(sustaining)} of ${grouped(ratedCount)} ${ratedCount === 1 ? 'result' : 'results'}`;
  const places = COUNT_PLACES.map(top => text(`strong ${placer.kind}`, 2, top, 0, 8, 'start'));
  for (const [names, before] of COUNT_NAMES) {
    const placed = placer.firstFree(places, [...names, before + results]);
    if (placed.length) return placed.map((each, number) => number === placed.length - 1 ? {...each, kind: `aside ${placer.kind}`} : each);
  }
  return [];
}

function labelsOf(rated, headline, marks, lines, counts) {
  const markByKey = new Map(marks.map(mark => [mark.key, mark])), wanted = wantedLabels(rated, headline), found = [];
  for (const [kind, width, height, most] of [[WIDE, ...WIDE_PLOT, wanted.length], [PHONE, ...PHONE_PLOT, 1]]) {
    const placer = labelPlacer(kind, width, height);
    placer.avoidMarks(marks);
    placer.avoidLines(lines.filter(each => each.kind !== 'iso').flatMap(pieces));
    found.push(...placeCounts(counts, placer), ...placeTimesOver(lines, placer));
    for (const [each, words] of wanted.slice(0, most)) found.push(...placer.nextTo(markByKey.get(each.key), `name ${kind}`, words));
  }
  return found;
}

/** Return the picture of the drives that have a rating; `counts` are those whose rating allows the tested speed, and all. */
export function enduranceChart(question, drives, headlineKey, counts) {
  const rated = ratedDrives(drives), {x} = question, y = sustainedScale(rated, x);
  const marks = [...rated].sort(paintOrder).map(each => ({
    key: each.key, x: percent(x.place(each.tps)), y: percent(1 - y.place(each.sustained_tps)), ...lookOf(question, each),
  }));
  const headline = rated.find(({key}) => key === headlineKey) ?? null;
  const gap = headline ? [line('gap', percent(x.place(headline.tps)), percent(1 - y.place(Math.min(headline.tps, y.high))),
    percent(x.place(headline.tps)), percent(1 - y.place(headline.sustained_tps)))] : [];
  const rules = [...diagonal('limit', 1, x, y), ...diagonal('iso', TIMES_OVER, x, y)];
  const [ticks, tickTexts] = speedTicks(x, TICK_WIDTHS_PX);
  const lines = [...rules, ...gap];
  const sides = decades(y).map(value => [percent(1 - y.place(value)), grouped(value)]);
  return {
    zone: null, cells: [], ticks, marks,
    lines: [...sides.map(([place]) => line(GRID, 0, place, 100, place)), ...lines],
    axis_texts: [...sides.map(([place, words]) => sideTick(place, words)), ...tickTexts],
    labels: labelsOf(rated, headline, marks, lines, counts),
  };
}
