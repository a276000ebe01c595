// The chart of speed to explore: the picture of the page, drawn by Plotly, with zoom and pan, and an axis of shares that is fitted to the marks.
// Its coordinates are percent of the picture: x from the left, y from the bottom. Marks, frontiers and rules are where speed-chart.js places them.
import {TEXT_PX, axis, drawIn, isNarrow, listen, loadPlotly, plain, token} from '../charts/chart.js';
import {count, load} from '../drives/column-store.js';
import {checkLimits} from '../drives/limit-check.js';
import {chartedRows, linksOf} from './charted-rows.js';
import {COLUMNS, LEVELS, MARKS_AT_MOST, ROWS} from './density.js';
import {OVER_LINE_PX, PHONE, WIDE, isOver, radiusOf, ticksWithTexts} from './picture.js';
import {linearScale, logScale, percent} from './scales.js';
import {ABOVE_LIMIT, LABELS_MAX, NEARLY_WHOLE, SHARE_TICKS, TICK_WIDTHS_PX, shareTicks, speedChart} from './speed-chart.js';

const WHOLE = {x: [0, 100], y: [0, 100]};
const marginOf = () => ({t: 32, b: 28, ...isNarrow() ? {l: 28, r: 12} : {l: 30, r: 34}}); // on the right, labels reach as far beyond the plot as in the picture
const BASELINE_PX = 4; // from the lower edge of an annotation to the baseline of its text
// As css/landscape.css: colour, width and dashes of lines by kind, colour and element of texts by kind, colour of marks by state. A browser test compares them.
export const LINES = {limit: ['ink', 1.5, 'solid'], load: ['accent', 1.5, 'solid'], 'front solid': ['ink-2', 1.25, 'solid'], 'front dashed': ['ink-2', 1.25, '5px,3px'], 'leader wide': ['ink-3', 1, 'solid'], 'leader phone': ['ink-3', 1, 'solid']};
export const TEXTS = {strong: ['ink', 'b'], zonetext: ['accent', 'b'], name: ['ink', 'span'], fronttext: ['ink-2', 'i'], overtext: ['over', 'b']};
export const STATES = {in: 'accent', out: 'mark', over: 'over'}, PROVIDERS = {p0: 'accent', p1: 'provider-1', p2: 'provider-2', p3: 'mark'};
// By shape: Plotly's symbol, its size, and half of its height, as multiples of the radius that give the outline of svg/marks.py. A browser test compares them.
const SYMBOLS = {c: ['circle', 2, 1], s: ['square', 1.78, 0.89], d: ['diamond', 2, 1.3], x: ['x', 1.91, 1.08]};
const LINE_TIMES = 1.4; // Plotly's line is longer than its size

/** Return what the chart of the home page shows, which its attributes describe. */
export async function resultsOfHome({dataset}) {
  const store = await load(dataset.file), {categories, loadTps, listed, bounds = [], ...query} = JSON.parse(dataset.question);
  const {category, historical} = store.columns, rows = [...Array(store.count).keys()], isListed = new Set(listed);
  const isInBounds = row => bounds.every(([code, kind, bound]) => store.columns[code].codes[row] >= 0 && (kind === 'most' ? store.columns[code].value(row) <= bound : store.columns[code].value(row) >= bound));
  const [limits, profile] = [query.limits, query.profile].map(texts => new Map(Object.entries(texts)));
  return {
    store, query: {...query, limits, numbers: [['load', loadTps]]},
    plotted: {
      rows: rows.filter(row => categories.includes(category.word(row)) && historical.word(row) !== 'yes' && isInBounds(row)),
      firstRows: rows.filter(row => isListed.has(store.run[row])), loads: ['load'], passes: checkLimits(store, limits, profile).passes,
    },
  };
}

// The question with the axes of a view. Within one step of the axis of speeds, its ticks have equal distances.
function questionOf(question, {x: [left, right], y: [low, high]}) {
  const [slowest, fastest] = [left, right].map(place => question.x.valueAt(place / 100)), x = logScale(slowest, fastest);
  const ticks = () => x.ticks().length > 1 ? x.ticks() : linearScale(slowest, fastest, SHARE_TICKS).ticks();
  return {...question, x: {...x, ticks}, y: linearScale(question.y.valueAt(low / 100), question.y.valueAt(high / 100), SHARE_TICKS)};
}

// Return what measures a text of a kind in the font of the page: in a wide font, a name would reach to the mark of another drive.
function textMeasure() {
  const context = document.createElement('canvas').getContext('2d'), styles = {b: 'bold ', i: 'italic '};
  return (words, kind) => {
    context.font = `${styles[TEXTS[kind.split(' ')[0]][1]] ?? ''}${TEXT_PX}px ${token('sans')}`;
    return context.measureText(words).width;
  };
}

