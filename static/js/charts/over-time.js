// A run over time: the heat map of its read latencies, and the rate of reads. Both use the same data.
import {counted, headsOf, reducedSentence, reported, tableBehind} from './chart-table.js';
import {axis, drawIn, fetched, isNarrow, rangeBars, sliceMarks, titled, token, unitOf, whenExplored} from './chart.js';

const clock = ([start, end]) => `${counted.format(start)} to ${counted.format(end)} s`;

// The number of the shade of a share; the edges of the shades are in the page. Each shade includes its lower edge.
const shadeOf = (share, edges) => share === 0 ? 0 : 1 + edges.filter(edge => edge <= share).length;

// Steps, not a gradient, so that a shade can be distinguished from its neighbours and found in the key.
function scale(count) {
  return Array.from({length: count}, (_, shade) => token(shade ? `h${shade}` : 'paper'))
    .flatMap((colour, shade) => [[shade / count, colour], [(shade + 1) / count, colour]]);
}

// The axis has the edges of the log's buckets, chosen as in charts/distribution.py. Those at which limits are read are bold, with a line across.
function edges(data) {
  const count = data.buckets.length, step = Math.ceil((count + 1) / 24);
  const read = new Set(data.edges.map(edge => edge.bucket)), first = data.buckets[0].bucket;
  const always = place => place === count || read.has(first + place);
  const isNear = place => [...Array(count + 1).keys()].some(other => always(other) && Math.abs(other - place) < step);
  const shown = [...Array(count + 1).keys()].filter(place => always(place) || place % step === 0 && (step === 1 || !isNear(place)));
  const text = place => place === count ? data.buckets.at(-1).to : data.buckets[place].from;
  return {
    tickvals: shown.map(place => place - 0.5),
    ticktext: shown.map(place => read.has(first + place) ? `<b>${text(place)}</b>` : text(place)),
  };
}

function lines(data) {
  const first = data.buckets[0].bucket;
  return data.edges.filter(edge => edge.bucket >= first && edge.bucket < first + data.buckets.length).map(edge => ({
    type: 'line', xref: 'paper', x0: 0, x1: 1, y0: edge.bucket - first - 0.5, y1: edge.bucket - first - 0.5,
    line: {color: token('ink'), width: 1.5},
  }));
}

const span = bucket => `${bucket.from} to ${bucket.to}`;

// What both charts share: the seconds in a unit of the axis, the margins, the axis of the time since the start, and the
// marks of the slices.
function timeParts(plot, data) {
  const [seconds, unit] = unitOf(data.columns.at(-1)[1] - data.columns[0][0]);
  return {
    seconds, ...sliceMarks(plot, seconds), margin: {l: isNarrow() ? 76 : 92, r: 8, t: 20, b: 40},
    xaxis: {...axis(), showgrid: false, title: titled(`${unit} since the start`)},
  };
}

function heat(plot, data) {
  const shadeEdges = plot.closest('[data-shade-edges]').dataset.shadeEdges.split(' ').map(Number), shadesCount = shadeEdges.length + 2;
  const {seconds, shapes, ...time} = timeParts(plot, data);
  const trace = {
    type: 'heatmap', x: [...data.columns.map(column => column[0] / seconds), data.columns.at(-1)[1] / seconds],
    y: Array.from({length: data.buckets.length + 1}, (_, edge) => edge - 0.5), // a single row has no height of its own
    z: data.shares.map(row => row.map(share => share === null ? null : shadeOf(share, shadeEdges))),
    customdata: data.shares.map((row, bucket) => row.map((share, column) => [share, span(data.buckets[bucket]), clock(data.columns[column])])),
    zmin: -0.5, zmax: shadesCount - 0.5, colorscale: scale(shadesCount), showscale: false, xgap: 0, ygap: 0, hoverongaps: false,
    hovertemplate: '%{customdata[1]}<br>%{customdata[2]}<br>%{customdata[0]} % of reads<extra></extra>',
  };
  const parts = {
    ...time,
    yaxis: {...axis(), showgrid: false, ...edges(data)},
    shapes: [...lines(data), ...shapes],
  };
  drawIn(plot, [trace], parts, 'Distribution of the reads over the run', data.columns.map((column, place) => [0, [0, place], slowest(data, place)]));
}

