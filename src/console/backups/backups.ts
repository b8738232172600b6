// The page of backups, and of the integrity of the store.
import { storeAdministrator } from '#access/access-rules.ts';
import { lastBackups } from '#examinations/records.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, type Html } from '#http/pages/html.ts';
import type { Config } from '#configuration/config.ts';
import { hours, minutes, timestamp } from '#domain/clock.ts';
import type { Export } from '#records/store/exports.ts';
import { toCard } from '../store/store-state.ts';
import { card } from '../parts/notice.ts';
import { facts, pageSize, table } from '../parts/table.ts';
import { formatCount, distance, exactTime, size, time } from '../parts/values.ts';
import { readRecordsProof } from '../store/records-proof.ts';
import { screen } from '../screen.ts';

/** The maximum of newest exports that are searched for backups. */
const maxSearchedExports = 1000;

/** The examinations about integrity. */
const about = new Set(['Backups', 'Blobs', 'Scrub', 'Records', 'Signing key', 'Site key']);

export const consoleBackups = screen({
  name: 'console_backups',
  path: '/console/backups',
  summary: 'Show the backups of the store, and the last verification of its data.',
  access: storeAdministrator('store-view'),

  async show({ records, examined, config, now }) {
    const left = await records.exports.list('', timestamp(now()), Number.MAX_SAFE_INTEGER, maxSearchedExports);
    const backups = left.filter(({ what: kind }) => kind === 'backup').slice(0, pageSize);
    const { last, drill } = await lastBackups(records);
    const { folder = '/mnt/backups/larder' } = config.backup;
    return {
      title: 'Backups and integrity',
      lead:
        last === undefined
          ? 'No backup has been made yet.'
          : html`The last backup was made ${distance(last.at, now())}, and
            ${drill === undefined ? 'none was restored in a drill.' : html`the last drill was ${distance(drill.at, now())}.`}`,
      content: html`<div class="cards">
          ${(await examined()).filter(({ what: name }) => about.has(name)).map((examination) => card({ ...toCard(examination), action: undefined }))}
        </div>
        <h2>Integrity</h2>
        ${await proof(records, now())} ${await damaged(records)}
        <h2>Backups</h2>
        ${facts([
          ['Last backup', last === undefined ? 'never' : time(last.at)],
          ['Next increment', nextIncrement(config.backup, last?.at, now())],
          ['Last drill', drill === undefined ? 'never' : time(drill.at)],
          config.backup.drill_days === undefined
            ? undefined
            : ['Drills', `expected every ${formatCount(config.backup.drill_days, 'day')}`],
        ])}
        ${tableOf(backups)}
        <h2>Commands on the host</h2>
        <p>
          A backup is a file of the host, so no browser makes one. Make a backup while the store runs, prove that it can
          be restored, and restore it:
        </p>
        <pre tabindex="0">larder backup ${folder} --increment</pre>
        <pre tabindex="0">larder backup drill ${folder}</pre>
        <pre tabindex="0">larder restore ${folder} --keys /media/safe</pre>
        <p class="hint">
          A backup contains neither <code>site.key</code> nor <code>master.key</code>: keep copies of both elsewhere.
        </p>`,
    };
  },
});

/** When the server adds the next increment, if the store has changed. */
function nextIncrement({ folder, bucket, every }: Config['backup'], last: string | undefined, now: Date): Html {
  const place = folder ?? bucket;
  if (place === undefined)
    return html`none: <a href="/console/settings?q=backup.">backup.folder or backup.bucket</a> makes the server add
      increments by itself`;
  const lengthMs = (every.endsWith('h') ? hours : minutes)(parseInt(every, 10));
  const due = last === undefined ? now.getTime() : Math.max(now.getTime(), Date.parse(last) + lengthMs);
  return html`${time(timestamp(new Date(due)))} if the store has changed, every ${every} in <code>${place}</code>`;
}

async function proof(records: Pick<HandlerRecords, 'appliance'>, now: Date): Promise<Html> {
  const proven = await readRecordsProof(records);
  if (proven === undefined)
    return html`<p>
      The records have not been verified yet. The store does this soon after it starts, and regularly after that.
    </p>`;
  const { at, problems, first } = proven;
  return problems === 0
    ? html`<p>
        All rows of the records were intact at the last verification, ${distance(at, now)} (${exactTime(at)}).
      </p>`
    : html`<p>
        <strong
          >The last verification found ${formatCount(problems, 'problem')} in the records, ${distance(at, now)}:</strong
        >
        ${first ?? ''}
      </p>`;
}

async function damaged({ damagedBlobs }: Pick<HandlerRecords, 'damagedBlobs'>): Promise<Html> {
  const blobs = await damagedBlobs.list(pageSize);
  return table({
    caption: 'Corrupt blobs; out of service until their publishers send them again',
    shown: blobs.length > 0,
    columns: [
      { heading: 'SHA3-384', cell: ({ sha3_384 }: (typeof blobs)[number]) => html`<code>${sha3_384}</code>` },
      { heading: 'Size', cell: (blob) => size(blob.size), number: true },
      { heading: 'Found', cell: (blob) => time(blob.foundAt) },
    ],
    rows: blobs,
    empty: 'No blob is known to be corrupt.',
  });
}

const tableOf = (backups: readonly Export[]): Html =>
  table<Export>({
    caption: 'Backups, newest first',
    columns: [
      { heading: 'When', cell: ({ at }) => time(at) },
      { heading: 'By', cell: ({ actor }) => html`<code>${actor}</code>` },
      { heading: 'Size', cell: ({ bytes }) => size(bytes), number: true },
      { heading: 'SHA-256', cell: ({ sha256 }) => html`<code>${sha256}</code>` },
      { heading: 'Medium', cell: ({ media }) => media ?? 'not said' },
    ],
    rows: backups,
    empty: html`No backup has been made yet. Make the first with <code>larder backup FILE</code> on the host.`,
  });
