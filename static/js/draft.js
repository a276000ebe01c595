// The page of a draft: loads itself again as soon as the register has read the log.
const status = document.querySelector('[data-state]');
const PERIOD_MS = 250;

async function look() {
  const answer = await fetch(status.dataset.state).then(response => response.json()).catch(() => null);
  if (answer?.is_finished) location.reload();
  else setTimeout(look, PERIOD_MS);
}

if (status) look();
