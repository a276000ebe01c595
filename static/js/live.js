// Details of a live part that htmx refreshes: hidden pages, expired sessions, scrolling, and announcements.
const live = () => document.getElementById('live');
let scrolled = 0;

document.body.addEventListener('htmx:beforeRequest', event => {
  if (document.hidden) event.preventDefault();  // the next turn polls again
});

document.body.addEventListener('htmx:beforeSwap', event => {
  const {xhr, requestConfig} = event.detail;
  const wanted = new URL(requestConfig.path, location.href).pathname;
  // After a sign-out or a 404 the server's own page explains what to do. After a server error the next turn tries again.
  if (new URL(xhr.responseURL, location.href).pathname !== wanted || (xhr.status >= 400 && xhr.status < 500)) {
    event.detail.shouldSwap = false;
    location.reload();
  }
  scrolled = live().querySelector('.tail')?.scrollTop ?? 0;
});

document.body.addEventListener('htmx:afterSettle', () => {
  const tail = live().querySelector('.tail');
  if (tail) tail.scrollTop = scrolled;
  announce(live().querySelector('.verdict').textContent);
});

// Figures change every two seconds; screen readers hear only a new state.
function announce(sentence) {
  const spoken = document.getElementById('spoken');
  if (spoken.textContent !== sentence) spoken.textContent = sentence;
}
