// The charts of rows: which rows they show, their frontiers, marks and links: webapp/register/drives/store/charted_rows.py in the browser.
import {count, nameOf} from '../drives/column-store.js';
import {cached, capacityOf, groupsOf, largestGroup, numberIn, providersOf, speedsOf} from '../drives/ranking.js';
import {MARKS_AT_MOST, densityCells} from './density.js';
import {enduranceChart} from './endurance-chart.js';
import {axesOf, speedChart} from './speed-chart.js';

export const THRESHOLDS = {'1ms': ['1000', '1 ms'], '8ms': ['8000', '8 ms'], '64ms': ['64000', '64 ms']};
export const STATISTICS = {'steady-as-published': 'as published', 'worst-slice': 'worst slice', overall: 'whole run'};
const BILLIONTHS = 1e9, DEFAULT_LIMIT_PCT = 5;
const FRONTIER_NAMES = {
  full: {name: ['frontier of ACT 6.x:', 'none is faster with', 'fewer slow reads'], short_name: 'ACT 6.x'},
  open: {name: ['dashed: the same', 'for ACT up to 5.3'], short_name: 'ACT up to 5.3'},
};
const FRONTIER_LINES = {full: ['solid', 'ACT 6.x'], open: ['dashed', 'ACT up to 5.3']};
const TIME_WORDS = {service: 'ACT 6.x: time in the drive', 'queue-and-service': 'ACT up to 5.3: time in the drive and in the queue', unknown: 'ACT version not reported'};

const devicesWords = devices => `${devices} ${devices === '1' ? 'device' : 'devices'}`;

// The name of a frontier with its number of devices, which a colon at the end of a line follows.
function namedDevices({name, short_name: short}, devices) {
  const words = `, ${devicesWords(devices)}`, [first, ...others] = name;
  const named = first.endsWith(':') ? [`${first.slice(0, -1)}${words}:`, ...others] : [...name.slice(0, -1), name.at(-1) + words];
  return {name: named, short_name: short + words};
}

const sharesOf = (store, threshold) => cached(store, `shares ${threshold}`, () => {
  const {codes, values} = store.columns[`pct_over_${threshold}`];
  return codes.map(code => code < 0 ? null : values[code] / BILLIONTHS);
});

const isPlottable = (store, threshold, isPerDevice) => cached(store, `plottable ${threshold} ${isPerDevice}`, () => {
  const {visibility, is_on_no_drive: virtual} = store.columns, speeds = speedsOf(store, isPerDevice), shares = sharesOf(store, threshold);
  return speeds.map((speed, row) => speed > 0 && shares[row] !== null && visibility.word(row) === 'public' && virtual?.word(row) !== 'yes');
});

// The place of each row by falling speed, then by rising share.
const placesOf = (store, threshold, isPerDevice) => cached(store, `places ${threshold} ${isPerDevice}`, () => {
  const speeds = speedsOf(store, isPerDevice), shares = sharesOf(store, threshold), places = new Array(store.count);
  speeds.map((_, row) => row).sort((a, b) => speeds[b] - speeds[a] || shares[a] - shares[b] || a - b).forEach((row, place) => { places[row] = place; });
  return places;
});

// The rows on the frontier, the slowest first, of rows by falling speed: results/rules/act/frontier.py in the browser.
function frontierOf(ordered, speeds, shares) {
  const found = [];
  for (const row of ordered) {
    const last = found.at(-1);
    if (last === undefined || shares[row] < shares[last] || (shares[row] === shares[last] && speeds[row] === speeds[last])) found.push(row);
  }
  return found.reverse();
}

// The speed that the rating of a row sustains, exact; its column has three digits of it: results/rules/endurance.py in the browser.
const GB_PER_DAY_AT_1_TPS = 23.53 * 128 * 1024 * 86400 / 1e9 / 3000;

function sustainedTps({columns}, row) {
  return columns.sustained_tps.word(row) ? columns.endurance_dwpd.value(row) * columns.capacity_gb.value(row) / GB_PER_DAY_AT_1_TPS : null;
}