// Labels are placed for the size on the screen. As in the picture, a phone shows one label, until the reader zooms.
function plotsOf(view, {clientWidth, clientHeight}) {
  const {l, r, t, b} = marginOf(), isZoomed = view.x[0] > 0 || view.x[1] < 100;
  return [[isNarrow() ? PHONE : WIDE, clientWidth - l - r, clientHeight - t - b, isNarrow() && !isZoomed ? 1 : LABELS_MAX, textMeasure()]];
}

// What a view shows: the picture of all results, with marks instead of cells if few results are in view, and the ticks, names and labels of the view.
function pictureOf(charted, view, plot) {
  const {question, frontiers, speed} = charted, own = questionOf(question, view), {x: [left, right], y: [low, high]} = view;
  const isInView = ({tps, share_pct: share}) => own.x.low <= tps && tps <= own.x.high && own.y.low <= share && share <= own.y.high;
  const inView = charted.allDrives().filter(isInView), hasMarks = inView.length <= MARKS_AT_MOST;
  const whole = speed.cells.length && hasMarks ? speedChart(question, inView, frontiers) : speed;
  const {marks, axis_texts: axisTexts, labels, lines} = speedChart(own, hasMarks ? inView : charted.drives.filter(isInView), frontiers, hasMarks ? [] : speed.cells, plotsOf(view, plot));
  const placed = ({x, y, ...others}) => ({...others, x: left + x * (right - left) / 100, y: high - y * (high - low) / 100});
  const isLeader = ({kind}) => kind.startsWith('leader'), endOf = (x, y) => placed({x, y});
  const placedLine = ({kind, x1, y1, x2, y2}) => {
    const [{x: left1, y: low1}, {x: left2, y: low2}] = [endOf(x1, y1), endOf(x2, y2)];
    return {kind, x1: left1, y1: 100 - low1, x2: left2, y2: 100 - low2};
  };
  const ofView = new Map(marks.map(mark => [mark.key, placed(mark)])), [ticks, tickTexts] = ticksWithTexts(own.x, TICK_WIDTHS_PX);
  return {
    ...whole, marks: whole.marks.map(mark => ofView.get(mark.key) ?? {...mark, y: 100 - mark.y}),
    lines: [...whole.lines.filter(each => !isLeader(each)), ...lines.filter(isLeader).map(placedLine)], // leaders are those of the view
    texts: [...axisTexts, ...labels].map(placed),
    xTicks: ticks.map((x, number) => placed({kind: 'tick', text: '', ...tickTexts[number], x, y: 100})),
    yTicks: shareTicks(own, percent(1 - own.y.place(own.limit_pct))).map(placed),
  };
}

// A view half as wide and high, around the selected mark or the one nearest to the middle of the marks: no view is empty.
function nearer(view, marks, selected) {
  const inView = marks.filter(mark => ['x', 'y'].every(name => view[name][0] <= mark[name] && mark[name] <= view[name][1]));
  const middle = name => inView.map(mark => mark[name]).sort((a, b) => a - b)[inView.length >> 1], [x, y] = ['x', 'y'].map(middle);
  const distance = mark => Math.abs(mark.x - x) + Math.abs(mark.y - y);
  const around = selected ?? inView.reduce((near, mark) => near && distance(near) <= distance(mark) ? near : mark, undefined);
  const half = name => {
    const [low, high] = view[name], length = (high - low) / 2, start = (around?.[name] ?? (low + high) / 2) - length / 2;
    const first = Math.min(Math.max(start, low), high - length);
    return [first, first + length];
  };
  return {x: half('x'), y: half('y')};
}

// Zoom and pan are modes of Plotly's bar, whose buttons have no state for screen readers.
function markModes(plot) {
  plot.querySelectorAll('.modebar-btn[data-attr=dragmode]').forEach(button => button.setAttribute('aria-pressed', button.dataset.val === plot.layout.dragmode));
}

const isShown = ({kind}) => !kind.split(' ').includes(isNarrow() ? WIDE : PHONE);

const lineTraces = ({lines}) => Object.entries(LINES).map(([kind, [colour, width, dash]]) => {
  const drawn = lines.filter(line => line.kind === kind);
  return {
    name: kind, mode: 'lines', hoverinfo: 'skip', x: drawn.flatMap(({x1, x2}) => [x1, x2, null]), y: drawn.flatMap(({y1, y2}) => [100 - y1, 100 - y2, null]),
    line: {color: token(colour), width, dash},
  };
});

