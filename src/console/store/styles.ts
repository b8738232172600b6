// The parts of the design on one page, in a checkout only; docs/design.md explains them.
import { account } from '#access/access-rules.ts';
import { html, type Html } from '#http/pages/html.ts';
import { timestamp } from '#domain/clock.ts';
import { bar, pillars } from '../parts/charts.ts';
import { choice, field, tick } from '../parts/form.ts';
import { icon, letterTile } from '../parts/icon.ts';
import { badge, card, notice } from '../parts/notice.ts';
import { emptyState, facts, table } from '../parts/table.ts';
import { stepper, tabs, tiles } from '../parts/tiles.ts';
import { timeline } from '../parts/timeline.ts';
import { identifier, size, time } from '../parts/values.ts';
import { screen } from '../screen.ts';

const address = '/console/styles';
const sentence = 'The quick brown fox jumps over 1,234 lazy dogs: O0 Il1 ÄÖÜ ñçøß ŁŽŐ.';

export const consoleStyles = screen({
  name: 'console_styles',
  path: address,
  summary: 'Show the parts that pages of the console are made of.',
  access: account('token'),
  show: ({ now }) => ({
    title: 'Styles',
    lead: 'The parts of the design, each once.',
    content: html`${text} ${palette} ${states} ${lists(timestamp(now()))} ${forms}`,
  }),
});

const text: Html = html`<h2>Text</h2>
  <h2>Heading 2: ${sentence}</h2>
  <h3>Heading 3: ${sentence}</h3>
  <p>Text: ${sentence} <a href="${address}">A link</a>, <strong>strong</strong>, <code>code</code>.</p>
  <p class="hint">Hint: ${sentence}</p>
  <pre tabindex="0" role="region" aria-label="Example of a command"><code>larder backup FILE</code></pre>`;

const palette: Html = html`<h2>Pictures</h2>
  <p class="row">
    ${['tide-table', 'hello', 'pump', 'ada', '🌊'].map(letterTile)} ${icon('package')} ${icon('inbox')} ${icon('key')}
  </p>`;

const states: Html = html`<h2>States</h2>
  <p class="row">
    ${badge('good', 'released')} ${badge('note', 'paused')} ${badge('warn', 'withdrawn')} ${badge('part', '10 %')}
    <span class="count">5</span>
  </p>
  ${notice('good', 'The revision is released.')} ${notice('note', 'The store restarts soon.')}
  ${notice('warn', 'The backup failed.')}
  ${tiles([
    { icon: 'inbox', title: 'Pending', figure: '5', words: '3 uploads, 2 keys', address, gravity: 'note' },
    { icon: 'shield-check', title: 'Last backup', figure: '2 days ago', words: 'weekly', address, gravity: 'good' },
    {
      icon: 'database',
      title: 'Disk',
      figure: '97 % used',
      words: bar(0.97, '97 % used'),
      address,
      gravity: 'warn',
    },
  ])}
  <div class="cards">
    ${card({ gravity: 'warn', title: 'Backups', words: 'No backup was made yet.', mend: 'Run a backup.', action: { words: 'Backups', address } })}
    ${card({ gravity: 'note', title: 'Clock', words: 'The clock was set back.' })}
  </div>`;

const lists = (now: string): Html =>
  html`<h2>Lists</h2>
    ${tabs(
      'Example of tabs',
      [
        { words: 'Releases', address },
        { words: 'Revisions', address: '/console/packages', count: 12 },
      ],
      address,
    )}
    ${table({
      caption: 'Revisions',
      columns: [
        { heading: 'Version', cell: ({ version }) => version },
        { heading: 'Size', number: true, cell: ({ bytes }) => size(bytes) },
        { heading: 'Made', cell: () => time(now) },
        { heading: 'SHA3-384', cell: ({ digest }) => identifier(digest) },
      ],
      rows: [
        { version: '1.0', bytes: 1, digest: '0123456789abcdef'.repeat(6) },
        { version: 'an-unusually-long-version-of-32-x', bytes: 2 ** 40, digest: 'fedcba9876543210'.repeat(6) },
      ],
      empty: '',
    })}
    ${facts([
      ['Publisher', 'ada'],
      ['Registered', time(now)],
    ])}
    ${timeline([{ at: now, actor: 'ada', sentence: 'ada released hello 2 to stable.' }])}
    ${stepper('Example of steps', ['Make the key', 'Request it', 'Import the answer'], 1)}
    <figure class="days">
      ${pillars(
        [3, 5, 2, 8].map((all) => ({ all, bad: 0 })),
        'Example of a chart',
      )}
    </figure>
    ${emptyState(html`No device has called yet. <a href="/docs/devices">Point a device at this store</a>.`)}`;

const forms: Html = html`<h2>Forms</h2>
  <form method="get" action="${address}">
    ${field({ name: 'example', label: 'Text', maxLength: 40, hint: 'A sentence below the field.' })}
    ${choice({ name: 'choice', label: 'Choice' }, [['1', 'One of a few']])} ${tick('tick', 'A checkbox')}
    <p class="row">
      <button>Main action</button><button class="second">Other action</button><button class="grave">Delete</button>
    </p>
  </form>`;
