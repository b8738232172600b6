// What the pages of the console do beside htmx: times also in the reader's zone, and a menu that is closed on a phone.
// Everything works without it.
(() => {
  const zone = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

  function localTimes() {
    if (new Date().getTimezoneOffset() === 0) return;
    for (const time of document.querySelectorAll('time[datetime]:not([data-local])')) {
      const moment = new Date(time.dateTime);
      time.dataset.local = '';
      if (Number.isNaN(moment.getTime())) continue;
      const here = document.createElement('span');
      here.className = 'here';
      here.textContent = ` (${zone.format(moment)} here)`;
      time.append(here);
    }
  }

  function menu() {
    const details = document.querySelector('nav details');
    if (details && matchMedia('(max-width: 60rem)').matches) details.open = false;
  }

  function ready() {
    menu();
    localTimes();
  }

  // Nobody looks at it: what looks again by itself can wait.
  document.addEventListener('htmx:beforeRequest', (event) => {
    if (document.hidden && event.detail.elt.matches('[hx-trigger^="every"]')) event.preventDefault();
  });

  document.addEventListener('DOMContentLoaded', ready);
  document.addEventListener('htmx:load', ready);
})();
