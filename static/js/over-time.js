// A run over its time: the heat map of where its reads fell, and how many there were a second. Both from one answer.
import {reducedSentence, tableBehind} from './chart-table.js';
import {axis, drawIn, fetched, isNarrow, titled, token, unitOf, whenSeen} from './chart.js';

const SHADES = 8; // q0 is nothing, q1 what is below 0.0001 %, each next one ten times as much, q7 from 10 %
const counted = new Intl.NumberFormat('en-US', {maximumFractionDigits: 1});

const middle = ([start, end]) => (start + end) / 2;
const clock = ([start, end]) => `${counted.format(start)} to ${counted.format(end)} s`;

const shadeOf = share => share === 0 ? 0 : Math.max(1, Math.min(SHADES - 1, Math.floor(Math.log10(share)) + 6));

// Steps and no gradient: a shade can be told apart from its neighbours, and looked up in the key.
function scale() {
  return Array.from({length: SHADES}, (_, shade) => token(`q${shade}`))
    .flatMap((colour, shade) => [[shade / SHADES, colour], [(shade + 1) / SHADES, colour]]);
}

// Edges of the log's own buckets are the axis; those at which limits are read are bold, with a line across.
function edges(told) {
  const every = Math.ceil(told.buckets.length / (isNarrow() ? 10 : 16));
  const read = new Map(told.edges.map(edge => [edge.bucket, edge]));
  const shown = [...told.buckets.keys()].filter(place => place % every === 0 || read.has(told.buckets[place].bucket));
  return {
    tickvals: shown.map(place => place - 0.5),
    ticktext: shown.map(place => read.has(told.buckets[place].bucket) ? `<b>${told.buckets[place].from}</b>` : told.buckets[place].from),
  };
}

function lines(told) {
  const first = told.buckets[0].bucket;
  return told.edges.filter(edge => edge.bucket >= first && edge.bucket < first + told.buckets.length).map(edge => ({
    type: 'line', xref: 'paper', x0: 0, x1: 1, y0: edge.bucket - first - 0.5, y1: edge.bucket - first - 0.5,
    line: {color: token('ink'), width: 1.5},
  }));
}

const span = bucket => `${bucket.from} to ${bucket.to}`;

function heat(plot, told) {
  const [seconds, unit] = unitOf(told.columns.at(-1)[1] - told.columns[0][0]);
  const trace = {
    type: 'heatmap', x: [...told.columns.map(column => column[0] / seconds), told.columns.at(-1)[1] / seconds],
    z: told.shares.map(row => row.map(share => share === null ? null : shadeOf(share))),
    customdata: told.shares.map((row, bucket) => row.map((share, column) => [share, span(told.buckets[bucket]), clock(told.columns[column])])),
    zmin: -0.5, zmax: SHADES - 0.5, colorscale: scale(), showscale: false, xgap: 0, ygap: 0, hoverongaps: false,
    hovertemplate: '%{customdata[1]}<br>%{customdata[2]}<br>%{customdata[0]} % of reads<extra></extra>',
  };
  const parts = {
    margin: {l: isNarrow() ? 76 : 92, r: 8, t: 8, b: 40},
    xaxis: {...axis(), showgrid: false, title: titled(`${unit} since the start`)},
    yaxis: {...axis(), showgrid: false, ...edges(told)},
    shapes: lines(told),
  };
  drawIn(plot, [trace], parts, 'Distribution of the reads over the run', told.columns.map((column, place) => [0, [0, place], slowest(told, place)]));
}

function slowest(told, column) {
  const bucket = told.shares.findLastIndex(row => row[column] > 0);
  if (bucket < 0) return `${clock(told.columns[column])}: nothing known`;
  return `${clock(told.columns[column])}: slowest reads took ${span(told.buckets[bucket])}, ${told.shares[bucket][column]} %`;
}