function plottedDrive(store, row, speeds, shares, isWithin, showsProviders) {
  const {columns} = store, model = columns.model.word(row);
  return {
    ...showsProviders ? {provider: providersOf(store).get(columns.vendor.word(row))} : {},
    key: row, tps: speeds[row], share_pct: shares[row], fill: groupsOf(store)[row].fill, is_within: isWithin,
    capacity_gb: capacityOf(store, row), endurance_dwpd: columns.endurance_dwpd.value(row), model,
    name: [model, columns.capacity_gb.word(row) || columns.storage.word(row)].filter(Boolean).join(' '),
    sustained_tps: sustainedTps(store, row),
  };
}

function enduranceWords({columns}, row) {
  const needed = columns.needed_dwpd.word(row), rated = columns.endurance_dwpd.word(row), words = needed ? `needs ${needed} drive writes a day` : '';
  return words && rated ? `${words}, rated ${rated}` : words;
}

const speedWords = (store, row, isPerDevice) => `${count(Math.floor(speedsOf(store, isPerDevice)[row] + 0.5))} tps${isPerDevice ? ' per device' : ''}`;
const sentenceOfMark = (name, parts) => `${name}: ${parts.filter(Boolean).join('; ')}.`.replaceAll('\u00a0', ' ');

// What a mark shows in the chart of speed, and in that of endurance.
const markSentence = (store, row, threshold, isPerDevice) => cached(store, `mark ${threshold} ${isPerDevice} ${row}`, () => sentenceOfMark(nameOf(store, row), [
  speedWords(store, row, isPerDevice), `${store.columns[`pct_over_${threshold}`].word(row)} % of reads over ${THRESHOLDS[threshold][1]}`,
  TIME_WORDS[groupsOf(store)[row].time], enduranceWords(store, row),
]));
const enduranceSentence = (store, row) => cached(store, `endurance mark ${row}`, () => sentenceOfMark(`Endurance of ${nameOf(store, row)}`, [
  `its rating allows ${store.columns.sustained_tps.word(row)} tps`, `tested at ${speedWords(store, row, false)}`, enduranceWords(store, row),
]));

/** Return functions for the links of marks in the charts of speed and of endurance. Links have the reader's load and own limits, as those of the table. */
export function linksOf(store, {threshold, toDrive}, isPerDevice) {
  const carried = toDrive.length ? `?${new URLSearchParams(toDrive)}` : '', address = row => `/drive/${store.product[row]}/${carried}`;
  return {
    speed: row => ({address: address(row), sentence: markSentence(store, row, threshold, isPerDevice)}),
    endurance: row => ({address: address(row), sentence: enduranceSentence(store, row)}),
  };
}

function counted(rows, statisticOf) {
  const found = new Map(Object.keys(STATISTICS).map(code => [code, 0]));
  for (const row of rows) found.set(statisticOf(row), found.get(statisticOf(row)) + 1);
  return new Map([...found].filter(([, number]) => number));
}

const mostOf = numbers => [...numbers].reduce((most, each) => each[1] > most[1] ? each : most, ['', 0])[0] || 'steady-as-published';

// The fastest answer: of the group of service time, if it has any. Answers are ordered by speed.
function headlineRow(store, answers) {
  const groups = Object.keys(FRONTIER_NAMES).map(fill => largestGroup(store, answers, fill));
  return groups.find(Boolean)?.rows[0] ?? null;
}

function enduranceOf(store, question, shown, drives, answers) {
  const speeds = speedsOf(store), sustained = shown.map(row => [row, numberIn(store.columns.sustained_tps.word(row))]).filter(([, tps]) => tps !== null);
  if (!sustained.length) return null;
  return enduranceChart(question, drives, headlineRow(store, answers), [sustained.filter(([row, tps]) => tps >= speeds[row]).length, sustained.length]);
}

function sentenceOf({shown, answers, load, legends, hasCells}) {
  const speed = load ? `were tested at ${count(Math.floor(load + 0.5))} tps or more,` : 'are';
  return [
    `${count(shown.length)} ${shown.length === 1 ? 'result' : 'results'}. Right is faster, low is fewer slow reads.`,
    `${count(answers.length)} of them ${speed} within the limits.`,
    ...legends.map(([style, , full]) => `${style[0].toUpperCase()}${style.slice(1)} line: ${full}.`), hasCells ? 'Marks show the frontier and the rows of this page; cells count all results.' : '', 'The table below has the same figures.',
  ].filter(Boolean).join(' ');
}

