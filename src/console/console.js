// What the pages of the console do beside htmx: relative times, times in the reader's zone, buttons that copy, the value of a slider, uploads
// in pieces, and a menu that is closed on a phone. Everything works without it.
(() => {
  const zone = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  const units = [
    [86_400, 'day'],
    [3600, 'hour'],
    [60, 'minute'],
    [1, 'second'],
  ];
  const longestRelative = 30 * 86_400;

  function distance(seconds) {
    const [length, unit] = units.find(([length]) => Math.abs(seconds) >= length) ?? units[3];
    return relative.format(Math.trunc(seconds / length), unit);
  }

  function times() {
    const now = Date.parse(document.querySelector('main')?.dataset.now);
    for (const time of document.querySelectorAll('time[datetime]:not([data-local])')) {
      const moment = new Date(time.dateTime);
      time.dataset.local = '';
      if (Number.isNaN(moment.getTime())) continue;
      const here = new Date().getTimezoneOffset() === 0 ? '' : ` (${zone.format(moment)} here)`;
      const exact = time.textContent + here;
      const seconds = (moment.getTime() - now) / 1000;
      if (time.className === 'exact' || Number.isNaN(seconds)) {
        time.textContent = exact;
        continue;
      }
      time.title = exact;
      time.textContent = Math.abs(seconds) < longestRelative ? distance(seconds) : time.textContent.slice(0, 10);
    }
  }

  function sprite(name) {
    const icon = document.querySelector('svg.icon')?.cloneNode(true);
    const use = icon?.querySelector('use');
    use?.setAttribute('href', use.getAttribute('href').replace(/#.*/, `#${name}`));
    return icon ?? '';
  }

  function copyButton(source) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet copy';
    const show = (name, words) => {
      button.replaceChildren(sprite(name));
      button.title = words;
      button.setAttribute('aria-label', words);
    };
    show('copy', 'Copy');
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(source.textContent.trim());
      show('check', 'Copied');
      setTimeout(() => show('copy', 'Copy'), 2000);
    });
    return button;
  }

  function copying() {
    // Browsers have a clipboard for pages only over TLS, or from the same machine.
    if (!navigator.clipboard) return;
    for (const source of document.querySelectorAll('main pre:not([data-copied]), code.id:not([data-copied])')) {
      source.dataset.copied = '';
      if (source.matches('pre')) source.before(copyButton(source));
      else source.after(copyButton(source));
    }
  }

  function sliders() {
    for (const slider of document.querySelectorAll('input[type=range]:not([data-shown])')) {
      slider.dataset.shown = '';
      const output = slider.parentElement.querySelector('output');
      const devices = Number(slider.dataset.devices);
      const show = () => {
        const count = Math.ceil((devices * slider.value) / 100);
        output.value = `${slider.value} %${devices > 0 ? `, ${count} of ${devices} known devices` : ''}`;
      };
      slider.addEventListener('input', show);
      show();
    }
  }

  const rememberedUploads = 'larder-uploads';
  const maxRemembered = 20;
  const maxRetrySeconds = 30;

  // The names of unfinished uploads, so that a reloaded page and another tab resume them.
  function uploadNames() {
    try {
      return JSON.parse(localStorage.getItem(rememberedUploads)) ?? {};
    } catch {
      return {};
    }
  }

  function remember(names) {
    try {
      localStorage.setItem(
        rememberedUploads,
        JSON.stringify(Object.fromEntries(Object.entries(names).slice(-maxRemembered))),
      );
    } catch {
      // Without storage the upload cannot be resumed after the page is closed.
    }
  }

  const identityOf = (file) => `${file.size} ${file.lastModified} ${file.name}`;

  function uploadNameOf(file) {
    const names = uploadNames();
    const random = crypto.getRandomValues(new Uint8Array(16));
    const name = names[identityOf(file)] ?? Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('');
    remember({ ...names, [identityOf(file)]: name });
    return name;
  }

  function forgetUpload(file) {
    const names = uploadNames();
    delete names[identityOf(file)];
    remember(names);
  }

  class Refused extends Error {}

  /** The message of a page that refuses a request. */
  function refusal(status, text) {
    if (status === 401)
      return new Refused('Your login has ended. Log in again and choose the file again: the upload resumes.');
    const notices = new DOMParser().parseFromString(text, 'text/html').querySelectorAll('main .notice.warn');
    return new Refused(
      [...notices].at(-1)?.textContent.trim() ?? `The store refused the upload with the status ${status}.`,
    );
  }

  /** Sends a form; calls `sent` with the number of sent bytes. Rejects with `Refused` if a repetition is useless. */
  function post(address, body, { signal, sent }) {
    return new Promise((resolve, reject) => {
      const stopped = () => reject(new Refused('The upload is stopped. Choose the file again to resume it.'));
      if (signal.aborted) return stopped();
      const request = new XMLHttpRequest();
      request.open('POST', address);
      request.upload.onprogress = ({ loaded }) => sent?.(loaded);
      request.onload = () => {
        const { status, responseText } = request;
        if (status < 300) resolve(request);
        else if (status >= 500 || status === 429) reject(new Error(refusal(status, responseText).message));
        else reject(refusal(status, responseText));
      };
      request.onerror = () => reject(new Error('The connection is interrupted.'));
      request.onabort = stopped;
      signal.addEventListener('abort', () => request.abort(), { once: true });
      request.send(body);
    });
  }

  /** Repeats work that failed for a reason that may pass. */
  async function patiently(work, { signal, say }) {
    for (let seconds = 1; ; seconds = Math.min(2 * seconds, maxRetrySeconds)) {
      try {
        return await work();
      } catch (error) {
        if (error instanceof Refused || signal.aborted) throw error;
        say(`${error.message} The upload tries again by itself.`);
        await new Promise((resolve) => {
          const timer = setTimeout(resolve, seconds * 1000);
          const now = () => (clearTimeout(timer), resolve());
          signal.addEventListener('abort', now, { once: true });
          window.addEventListener('online', now, { once: true });
        });
      }
    }
  }

  function formData(fields) {
    const data = new FormData();
    for (const [name, value] of Object.entries(fields)) data.append(name, value);
    return data;
  }

  /** Uploads one file in pieces and has it received. Returns the address of its page. */
  async function uploadFile(form, file, { signal, say, progress }) {
    const { begin, piece, receive, beginToken, pieceToken, receiveToken } = form.dataset;
    const about = { upload: uploadNameOf(file), size: String(file.size) };
    const steps = { signal, say };
    const ask = (address, token) =>
      patiently(() => post(address, new URLSearchParams({ 'form-token': token, ...about }), { signal }), steps);
    const [length, received] = (await ask(begin, beginToken)).responseText.split(' ').map(Number);
    for (let offset = received; offset < file.size; offset += length) {
      say(`Uploading ${file.name}.`);
      progress(offset / file.size);
      const bytes = file.slice(offset, offset + length);
      await patiently(
        () =>
          post(
            `${piece}?${new URLSearchParams({ ...about, offset: String(offset) })}`,
            formData({ 'form-token': pieceToken, file: bytes }),
            { signal, sent: (loaded) => progress((offset + Math.min(loaded, bytes.size)) / file.size) },
          ),
        steps,
      );
    }
    progress(1);
    say(`${file.name} is uploaded. The store verifies and reviews it.`);
    const { responseURL } = await ask(receive, receiveToken);
    forgetUpload(file);
    return responseURL;
  }

  /** A button that stops the upload; the pieces that have arrived stay in the store. */
  function stopButton(stop) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet';
    button.textContent = 'Stop';
    button.addEventListener('click', () => stop.abort());
    return button;
  }

  async function upload(form, input) {
    const [send, bar, output] = ['button', 'progress', 'output'].map((name) => form.querySelector(name));
    const stop = new AbortController();
    const button = stopButton(stop);
    const say = (words) => {
      if (output.value !== words) output.value = words;
    };
    const progress = (share) => {
      bar.value = share;
    };
    input.disabled = send.disabled = true;
    bar.hidden = output.hidden = false;
    send.after(button);
    try {
      let address;
      for (const file of input.files) address = await uploadFile(form, file, { signal: stop.signal, say, progress });
      location.assign(address);
    } catch (error) {
      say(error.message);
      bar.hidden = true;
      input.disabled = send.disabled = false;
    } finally {
      button.remove();
    }
  }

  function uploads() {
    for (const form of document.querySelectorAll('form[data-piece]:not([data-shown])')) {
      const input = form.querySelector('input[type=file]');
      form.dataset.shown = '';
      input.multiple = 'several' in form.dataset;
      form.addEventListener('submit', (event) => {
        event.preventDefault();
        void upload(form, input);
      });
    }
  }

  function menu() {
    const details = document.querySelector('header nav details');
    if (details && matchMedia('(max-width: 60rem)').matches) details.open = false;
  }

  function ready() {
    menu();
    times();
    copying();
    sliders();
    uploads();
  }

  // Nobody looks at it: what looks again by itself can wait.
  document.addEventListener('htmx:beforeRequest', (event) => {
    if (document.hidden && event.detail.elt.matches('[hx-trigger^="every"]')) event.preventDefault();
  });

  document.addEventListener('DOMContentLoaded', ready);
  document.addEventListener('htmx:load', ready);
})();