// The strip does not begin at zero: that a rate was held is seen in its last percent, and the axis says so.
function rates(plot, told) {
  const [seconds, unit] = unitOf(told.columns.at(-1)[1] - told.columns[0][0]);
  const asked = told.asked_per_s;
  const part = rate => rate === null ? null : asked ? rate * 100 / asked : rate;
  const x = told.columns.map(column => middle(column) / seconds);
  const least = told.least_per_s.map(part), greatest = told.greatest_per_s.map(part);
  const known = [...least, ...greatest].filter(value => value !== null);
  const [low, high] = [Math.min(98, ...known), Math.max(101, ...known)];
  const range = asked ? [low < 98 ? low - (high - low) / 20 : low, high] : [0, 1.05 * Math.max(...known)];
  const line = {mode: 'lines', x, line: {color: token('mark'), width: 1}, hoverinfo: 'skip', connectgaps: false};
  const traces = [
    {...line, y: least},
    {...line, y: greatest, fill: 'tonexty', fillcolor: token('track'), hoverinfo: 'all',
      customdata: told.columns.map((column, place) => [clock(column), told.least_per_s[place], told.greatest_per_s[place]]),
      hovertemplate: '%{customdata[0]}<br>%{customdata[1]:,} to %{customdata[2]:,} reads/s<extra></extra>'},
  ];
  const parts = {
    margin: {l: isNarrow() ? 76 : 92, r: 8, t: 8, b: 40},
    xaxis: {...axis(), showgrid: false, title: titled(`${unit} since the start`),
      range: [told.columns[0][0] / seconds, told.columns.at(-1)[1] / seconds]},
    yaxis: {...axis(), showline: false, nticks: 4, range, ticksuffix: asked ? ' %' : ''},
    shapes: asked ? [{type: 'line', xref: 'paper', x0: 0, x1: 1, y0: 100, y1: 100, line: {color: token('ink'), width: 1.5}}] : [],
  };
  const points = told.columns.map((column, place) => [1, place,
    `${clock(column)}: ${counted.format(told.least_per_s[place])} to ${counted.format(told.greatest_per_s[place])} reads a second`]);
  drawIn(plot, traces, parts, asked ? 'Achieved rate of reads, percent of what was asked' : 'Achieved rate of reads, a second', points);
}

// Every line of the table is a column of the chart, with the rates that its band reaches to.
function rateTable(told) {
  const part = rate => rate === null ? 'not known' : `${counted.format(rate * 100 / told.asked_per_s)} %`;
  const rate = value => value === null ? 'not known' : counted.format(value);
  const heads = [
    {text: 'From', unit: 's', meaning: 'elapsed'}, {text: 'To', unit: 's', meaning: 'elapsed'},
    {text: 'Least', unit: 'reads/s', meaning: 'rate'}, {text: 'Greatest', unit: 'reads/s', meaning: 'rate'},
  ];
  const shares = [{text: 'Least', unit: 'of what was asked', meaning: 'rate_asked'}, {text: 'Greatest', unit: 'of what was asked', meaning: 'rate_asked'}];
  const rows = told.columns.map(([start, end], place) => {
    const ends = [told.least_per_s[place], told.greatest_per_s[place]];
    return [counted.format(start), counted.format(end), ...ends.map(rate), ...(told.asked_per_s ? ends.map(part) : [])];
  });
  return {
    name: 'Achieved rate', heads: told.asked_per_s ? [...heads, ...shares] : heads, rows,
    sentence: reducedSentence(told.columns.length, told.pieces_count, told.pieces),
  };
}

let asked;
for (const [name, draw] of [['heat-map', heat], ['rate', rates]]) {
  const box = document.querySelector(`[data-over-time=${name}]`);
  if (box) whenSeen(box, () => asked ??= fetched(box.dataset.source), ([plot], told) => draw(plot, told));
}
const fold = document.getElementById('rate-table');
if (fold) tableBehind(fold, fold.dataset.meanings, async () => rateTable(await (asked ??= fetched(fold.dataset.source))));
