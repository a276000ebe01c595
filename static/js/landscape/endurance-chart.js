// The chart of tested speed against the speed that the rating sustains: webapp/register/landscape/endurance_chart.py in the browser.
import {decimal} from '../drives/column-store.js';
import {LINE_PX, labelPlacer} from './labels.js';
import {GRID, PHONE, WIDE, grouped, line, paintOrder, sideTick, speedTicks, symbolOf, text} from './picture.js';
import {logScale, percent, stepAtLeast, stepBelow} from './scales.js';

const TIMES_OVER = 8, ABOVE_LABELLED = 2, PIECES = 24, NAMED_RIGHT_TO = 55;
const TIMES_NAME = [`${TIMES_OVER} times its rating:`, 'tested / sustained'];
const WIDE_PLOT = [330, 208], PHONE_PLOT = [290, 148];

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

function pieces(each) {
  if (each.x1 === each.x2 || each.y1 === each.y2) return [each];
  const width = (each.x2 - each.x1) / PIECES, height = (each.y2 - each.y1) / PIECES;
  return Array.from({length: PIECES}, (_, number) => {
    const x = each.x1 + width * number, y = each.y1 + height * number;
    return line(each.kind, x, y, x + width, y + height);
  });
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

function labelsOf(rated, headline, marks, rules, named) {
  const markByKey = new Map(marks.map(mark => [mark.key, mark])), wanted = wantedLabels(rated, headline), found = [];
  for (const [kind, width, height, most] of [[WIDE, ...WIDE_PLOT, wanted.length], [PHONE, ...PHONE_PLOT, 1]]) {
    const placer = labelPlacer(kind, width, height);
    placer.avoidMarks(marks);
    placer.avoidLines(rules.flatMap(pieces));
    placer.avoidTexts(named);
    for (const [each, lines] of wanted.slice(0, most)) found.push(...placer.nextTo(markByKey.get(each.key), `name ${kind}`, lines));
  }
  return found;
}

/** Return the picture of the drives that have a rating; `counts` are those whose rating sustains the tested speed, and all. */
export function enduranceChart(question, drives, headlineKey, [sustainingCount, ratedCount]) {
  const rated = ratedDrives(drives), {x} = question, y = sustainedScale(rated, x);
  const marks = [...rated].sort(paintOrder).map(each => ({
    key: each.key, x: percent(x.place(each.tps)), y: percent(1 - y.place(each.sustained_tps)), symbol: symbolOf(each),
    classes: `m ${each.fill} ${question.isAnswer(each) ? 'in' : 'out'}`,
  }));
  const headline = rated.find(({key}) => key === headlineKey) ?? null;
  const gap = headline ? [line('gap', percent(x.place(headline.tps)), percent(1 - y.place(Math.min(headline.tps, y.high))),
    percent(x.place(headline.tps)), percent(1 - y.place(headline.sustained_tps)))] : [];
  const rules = [...diagonal('limit', 1, x, y), ...diagonal('iso', TIMES_OVER, x, y)];
  const [ticks, tickTexts] = speedTicks(x, [WIDE_PLOT[0], PHONE_PLOT[0]]);
  const sentence = text('strong', 2, 4, 0, 8, 'start', 'rating sustains the tested speed');
  const above = `above the line: ${grouped(sustainingCount)} of ${grouped(ratedCount)} ${ratedCount === 1 ? 'result' : 'results'}`;
  const timesOver = diagonal('iso', TIMES_OVER, x, y).flatMap(each => {
    const at = percent((3 * each.x1 + each.x2) / 400), [dx, dy, anchor] = at <= NAMED_RIGHT_TO ? [6, 12, 'start'] : [-6, -4 - LINE_PX, 'end'];
    return TIMES_NAME.map((words, number) => text('isotext', at, percent((3 * each.y1 + each.y2) / 400), dx, dy + LINE_PX * number, anchor, words));
  });
  const named = [sentence, {...sentence, kind: 'aside', dy: 23, text: above}, ...timesOver];
  const sides = decades(y).map(value => [percent(1 - y.place(value)), grouped(value)]);
  return {
    zone: null, cells: [], ticks, marks,
    lines: [...sides.map(([place]) => line(GRID, 0, place, 100, place)), ...rules, ...gap],
    axis_texts: [...sides.map(([place, words]) => sideTick(place, words)), ...tickTexts, ...named],
    labels: labelsOf(rated, headline, marks, [...diagonal('limit', 1, x, y), ...gap], named),
  };
}