// The style of the line of a frontier, and what it joins, in short and in full.
function legendOf(fill, {time}, withDevices) {
  const [style, short] = FRONTIER_LINES[fill];
  return [style, `fastest of ${short}${withDevices}`, `fastest of ${TIME_WORDS[time]}${withDevices}`];
}

// The rows that a chart of speed shows, the fastest first: those of one statistic; and how many rows each statistic has.
function shownRows(store, rows, threshold, statistic, isPerDevice) {
  const places = placesOf(store, threshold, isPerDevice), plottable = isPlottable(store, threshold, isPerDevice), statisticOf = row => store.columns.statistic.word(row);
  const possible = rows.filter(row => plottable[row]), statistics = counted(possible, statisticOf), chosen = statistics.has(statistic) ? statistic : mostOf(statistics);
  return {statistics, chosen, shown: possible.filter(row => statisticOf(row) === chosen).sort((a, b) => places[a] - places[b])};
}

/** Return what the charts show: `rows` match the query, `firstRows` are on the table's page, `loads` names the filters of the axis, `passes` checks the limits; with `isPerDevice`, systems have the speed of one device; `drives` have a mark. With `isFitted`, the axis of shares is fitted to them. */
export function chartedRows(store, {rows, firstRows, loads, passes, isPerDevice = false, deviceUnit = '', showsProviders = false}, {threshold, statistic, limits, numbers}, isFitted = false) {
  const speeds = speedsOf(store, isPerDevice), shares = sharesOf(store, threshold), {statistics, chosen, shown} = shownRows(store, rows, threshold, statistic, isPerDevice);
  const load = Math.max(0, ...numbers.filter(([name]) => loads.includes(name)).map(([, text]) => Number(text)));
  const within = shown.filter(passes), answers = within.filter(row => speeds[row] >= load), isWithin = new Set(within);
  const question = axesOf({
    limit_pct: Number(limits.get(THRESHOLDS[threshold][0]) ?? DEFAULT_LIMIT_PCT), load_tps: load || null, answers_count: answers.length,
    slowest_tps: shown.length ? speeds[shown.at(-1)] : 3000, fastest_tps: shown.length ? speeds[shown[0]] : 300000,
    largest_share_pct: shown.reduce((most, row) => Math.max(most, shares[row]), 0),
  }, isFitted);
  const groups = groupsOf(store), hasSeveral = new Set(shown.map(row => groups[row].devices)).size > 1;
  const legends = [], frontiers = Object.entries(FRONTIER_NAMES).flatMap(([fill, names]) => {
    const {rows: members, group} = largestGroup(store, within, fill) ?? {};
    if (!members) return [];
    const edges = frontierOf(members, speeds, shares), ofKind = within.filter(row => groups[row].fill === fill && groups[row].isRanked);
    if (frontierOf(ofKind, speeds, shares).join() !== edges.join()) return []; // a plotted result of another group beats it
    legends.push(legendOf(fill, group, hasSeveral ? `, ${devicesWords(group.devices)}` : ''));
    return [{fill, ...(hasSeveral ? namedDevices(names, group.devices) : names), slowest_tps: speeds[members.at(-1)], edges: edges.map(row => [row, speeds[row], shares[row]])}];
  });
  const hasCells = shown.length > MARKS_AT_MOST, isShown = new Set(hasCells ? shown : []);
  const marked = hasCells ? [...new Set([...frontiers.flatMap(({edges}) => edges.map(([row]) => row)), ...firstRows])].filter(row => isShown.has(row)) : shown;
  const drivesOf = some => some.map(row => plottedDrive(store, row, speeds, shares, isWithin.has(row), showsProviders)), drives = drivesOf(marked);
  let all = hasCells ? null : drives; // made once, and only to explore
  const cells = hasCells ? densityCells(question, shown, row => speeds[row], row => shares[row]) : [];
  return {
    question, frontiers, drives, isPerDevice, deviceUnit, speedFilter: loads[0], allDrives: () => all ??= drivesOf(shown),
    shownCount: shown.length, statistic: chosen, statistics: [...statistics.keys()], description: sentenceOf({shown, answers, load, legends, hasCells}), legends,
    speed: speedChart(question, drives, frontiers, cells), hasRatings: shown.some(row => store.columns.sustained_tps.codes[row] >= 0),
    endurance: () => enduranceOf(store, question, shown, drives, answers),
  };
}
