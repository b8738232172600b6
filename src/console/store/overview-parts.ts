// Parts of the overview: four tiles with a link each, and the activity of the last day.
import type { Services } from '#http/services.ts';
import { html, type Html } from '#http/pages/html.ts';
import { lastBackups, maxBackupAgeMs } from '#examinations/records.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { pendingWork } from '#transfers/pending.ts';
import { toTimelineEvents } from '../audit/sentences.ts';
import { bar } from '../parts/charts.ts';
import type { Card, Gravity } from '../parts/notice.ts';
import { emptyState } from '../parts/table.ts';
import { tiles, type Tile } from '../parts/tiles.ts';
import { timeline } from '../parts/timeline.ts';
import { count, distance, formatCount, size } from '../parts/values.ts';

type OverviewInput = Pick<Services, 'records' | 'disk' | 'now' | 'certificateEnd'>;

/** A tile is as grave as the worst of the cards about its subject, so that both say the same. */
export async function renderOverviewTiles(input: OverviewInput, cards: readonly Card[]): Promise<Html> {
  const gravityOf = (subject: string): Gravity => cards.find(({ title }) => title === subject)?.gravity ?? 'good';
  return tiles([
    await pendingTile(input),
    { ...(await backupTile(input)), gravity: gravityOf('Backups') },
    { ...diskTile(input), gravity: gravityOf('Disk') },
    { ...certificateTile(input), gravity: gravityOf('Certificate') },
  ]);
}

async function pendingTile({ records, now }: OverviewInput): Promise<Tile> {
  const work = (await pendingWork(records, now())).filter(({ count: number }) => number > 0);
  const all = work.reduce((sum, { count: number }) => sum + number, 0);
  return {
    icon: 'inbox',
    title: 'Pending',
    figure: count(all),
    words: all === 0 ? 'nothing waits for people' : work.map(({ kind, count: n }) => formatCount(n, kind)).join(', '),
    address: '/console/waiting',
    gravity: all === 0 ? 'good' : 'note',
  };
}

async function backupTile({ records, now }: OverviewInput): Promise<Omit<Tile, 'gravity'>> {
  const at = (await lastBackups(records)).last?.at;
  const isOld = at !== undefined && now().getTime() - Date.parse(at) > maxBackupAgeMs;
  return {
    icon: 'shield-check',
    title: 'Last backup',
    figure: at === undefined ? 'never' : distance(at, now()),
    words: at === undefined ? 'make the first one' : isOld ? 'too long ago' : 'recent enough',
    address: '/console/backups',
  };
}

function diskTile({ disk }: OverviewInput): Omit<Tile, 'gravity'> {
  const { diskFreeBytes: free, diskSizeBytes: whole } = disk();
  const used = 1 - free / Math.max(1, whole);
  return {
    icon: 'database',
    title: 'Disk',
    figure: html`${Math.round(used * 100)} % used`,
    words: html`${bar(used, `${size(free)} of ${size(whole)} are free`)}${size(free)} free`,
    address: '/console/storage',
  };
}

function certificateTile({ certificateEnd, now }: OverviewInput): Omit<Tile, 'gravity'> {
  const end = certificateEnd();
  const left = end === undefined ? undefined : Math.floor((end.getTime() - now().getTime()) / days(1));
  return {
    icon: 'verified',
    title: 'Certificate',
    figure: left === undefined ? 'none' : left < 0 ? 'expired' : formatCount(left, 'day'),
    words: left === undefined ? 'plain HTTP on this machine' : 'until the certificate of the server expires',
    address: '/console/settings?q=tls.',
  };
}

/** The maximum of entries that are read for the activity, and shown. */
const maxRead = 200;
const maxShown = 12;

/** Sessions are in the audit log; here they would hide the changes. */
const leftOut = new Set(['begin_browser_session', 'exchange_admin_credential', 'exchange_macaroons', 'log_in']);

/** The changes that people made in the last day. */
export async function renderActivity({ records, now }: Pick<OverviewInput, 'records' | 'now'>): Promise<Html> {
  const since = timestamp(after(now(), -days(1)));
  const rows = await records.audit.newest(Number.MAX_SAFE_INTEGER, maxRead);
  const shown = rows.filter(({ at, actor, action }) => at >= since && actor !== 'larder' && !leftOut.has(action));
  const events = await toTimelineEvents(records, shown.slice(0, maxShown), true);
  return html`<h2>Activity of the last day</h2>
    ${events.length === 0 ? emptyState('No changes were made in the last day.') : timeline(events)}
    <p><a href="/console/audit">Audit log</a></p>`;
}
