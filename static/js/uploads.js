// Submit a result: sends the files in pieces, shows how much has arrived, and continues after a broken connection or a reload.
// Speaks tus 1.0 with /uploads/. Without this script, the form sends the files in one request.
const form = document.querySelector('form[data-uploads]');
const TUS = '1.0.0';
const PIECE_BYTES = 8 * 2 ** 20;
const WAITS_MS = [500, 1000, 2000, 5000, 10000];
const STORED = 'drivecert-uploads';
// Files that belong to a log, by their names. The largest of the others is the log.
const COMPANION = /\.(jsonl?|conf|cfg|ya?ml|err|stderr|hdr|hgrm|csv)$|smart/i;

class Refused extends Error {}

const pause = ms => new Promise(resolve => setTimeout(resolve, ms));
const base64 = text => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
const metadata = pairs => Object.entries(pairs).filter(([, value]) => value).map(([name, value]) => `${name} ${base64(value)}`).join(',');
const keyOf = file => `${file.name}:${file.size}:${file.lastModified}`;
const stored = () => JSON.parse(localStorage.getItem(STORED) ?? '{}');
const remember = (file, upload) => localStorage.setItem(STORED, JSON.stringify({...stored(), [keyOf(file)]: upload}));

function request(address, method, headers, body) {
  const own = {'Tus-Resumable': TUS, 'X-CSRFToken': form.elements.csrfmiddlewaretoken.value};
  return fetch(address, {method, headers: {...own, ...headers}, body});
}

// Repeat a request until the server answers; the register can be away for minutes. Raises Refused for an answer that stays.
async function persist(act, report) {
  for (let turn = 0; ; turn += 1) {
    const answer = await act().catch(() => null);
    if (answer?.ok || answer?.status === 409 || answer?.status === 410) return answer;
    if (answer && answer.status !== 503 && answer.status !== 502 && answer.status !== 504 && answer.status !== 500) throw new Refused(await answer.text());
    report(answer ? 'The register is busy. The upload continues in a moment.' : 'The connection is broken. The upload continues as soon as it is back.');
    await pause(WAITS_MS[Math.min(turn, WAITS_MS.length - 1)]);
  }
}

const offsetOf = answer => Number(answer.headers.get('Upload-Offset'));

async function known(file, draft, report) {
  const upload = stored()[keyOf(file)];
  if (!upload || (draft && upload.draft !== draft)) return null;
  const answer = await persist(() => request(upload.address, 'HEAD', {}), report);
  return answer.ok && Number(answer.headers.get('Upload-Length')) === file.size ? {...upload, offset: offsetOf(answer)} : null;
}

async function announce(file, role, draft, report) {
  const found = await known(file, draft, report);
  if (found) return found;
  const facts = draft ? {draft} : {organisation: form.elements.organisation?.value, slice_length_s: form.elements.slice_length_s.value};
  const headers = {'Upload-Length': file.size, 'Upload-Metadata': metadata({filename: file.name, role, ...facts})};
  const answer = await persist(() => request('/uploads/', 'POST', headers), report);
  if (!answer.ok) throw new Refused(await answer.text());
  const upload = {address: answer.headers.get('Location'), draft: answer.headers.get('Drivecert-Draft')};
  remember(file, upload);
  return {...upload, offset: 0};
}

async function send(file, upload, arrived, report) {
  let {offset} = upload;
  while (offset < file.size) {
    arrived(offset);
    const from = offset, piece = file.slice(from, from + PIECE_BYTES);
    const headers = {'Upload-Offset': from, 'Content-Type': 'application/offset+octet-stream'};
    let isFirst = true;
    // After a broken connection, part of the piece may have arrived: ask, and continue there.
    const answer = await persist(() => {
      if (isFirst) { isFirst = false; return request(upload.address, 'PATCH', headers, piece); }
      return request(upload.address, 'HEAD', {});
    }, report);
    if (answer.status === 410) throw new Refused(await answer.text());
    offset = offsetOf(answer);
  }
  arrived(file.size);
}

async function uploadAll(files, show) {
  const total = files.reduce((sum, {file}) => sum + file.size, 0);
  const report = text => show({text});
  const uploads = [];
  let draft = null;
  for (const {file, role} of files) {
    const upload = await announce(file, role, draft, report);
    draft = upload.draft;
    uploads.push({file, upload});
  }
  let before = 0;
  for (const {file, upload} of uploads) {
    await send(file, upload, bytes => show({share: total ? (before + bytes) / total : 1, text: `Uploading ${file.name}`}), report);
    before += file.size;
  }
  localStorage.removeItem(STORED);
  return draft;
}

function progressOf() {
  const box = document.createElement('div');
  box.className = 'state';
  box.setAttribute('role', 'status');
  const text = document.createElement('p'), bar = document.createElement('progress');
  bar.max = 1;
  bar.setAttribute('aria-label', 'Upload');
  box.append(text, bar);
  form.querySelector('[role=alert]')?.remove();
  form.append(box);
  return {box, show: state => {
    if (state.share !== undefined) bar.value = state.share;
    const percent = bar.hasAttribute('value') ? `, ${Math.floor(bar.value * 100)} %` : '';
    text.textContent = state.text + (state.share === undefined ? '' : percent);
  }};
}

function showFault(text) {
  const note = Object.assign(document.createElement('p'), {role: 'alert'});
  note.append(Object.assign(document.createElement('span'), {className: 'fail', textContent: 'not sent'}), ` ${text}`);
  form.append(note);
}

form.addEventListener('submit', async event => {
  const {log, companions} = form.elements, button = form.querySelector('button');
  if (button.disabled) { event.preventDefault(); return; }
  if (!log.files.length) return;
  event.preventDefault();
  button.disabled = true;
  const {box, show} = progressOf();
  const files = [{file: log.files[0], role: 'log'}, ...[...companions.files].map(file => ({file, role: 'companion'}))];
  try {
    location.assign(`/submit/${await uploadAll(files, show)}/`);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    showFault(error.message);
    box.remove();
    button.disabled = false;
  }
});

// Dropped files fill the two fields, where the sender sees them and can change them.
function fillFields(files) {
  const others = files.filter(file => !COMPANION.test(file.name));
  const log = (others.length ? others : files).reduce((largest, file) => file.size > largest.size ? file : largest);
  const put = (field, some) => {
    const list = new DataTransfer();
    some.forEach(file => list.items.add(file));
    field.files = list.files;
  };
  put(form.elements.log, [log]);
  put(form.elements.companions, files.filter(file => file !== log));
}

const area = form.querySelector('.drop');
area.addEventListener('dragover', event => { event.preventDefault(); area.classList.add('over'); });
area.addEventListener('dragleave', () => area.classList.remove('over'));
area.addEventListener('drop', event => {
  event.preventDefault();
  area.classList.remove('over');
  if (event.dataTransfer.files.length) fillFields([...event.dataTransfer.files]);
});