function slowest(data, column) {
  const bucket = data.shares.findLastIndex(row => row[column] > 0);
  if (bucket < 0) return `${clock(data.columns[column])}: no data`;
  return `${clock(data.columns[column])}: slowest reads took ${span(data.buckets[bucket])}, ${data.shares[bucket][column]} %`;
}

const spoken = (least, greatest) => least === null || greatest === null ? reported(null) : `${reported(least)} to ${reported(greatest)} reads a second`;

// The axis does not begin at zero, because the last percent shows whether the rate was sustained.
function rates(plot, data) {
  const {seconds, shapes, ...time} = timeParts(plot, data);
  const requested = data.asked_per_s;
  const part = rate => rate === null ? null : requested ? rate * 100 / requested : rate;
  const x = data.columns.map(([start, end]) => (start + end) / 2 / seconds);
  const least = data.least_per_s.map(part), greatest = data.greatest_per_s.map(part);
  const known = [...least, ...greatest].filter(value => value !== null);
  const [low, high] = [Math.min(98, ...known), Math.max(101, ...known)];
  const range = requested ? [low < 98 ? low - (high - low) / 20 : low, high] : [0, 1.05 * Math.max(...known)];
  const width = data.columns.map(([start, end]) => (end - start) / seconds);
  const trace = rangeBars(x, width, least, greatest, {
    customdata: data.columns.map((column, place) => [clock(column), data.least_per_s[place], data.greatest_per_s[place]]),
    hovertemplate: '%{customdata[0]}<br>%{customdata[1]:,} to %{customdata[2]:,} reads/s<extra></extra>',
  });
  const parts = {
    ...time,
    xaxis: {...time.xaxis, range: [data.columns[0][0] / seconds, data.columns.at(-1)[1] / seconds]},
    yaxis: {...axis(), showline: false, nticks: 4, range, tickformat: ',.10~g', ticksuffix: requested ? ' %' : ''},
    shapes: [...(requested ? [{type: 'line', xref: 'paper', x0: 0, x1: 1, y0: 100, y1: 100, line: {color: token('ink'), width: 1.5}}] : []), ...shapes],
  };
  const points = data.columns.map((column, place) => [0, place, `${clock(column)}: ${spoken(data.least_per_s[place], data.greatest_per_s[place])}`]);
  drawIn(plot, [trace], parts, requested ? 'Achieved rate of reads, percent of the requested rate' : 'Achieved rate of reads, a second', points);
}

// Each line of the table is a column of the chart, with the lowest and highest rate of its band.
function rateTable(data) {
  const part = rate => rate === null ? 'not reported' : `${counted.format(rate * 100 / data.asked_per_s)} %`;
  const share = data.asked_per_s ? [{unit: 'of the requested rate', meaning: 'rate_asked'}] : [];
  const rows = data.columns.map(([start, end], place) => {
    const ends = [data.least_per_s[place], data.greatest_per_s[place]];
    return [counted.format(start), counted.format(end), ...ends.map(reported), ...(data.asked_per_s ? ends.map(part) : [])];
  });
  return {
    name: 'Achieved rate', heads: headsOf({unit: 'reads/s', meaning: 'rate'}, ...share), rows,
    sentence: reducedSentence(data.columns.length, data.pieces_count, data.pieces),
  };
}

// Both charts and the table share one download. After a failure, the next of them tries again.
let loading;
const dataOf = address => loading ??= fetched(address).catch(error => { loading = undefined; throw error; });
for (const [name, draw] of [['heat-map', heat], ['rate', rates]]) {
  const box = document.querySelector(`[data-explore=${name}]`);
  if (box) whenExplored(box, () => dataOf(box.dataset.source), ([plot], data) => draw(plot, data));
}
const fold = document.getElementById('rate-table');
if (fold) tableBehind(fold, fold.dataset.meanings, async () => rateTable(await dataOf(fold.dataset.source)));
