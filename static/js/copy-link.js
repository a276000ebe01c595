// "Link to this view": puts the address of the view into the address bar and the clipboard, without loading the page.
// Without this script it is a plain link.
document.addEventListener('click', async event => {
  const link = event.target.closest?.('a[data-form=html]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  history.replaceState(history.state, '', link.href);
  const status = document.querySelector('[data-link-status]'); // live-form.js replaces it with the results
  try {
    await navigator.clipboard.writeText(link.href);
    status.textContent = 'Link copied.';
  } catch { // the browser refuses, or the page came over plain HTTP
    status.textContent = 'The address bar has the link.';
  }
});
