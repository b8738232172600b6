// What the pages of the console do beside htmx: relative times, times in the reader's zone, buttons that copy, the value of a slider, and a
// menu that is closed on a phone. Everything works without it.
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

  function menu() {
    const details = document.querySelector('header nav details');
    if (details && matchMedia('(max-width: 60rem)').matches) details.open = false;
  }

  function ready() {
    menu();
    times();
    copying();
    sliders();
  }

  // Nobody looks at it: what looks again by itself can wait.
  document.addEventListener('htmx:beforeRequest', (event) => {
    if (document.hidden && event.detail.elt.matches('[hx-trigger^="every"]')) event.preventDefault();
  });

  document.addEventListener('DOMContentLoaded', ready);
  document.addEventListener('htmx:load', ready);
})();
