// Parts of several charts: Escape from a chart to explore, and the words at the first and the last mark.

/** Return the words before the name of a mark if an arrow key wanted to pass the first or the last one. */
export const edgeSentence = (wanted, last) => wanted < 0 ? 'First mark. ' : wanted > last ? 'Last mark. ' : '';

/** Call `goBack` on Escape while a chart to explore, its button or nothing on the page has the focus. Return the function that ends this. */
export function onEscape(chart, button, goBack) {
  const ended = new AbortController();
  document.addEventListener('keydown', ({key}) => {
    const focused = document.activeElement;
    if (key === 'Escape' && (focused === document.body || focused === button || chart.contains(focused))) goBack();
  }, {signal: ended.signal});
  return () => ended.abort();
}
