// Charts of curves (YCSB, sizing, nines): drawn when they come into view. The tables beside them have the same numbers.
const token = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const axis = title => ({
  title: {text: title, standoff: 8, font: {size: 12, color: token('ink-3')}}, showline: true, linecolor: token('rule-2'), linewidth: 1,
  zeroline: false, gridcolor: token('rule'), gridwidth: 1, ticks: '', tickfont: {size: 12, color: token('ink-3')}, fixedrange: true,
});

// Two curves differ twice, in colour and in line and mark, so that they do without colour.
const styles = () => [
  {line: {color: token('accent'), width: 2}, symbol: 'circle'},
  {line: {color: token('ink-3'), width: 2, dash: '5px,3px'}, symbol: 'square-open'},
  {line: {color: token('ink'), width: 1.5, dash: '2px,2px'}, symbol: 'diamond-open'},
  {line: {color: token('q5'), width: 1.5, dash: '8px,3px,2px,3px'}, symbol: 'triangle-up'},
  {line: {color: token('rule-2'), width: 1.5}, symbol: 'x-thin-open'},
  {line: {color: token('mark-near'), width: 1, dash: '1px,3px'}, symbol: 'star-open'},
];

const trace = (curve, place) => {
  const style = styles()[place % styles().length];
  return {
    type: 'scatter', mode: curve.line ? 'lines+markers' : 'markers', name: curve.name, x: curve.x, y: curve.y, text: curve.labels,
    line: style.line, hovertemplate: `${escaped(curve.name)}<br>%{x:,}: %{y:,.4~r}<br>%{text}<extra></extra>`,
    marker: {symbol: style.symbol, opacity: 1, color: style.line.color, size: curve.x.map((_, at) => at === curve.peak ? 13 : 8)},
  };
};

// Plotly reads a little markup in texts: a name must stay a name.
const escaped = text => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('%{', '% {');

const heldShape = line => line.axis === 'x'
  ? {type: 'line', layer: 'below', yref: 'paper', y0: 0, y1: 1, x0: line.at, x1: line.at, line: {color: token('ink'), width: 1.5}}
  : {type: 'line', layer: 'below', xref: 'paper', x0: 0, x1: 1, y0: line.at, y1: line.at, line: {color: token('ink'), width: 1.5}};

// A text beside an upright line stands on the side that has room.
const heldText = (line, right) => ({
  text: `<b>${escaped(line.text)}</b>`, showarrow: false, font: {color: token('ink'), size: 12},
  ...(line.axis === 'x'
    ? {x: line.at, yref: 'paper', y: 1, yanchor: 'top', ...(line.at > right / 2 ? {xanchor: 'right', xshift: -4} : {xanchor: 'left', xshift: 4})}
    : {xref: 'paper', x: 0, y: line.at, xanchor: 'left', yanchor: 'bottom', xshift: 4}),
});

// Thread counts are doubled or half as much again: on a logarithmic axis each has its own tick.
const threadTicks = panel => {
  const counts = [...new Set(panel.curves.flatMap(curve => curve.x))].sort((a, b) => a - b);
  const powers = counts.filter(count => Number.isInteger(Math.log2(count)));
  return {type: 'log', tickvals: powers.length > 2 ? powers : counts, tickformat: ',d'};
};

const layout = panel => {
  const top = Math.max(0, ...panel.curves.flatMap(curve => curve.y), ...panel.held.filter(line => line.axis === 'y').map(line => line.at));
  const right = Math.max(0, ...panel.curves.flatMap(curve => curve.x), ...panel.held.filter(line => line.axis === 'x').map(line => line.at));
  return {
    paper_bgcolor: token('paper'), plot_bgcolor: token('paper'), separators: '.,',
    font: {family: token('sans'), size: 12, color: token('ink-3')}, margin: {l: 56, r: 12, t: 8, b: 68},
    showlegend: panel.curves.length > 0, legend: {orientation: 'h', x: 0, y: -0.3, yanchor: 'top', font: {color: token('ink')}},
    xaxis: {...axis(panel.xTitle), showgrid: false, ...(panel.xLog ? threadTicks(panel) : {range: [0, 1.08 * right]})},
    yaxis: {...axis(panel.yTitle), showline: false, nticks: 6, range: [0, 1.12 * top]},
    hoverlabel: {bgcolor: token('paper'), bordercolor: token('ink'), font: {family: token('sans'), size: 12, color: token('ink')}},
    shapes: panel.held.map(heldShape), annotations: panel.held.map(line => heldText(line, right)),
  };
};

const draw = (box, panels) => panels.forEach((panel, place) => {
  const plot = box.querySelectorAll('.plot')[place];
  plot.setAttribute('role', 'img');
  plot.setAttribute('aria-label', `${panel.title}: ${panel.yTitle} by ${panel.xTitle}, ${panel.curves.map(curve => curve.name).join(' and ')}`);
  window.Plotly.react(plot, panel.curves.map(trace), layout(panel), {displayModeBar: false, responsive: true});
});

let loading;
const load = address => loading ??= new Promise((resolve, reject) => {
  const script = document.createElement('script');
  script.src = address;
  script.onload = resolve;
  script.onerror = () => reject(new Error(`${address}: the chart library did not load`));
  document.head.append(script);
});

async function show(box) {
  const panels = JSON.parse(document.getElementById(box.dataset.curves).textContent);
  const plots = box.querySelectorAll('.plot');
  try {
    await load(box.dataset.plotly);
  } catch (error) {
    plots.forEach(plot => { plot.firstElementChild.append(` ${error.message}.`); });
    return;
  }
  plots.forEach(plot => plot.replaceChildren());
  const again = () => draw(box, panels);
  again();
  new MutationObserver(again).observe(document.documentElement, {attributeFilter: ['data-theme']});
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);
}

for (const box of document.querySelectorAll('[data-curves]')) {
  const observer = new IntersectionObserver(entries => {
    if (!entries.some(entry => entry.isIntersecting)) return;
    observer.disconnect();
    show(box);
  });
  observer.observe(box);
}
