// What htmx leaves open about a live part that the server renews: hidden pages, people signed out, scrolling, words.
const live = () => document.getElementById('live');
let scrolled = 0;

document.body.addEventListener('htmx:beforeRequest', event => {
  if (document.hidden) event.preventDefault();  // the next turn asks again
});

document.body.addEventListener('htmx:beforeSwap', event => {
  const {xhr, requestConfig} = event.detail;
  const wanted = new URL(requestConfig.path, location.href).pathname;
  // Signed out, or gone: only the server can say what to do now. Of its own faults the next turn knows more.
  if (new URL(xhr.responseURL, location.href).pathname !== wanted || (xhr.status >= 400 && xhr.status < 500)) {
    event.detail.shouldSwap = false;
    location.reload();
  }
  scrolled = live().querySelector('.tail')?.scrollTop ?? 0;
});

document.body.addEventListener('htmx:afterSettle', () => {
  const tail = live().querySelector('.tail');
  if (tail) tail.scrollTop = scrolled;
  say(live().querySelector('.verdict').textContent);
});

// Figures change every two seconds; only a new state is worth reading out.
function say(sentence) {
  const spoken = document.getElementById('spoken');
  if (spoken.textContent !== sentence) spoken.textContent = sentence;
}
