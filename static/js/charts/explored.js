// Parts of several charts: Back and Escape from a chart to explore, and the words at the first and the last mark.

/** Return the words before the name of a mark if an arrow key wanted to pass the first or the last one. */
export const edgeSentence = (wanted, last) => wanted < 0 ? 'First mark. ' : wanted > last ? 'Last mark. ' : '';

// The charts that are explored, the last one last. Together they have one entry of the browser's history, with the name of the first one.
const opened = [];
const hasEntry = () => Boolean(history.state?.explored);
let left = Promise.resolve(); // when the entry was left: until then, no other one may be added

function leaveEntry() {
  if (opened.length || !hasEntry()) return;
  left = new Promise(resolve => addEventListener('popstate', resolve, {once: true}));
  history.back();
}

function close(each) {
  const focused = document.activeElement, hadFocus = focused === document.body || each.chart.contains(focused);
  opened.splice(opened.indexOf(each), 1);
  each.close();
  if (hadFocus) each.button.focus();
}

addEventListener('popstate', () => { if (!hasEntry()) [...opened].forEach(close); });
addEventListener('keydown', event => { // of the window, after those of the document: a menu closes first
  if (event.key !== 'Escape' || event.defaultPrevented || !opened.length) return;
  close(opened.find(({chart}) => chart.contains(document.activeElement)) ?? opened.at(-1));
  leaveEntry();
});

/** Let the browser's Back and Escape close a chart that is explored now. Return the function that closes it. */
export async function closeByBack(name, chart, button, end) {
  await left;
  const own = {chart, button, close: end};
  opened.push(own);
  if (!hasEntry()) history.pushState({explored: name}, '');
  return () => {
    if (!opened.includes(own)) return;
    close(own);
    queueMicrotask(leaveEntry); // a page that closes the chart because of new results gives the entry their address before
  };
}

/** Explore a chart again if the entry of the history has it: after a reload, and after Back or Forward. */
export function exploreAgain(name, isClosed, explore) {
  const follow = () => { if (history.state?.explored === name && isClosed()) explore(); };
  follow();
  addEventListener('popstate', follow);
}
