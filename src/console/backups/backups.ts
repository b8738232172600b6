// The page of backups, and of the integrity of the store.
import { storeAdministrator } from '#access/access-rules.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, type Html } from '#http/pages/html.ts';
import { timestamp } from '#domain/clock.ts';
import type { Export } from '#records/store/exports.ts';
import { toCard } from '../store/store-state.ts';
import { card } from '../parts/notice.ts';
import { pageSize, table } from '../parts/table.ts';
import { formatCount, distance, size, time } from '../parts/values.ts';
import { readRecordsProof } from '../store/records-proof.ts';
import { screen } from '../screen.ts';

/** The maximum of newest exports that are searched for backups. */
const maxSearchedExports = 1000;

/** The examinations about integrity. */
const about = new Set(['Backups', 'Blobs', 'Scrub', 'Records', 'Signing key', 'Site key']);

export const consoleBackups = screen({
  name: 'console_backups',
  path: '/console/backups',
  summary: 'Show when the store was backed up, and what proves that what is here is whole.',
  access: storeAdministrator('store-view'),

  async show({ records, examined, now }) {
    const left = await records.exports.list('', timestamp(now()), Number.MAX_SAFE_INTEGER, maxSearchedExports);
    const backups = left.filter(({ what: kind }) => kind === 'backup').slice(0, pageSize);
    const last = (await records.audit.newestOf('backup'))?.at;
    return {
      title: 'Backups and proof',
      lead: last === undefined ? 'No backup was ever made.' : html`The last backup was made ${distance(last, now())}.`,
      content: html`<div class="cards">
          ${(await examined()).filter(({ what: name }) => about.has(name)).map((examination) => card(toCard(examination)))}
        </div>
        <h2>Proof</h2>
        ${await proof(records, now())} ${await damaged(records)}
        <h2>Backups that left</h2>
        ${tableOf(backups)}
        <p class="hint">
          <code>larder backup FILE</code> on the host makes one while the store serves;
          <code>larder backup --check FILE</code> reads all of it again, also on another machine, and
          <code>larder restore FILE</code> makes the store of it. A backup holds neither <code>site.key</code> nor
          <code>master.key</code>: keep copies of both elsewhere.
        </p>`,
    };
  },
});

async function proof(records: Pick<HandlerRecords, 'appliance'>, now: Date): Promise<Html> {
  const proven = await readRecordsProof(records);
  if (proven === undefined)
    return html`<p>
      The records have not been proven yet; the store does so soon after it starts, and again and again.
    </p>`;
  const { at, problems, first } = proven;
  return problems === 0
    ? html`<p>
        Every row of the records was as it was written when it was proven last, ${distance(at, now)} (${time(at)}).
      </p>`
    : html`<p>
        <strong>${formatCount(problems, 'thing')} wrong with the records, found ${distance(at, now)}:</strong>
        ${first ?? ''}
      </p>`;
}

async function damaged({ damagedBlobs }: Pick<HandlerRecords, 'damagedBlobs'>): Promise<Html> {
  const blobs = await damagedBlobs.list(pageSize);
  return table({
    caption: 'Damaged contents, which serve nobody until they come in again',
    shown: blobs.length > 0,
    columns: [
      { heading: 'SHA3-384', cell: ({ sha3_384 }: (typeof blobs)[number]) => html`<code>${sha3_384}</code>` },
      { heading: 'Size', cell: (blob) => size(blob.size), number: true },
      { heading: 'Found', cell: (blob) => time(blob.foundAt) },
    ],
    rows: blobs,
    empty: 'No content is known to be damaged.',
  });
}

const tableOf = (backups: readonly Export[]): Html =>
  table<Export>({
    caption: 'Backups, the newest first',
    columns: [
      { heading: 'When', cell: ({ at }) => time(at) },
      { heading: 'By', cell: ({ actor }) => html`<code>${actor}</code>` },
      { heading: 'Size', cell: ({ bytes }) => size(bytes), number: true },
      { heading: 'SHA-256', cell: ({ sha256 }) => html`<code>${sha256}</code>` },
      { heading: 'Medium', cell: ({ media }) => media ?? 'not said' },
    ],
    rows: backups,
    empty: html`None has been made: <code>larder backup FILE</code> on the host makes the first.`,
  });
