// Renews the live part of a dispatch's page. Without script the page reloads itself instead.
const PERIOD_MS = 2000;
const live = document.getElementById('live');
let etag = '';

async function renew() {
  const headers = etag ? {'If-None-Match': etag} : {};
  const answer = await fetch(live.dataset.address, {headers, cache: 'no-store', credentials: 'same-origin'});
  if (answer.status === 304) return;
  // Signed out, or gone: only the server can say what to do now.
  if (!answer.ok || answer.redirected) { location.reload(); return; }
  etag = answer.headers.get('ETag') || '';
  show(await answer.text());
}

function show(html) {
  const tail = live.querySelector('.tail');
  const scrolled = tail ? tail.scrollTop : 0;
  live.innerHTML = html;  // the server's own escaped template
  const renewed = live.querySelector('.tail');
  if (renewed) renewed.scrollTop = scrolled;
  say(live.querySelector('.verdict').textContent);
  if (live.querySelector('[data-final=yes]')) document.getElementById('cancel')?.remove();
}

// Figures change every two seconds; only a new state is worth reading out.
function say(sentence) {
  const spoken = document.getElementById('spoken');
  if (spoken.textContent !== sentence) spoken.textContent = sentence;
}

function isSettled() { return live.querySelector('[data-settled=yes]') !== null; }

async function keep() {
  while (!isSettled()) {
    await new Promise(resolve => { setTimeout(resolve, PERIOD_MS); });
    if (document.hidden) continue;
    try { await renew(); } catch { /* no network: the next turn tries again */ }
  }
}
keep();