function cellTrace({cells}) {
  const [z, text] = [0, 1].map(() => Array.from({length: ROWS}, () => Array(COLUMNS).fill(null)));
  for (const {x, y, level, drives_count: results} of cells) {
    const column = Math.round(x / 100 * COLUMNS), row = ROWS - 1 - Math.round(y / 100 * ROWS);
    z[row][column] = level;
    text[row][column] = `${count(results)} ${results === 1 ? 'result' : 'results'}. Zoom in to see the marks.`;
  }
  const edges = parts => Array.from({length: parts + 1}, (_, part) => 100 * part / parts), levels = [...Array(LEVELS).keys()];
  return {
    type: 'heatmap', x: edges(COLUMNS), y: edges(ROWS), z, text, hovertemplate: '%{text}<extra></extra>', hoverongaps: false, xgap: 1, ygap: 1,
    zmin: 1, zmax: LEVELS, colorscale: levels.map(level => [level / (LEVELS - 1), token(`q${level + 1}`)]), showscale: false,
  };
}

// The look of a mark, as css/landscape.css; a browser test compares them.
function lookOf({symbol, classes}) {
  const [, fill, state, provider] = classes.split(' '), colour = token(PROVIDERS[provider] ?? STATES[state]), isSolid = fill === 'full', hasOwnBorder = !isSolid || state === 'over';
  const [shape, times] = SYMBOLS[symbol[0]];
  return {
    shape, size: times * radiusOf({symbol}), inside: isSolid ? colour : token('paper'), border: state === 'over' ? token(STATES.over) : hasOwnBorder ? colour : token('paper'),
    width: hasOwnBorder ? 1.6 : 1, dash: fill === 'unranked' ? '2px,1.6px' : 'solid',
  };
}

function markTrace({marks}) {
  const looks = marks.map(lookOf), each = name => looks.map(look => look[name]);
  return {
    mode: 'markers', cliponaxis: false, x: marks.map(({x}) => x), y: marks.map(({y}) => y), hoverinfo: 'none',
    marker: {symbol: each('shape'), size: each('size'), color: each('inside'), opacity: 1, line: {color: each('border'), width: each('width'), dash: each('dash')}},
  };
}

// The lines below the marks over the limit.
function overTrace({marks}) {
  const over = marks.filter(isOver), each = value => over.map(value);
  return {
    mode: 'markers', cliponaxis: false, x: each(({x}) => x), y: each(({y}) => y), hoverinfo: 'skip',
    marker: {
      symbol: 'line-ew', size: each(mark => 2 * radiusOf(mark) / LINE_TIMES), standoff: each(mark => SYMBOLS[mark.symbol[0]][2] * radiusOf(mark) + OVER_LINE_PX),
      opacity: 1, line: {color: token(STATES.over), width: 1.6, dash: each(({classes}) => lookOf({symbol: 'c0', classes}).dash)},
    },
  };
}

function annotationOf({kind, x, y, dx, dy, anchor, text}) {
  const [colour, element] = TEXTS[kind.split(' ')[0]];
  return {
    x, y, xshift: dx, yshift: -dy - BASELINE_PX, xanchor: {start: 'left', middle: 'center', end: 'right'}[anchor], yanchor: 'bottom', borderpad: 0, showarrow: false,
    text: `<${element}>${plain(text)}</${element}>`, font: {color: token(colour), size: TEXT_PX},
  };
}

function axesOf({xTicks, yTicks}, view) {
  const ofView = (name, ticks) => ({
    ...axis(), fixedrange: false, showline: false, range: [...view[name]], minallowed: 0, maxallowed: 100,
    tickvals: ticks.map(tick => tick[name]), ticktext: ticks.map(tick => isShown(tick) ? tick.kind.includes('strong') ? `<b>${tick.text}</b>` : tick.text : ''),
  });
  return {
    xaxis: {...ofView('x', xTicks), showgrid: false, ticks: 'outside', ticklen: 5, tickcolor: token('rule-2')},
    yaxis: {...ofView('y', yTicks), automargin: 'left'},
  };
}

const zoneShape = ({zone: {x, y, width, height}}) => (
  {type: 'rect', layer: 'below', x0: x, x1: x + width, y0: 100 - y, y1: 100 - y - height, fillcolor: token('accent-2'), opacity: 0.62, line: {width: 0}});

// The shares of a range of speeds: from 0 to a little above the largest one, or the whole axis if that is nearly as high.
function fittedShares({question, allDrives}, range) {
  const [slowest, fastest] = range.map(place => question.x.valueAt(place / 100));
  const largest = allDrives().reduce((most, {tps, share_pct: share}) => slowest <= tps && tps <= fastest ? Math.max(most, share) : most, 0);
  const high = 100 * ABOVE_LIMIT * question.y.place(largest);
  return [0, high > 0 && high < 100 * NEARLY_WHOLE ? high : 100];
}

