// The chart of a run's slices: one panel for each limit, drawn when it comes into view. The table below has the same numbers.
const box = document.querySelector('[data-slices-chart]');
const chart = JSON.parse(document.getElementById('slices-chart').textContent);
const token = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const axis = () => ({
  showline: true, linecolor: token('rule-2'), linewidth: 1, zeroline: false, gridcolor: token('rule'), gridwidth: 1,
  ticks: '', tickfont: {size: 12, color: token('ink-3')}, fixedrange: true,
});

const trace = panel => ({
  type: 'bar', x: chart.slices, y: panel.shares, customdata: chart.spans,
  marker: {
    color: panel.over.map(over => token(over ? 'over-2' : 'mark')),
    line: {color: panel.over.map(over => token(over ? 'over' : 'mark')), width: panel.over.map(Number)},
    pattern: {shape: panel.over.map(over => over ? '/' : ''), size: 5, fgcolor: panel.over.map(() => token('over'))},
  },
  hovertemplate: 'slice %{x}, %{customdata}<br>%{y} %<extra></extra>',
});

// Each panel reaches 1.2 x its limit, so that the limit lines sit at one height; only a higher bar stretches its panel.
const layout = panel => ({
  paper_bgcolor: token('paper'), plot_bgcolor: token('paper'), separators: '.,', showlegend: false, bargap: 0.2,
  font: {family: token('sans'), size: 12, color: token('ink-3')}, margin: {l: 40, r: 8, t: 20, b: 32},
  // Of few slices a tick each: nticks would put halves between them, which print as the same number twice.
  xaxis: {...axis(), showgrid: false, tickformat: 'd', ...(chart.slices.length < 8 ? {dtick: 1} : {nticks: 7})},
  yaxis: {...axis(), showline: false, nticks: 4, range: [0, Math.max(1.2 * panel.limit, 1.02 * Math.max(...panel.shares))]},
  hoverlabel: {bgcolor: token('paper'), bordercolor: token('ink'), font: {family: token('sans'), size: 12, color: token('ink')}},
  shapes: [{type: 'line', xref: 'paper', x0: 0, x1: 1, y0: panel.limit, y1: panel.limit, line: {color: token('ink'), width: 1.5}}],
  annotations: [{
    xref: 'paper', x: 0, y: panel.limit, xanchor: 'left', yanchor: 'bottom', showarrow: false,
    text: `<b>limit ${panel.limitText} %</b>`, font: {color: token('ink'), size: 12},
  }],
});

const draw = () => chart.panels.forEach((panel, place) => {
  const plot = box.querySelectorAll('.plot')[place];
  plot.setAttribute('role', 'img');
  plot.setAttribute('aria-label', `Share over ${panel.threshold} by slice; limit ${panel.limitText} %`);
  window.Plotly.react(plot, [trace(panel)], layout(panel), {displayModeBar: false, responsive: true});
});

const load = address => new Promise((resolve, reject) => {
  const script = document.createElement('script');
  script.src = address;
  script.onload = resolve;
  script.onerror = () => reject(new Error(`${address}: the chart library did not load`));
  document.head.append(script);
});

async function show() {
  const plots = box.querySelectorAll('.plot');
  try {
    await load(box.dataset.plotly);
  } catch (error) {
    plots.forEach(plot => { plot.firstElementChild.append(` ${error.message}.`); });
    return;
  }
  plots.forEach(plot => plot.replaceChildren());
  draw();
  new MutationObserver(draw).observe(document.documentElement, {attributeFilter: ['data-theme']});
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
}

const observer = new IntersectionObserver(entries => {
  if (!entries.some(entry => entry.isIntersecting)) return;
  observer.disconnect();
  show();
});
observer.observe(box);