// What the pointer is over: the name of a mark, or the number of results in a cell.
function sentenceAt({data, pointNumber}, marks, linkOf) {
  if (data.mode === 'markers') return linkOf(marks[pointNumber].key).sentence;
  const [row, column] = pointNumber;
  return data.text[row][column];
}

/** Load Plotly, and return a function that draws results in a plot. It shows what the pointer or the arrow keys select with `showName`, and returns a function that ends the drawing. */
export async function explorer(library, {store, plotted, query}) {
  await loadPlotly(library);
  const charted = chartedRows(store, plotted, query, true), linkOf = linksOf(store, query, charted.isPerDevice).speed;
  return (plot, showName) => {
    let view = WHOLE, marks = [], isFitted = true; // the axis of shares follows that of speeds until the reader chooses shares
    const zoomIn = {
      name: 'Zoom in', title: 'Zoom in', icon: window.Plotly.Icons.zoom_plus,
      click: () => {
        const {x, y} = nearer(view, marks, marks[plot.chartPoints[plot.chartPlace]?.[1]]);
        window.Plotly.relayout(plot, {'xaxis.range': x, 'yaxis.range': y});
      },
    };
    const select = (place, sentence) => {
      plot.querySelectorAll('.point.on').forEach(point => point.classList.remove('on'));
      [...plot.querySelectorAll('.scatterlayer .trace:last-child .point')][place]?.classList.add('on');
      showName(sentence);
    };
    const redraw = () => {
      const picture = pictureOf(charted, view, plot), traces = [...(picture.cells.length ? [cellTrace(picture)] : []), ...lineTraces(picture), overTrace(picture), markTrace(picture)];
      ({marks} = picture);
      const bySpeed = marks.map((mark, place) => [traces.length - 1, place, linkOf(mark.key).sentence]).sort(([, a], [, b]) => marks[a].x - marks[b].x);
      select();
      drawIn(plot, traces, {
        ...axesOf(picture, view), margin: marginOf(), dragmode: plot.layout?.dragmode ?? 'zoom', shapes: [zoneShape(picture)],
        annotations: picture.texts.filter(({kind}) => kind.split(' ')[0] in TEXTS).filter(isShown).map(annotationOf),
        modebar: {bgcolor: 'transparent', color: token('ink-3'), activecolor: token('accent')},
      }, 'Speed and slow reads', bySpeed, {displayModeBar: true, displaylogo: false, modeBarButtons: [['zoom2d', 'pan2d', zoomIn, 'zoomOut2d', 'resetScale2d']]});
    };
    const open = place => location.assign(linkOf(marks[place].key).address);
    const changes = new MutationObserver(redraw), media = ['(prefers-color-scheme: dark)', '(max-width: 760px)'].map(condition => matchMedia(condition));
    redraw();
    plot.on('plotly_afterplot', () => markModes(plot));
    markModes(plot);
    listen(plot, 'last', (point, sentence) => select(point?.[1], sentence)); // the fastest mark is the first
    plot.on('plotly_hover', ({points: [point]}) => select(point.data.mode === 'markers' ? point.pointNumber : undefined, sentenceAt(point, marks, linkOf)));
    plot.on('plotly_unhover', () => select());
    plot.on('plotly_relayout', changed => {
      const isChanged = name => Object.keys(changed).some(key => key.startsWith(name));
      view = {x: plot.layout.xaxis.range, y: plot.layout.yaxis.range};
      if (isChanged('yaxis')) isFitted = view.y[0] === WHOLE.y[0] && view.y[1] === WHOLE.y[1];
      else if (isChanged('xaxis') && isFitted) view = {...view, y: fittedShares(charted, view.x)};
      markModes(plot);
      plot.chartPlace = undefined; // other marks may be in view
      redraw();
    });
    plot.on('plotly_click', ({points: [point]}) => { if (point.data.mode === 'markers') open(point.pointNumber); });
    plot.addEventListener('keydown', ({key, target}) => { if (key === 'Enter' && target === plot && plot.chartPlace !== undefined) open(plot.chartPoints[plot.chartPlace][1]); });
    changes.observe(document.documentElement, {attributeFilter: ['data-theme']});
    media.forEach(each => each.addEventListener('change', redraw));
    return () => {
      changes.disconnect();
      media.forEach(each => each.removeEventListener('change', redraw));
      select();
      window.Plotly.purge(plot);
    };
  };
}
