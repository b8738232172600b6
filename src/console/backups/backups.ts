// The page of backups, and of the integrity of the store, with forms that make a backup and run a drill.
import { storeAdministrator } from '#access/access-rules.ts';
import { backupPlaceOf } from '#data/blobs-place.ts';
import { lastBackups } from '#examinations/records.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import type { BackupTask, BackupTaskResult } from '#http/backup-desk.ts';
import { html, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { Config } from '#configuration/config.ts';
import { hours, minutes, timestamp } from '#domain/clock.ts';
import { shellWord } from '#domain/shell-word.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { caller } from '#operations/caller.ts';
import type { Export } from '#records/store/exports.ts';
import { declareMessages } from '../messages.ts';
import { readActorLabels } from '../parts/actor-labels.ts';
import { formOf } from '../parts/form.ts';
import { hostCommand } from '../parts/host-command.ts';
import { toCard } from '../store/store-state.ts';
import { card, notice } from '../parts/notice.ts';
import { facts, pageSize, table } from '../parts/table.ts';
import { duration, formatCount, distance, exactTime, identifier, size, time } from '../parts/values.ts';
import { readRecordsProof } from '../store/records-proof.ts';
import { formHandler, screen } from '../screen.ts';

const withMessage = declareMessages({
  'backup-made': 'The backup is made.',
  'backup-unchanged': 'The store has not changed since the last backup, so no other one was made.',
  'backup-lacking': 'The backup is made, but contents of the store are missing or corrupt. This page says which.',
  'backup-running': 'The backup has begun. It continues if you leave this page.',
  'drill-done': 'The newest backup was restored and verified. The copy is removed.',
  'drill-running': 'The drill has begun. It continues if you leave this page.',
});

const path = '/console/backups';

/** The maximum of newest exports that are searched for backups. */
const maxSearchedExports = 1000;

/** The examinations about integrity. */
const about = new Set(['Backups', 'Blobs', 'Scrub', 'Records', 'Signing key', 'Site key']);

export const consoleBackups = screen({
  name: 'console_backups',
  path,
  summary:
    'Show the backups of the store and the last verification of its data, with forms to back up and to run a drill.',
  access: storeAdministrator('store-view'),
  query: 'ConsolePageQuery',

  async show({ records, examined, backups, browsing, config, now }) {
    const left = await records.exports.list('', timestamp(now()), Number.MAX_SAFE_INTEGER, maxSearchedExports);
    const made = left.filter(({ what: kind }) => kind === 'backup').slice(0, pageSize);
    const who = await readActorLabels(
      made.map(({ actor }) => actor),
      records,
    );
    const history = await lastBackups(records);
    const { last, drill } = history;
    const isRunning = await backups.isRunning();
    return {
      title: 'Backups and integrity',
      moves: isRunning,
      lead:
        last === undefined
          ? 'No backup has been made yet.'
          : html`The last backup was made ${distance(last.at, now())}, and
            ${drill === undefined ? 'none was restored in a drill.' : html`the last drill was ${distance(drill.at, now())}.`}`,
      content: html`<div class="cards">
          ${(await examined()).filter(({ what: name }) => about.has(name)).map((examination) => card({ ...toCard(examination), action: undefined }))}
        </div>
        <h2>Backups</h2>
        ${facts([
          ['Last backup', last === undefined ? 'never' : time(last.at)],
          ['Next increment', nextIncrement(config.backup, last?.at, now())],
          ...drillFacts(history, config.backup.drill_days),
        ])}
        ${isRunning ? notice('note', runningSentence) : taskForms(browsing, backupPlaceOf(config))}
        ${tableOf(made, who)}
        <h2>Restore</h2>
        ${hostCommand(`larder restore ${placeWord(backupPlaceOf(config))} --keys /media/safe`, 'A store is restored on its host, while it does not serve:')}
        <p class="hint">
          A backup contains neither <code>site.key</code> nor <code>master.key</code>: keep copies of both elsewhere.
        </p>
        <h2>Integrity</h2>
        ${await renderRecordsVerification(records, now())} ${await renderCorruptBlobs(records)}`,
    };
  },
});

const runningSentence = 'A backup or a drill is running. This page shows its result when it ends.';

/** The configured place in a command, or an example. */
const placeWord = (place = '/mnt/backups/larder'): string => shellWord(place);

const taskForms = (browsing: Browsing, place: string | undefined): Html =>
  place === undefined
    ? hostCommand(
        'larder config set backup.folder /mnt/backups/larder',
        'No place for backups is set, so this page makes none. Name a folder on another disk, on the host:',
      )
    : html`<div class="row">
          ${formOf(browsing, path, html`<button>Back up now</button>`)}
          ${formOf(browsing, `${path}/drill`, html`<button class="second">Run a drill</button>`)}
        </div>
        <p class="hint">
          A backup contains what has changed since the last one. A drill restores the newest backup beside the store,
          verifies the copy and removes it.
        </p>
        ${hostCommand(`larder backup ${placeWord(place)} --increment\nlarder backup drill ${placeWord(place)}`)}`;

/** The result of the last drill, and of a failed one after it. */
function drillFacts(
  { drill, failedDrill }: Awaited<ReturnType<typeof lastBackups>>,
  expectedDays: number | undefined,
): (readonly [string, HtmlContent])[] {
  const pairs: (readonly [string, HtmlContent])[] = [
    ['Last drill', drill === undefined ? 'never' : html`${time(drill.at)}${drillResult(drill.details)}`],
  ];
  if (failedDrill !== undefined) {
    const { because = 'the log says why' } = JSON.parse(failedDrill.details) as { because?: string };
    pairs.push(['Failed drill', html`${time(failedDrill.at)}: ${because}`]);
  }
  if (expectedDays !== undefined) pairs.push(['Drills', `expected every ${formatCount(expectedDays, 'day')}`]);
  return pairs;
}

function drillResult(details: string): HtmlContent {
  const { bytes, seconds, 'made-at': madeAt } = JSON.parse(details) as Partial<DrillDetails>;
  if (bytes === undefined || seconds === undefined || madeAt === undefined) return nothing;
  return html`: the backup of ${exactTime(madeAt)} was restored and verified, ${size(bytes)} in
  ${duration(seconds * 1000)}`;
}

interface DrillDetails {
  bytes: number;
  seconds: number;
  'made-at': string;
}

const messages = {
  backup: {
    done: 'backup-made',
    unchanged: 'backup-unchanged',
    lacking: 'backup-lacking',
    running: 'backup-running',
  },
  drill: { done: 'drill-done', unchanged: 'drill-done', lacking: 'drill-done', running: 'drill-running' },
} as const satisfies Record<BackupTask, Record<BackupTaskResult, string>>;

export const consoleBackUp = formHandler({
  name: 'console_back_up',
  path,
  summary: 'Back up the store into the configured folder or bucket, as the timer does.',
  access: storeAdministrator('store-manage'),
  body: 'ConsoleForm',
  refuses: ['conflict', 'shutting-down'],

  perform: async (call) => withMessage(path, messages.backup[await call.backups.begin('backup', caller(call))]),
});

export const consoleRunDrill = formHandler({
  name: 'console_run_drill',
  path: `${path}/drill`,
  summary: 'Restore the newest backup beside the store, verify the copy, and remove it.',
  access: storeAdministrator('store-manage'),
  body: 'ConsoleForm',
  refuses: ['conflict', 'shutting-down'],

  perform: async (call) => withMessage(path, messages.drill[await call.backups.begin('drill', caller(call))]),
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

async function renderRecordsVerification(records: Pick<HandlerRecords, 'appliance'>, now: Date): Promise<Html> {
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

async function renderCorruptBlobs({ damagedBlobs }: Pick<HandlerRecords, 'damagedBlobs'>): Promise<Html> {
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

const tableOf = (backups: readonly Export[], who: (actor: string | null) => string): Html =>
  table<Export>({
    caption: 'Backups, newest first',
    columns: [
      { heading: 'When', cell: ({ at }) => time(at) },
      { heading: 'By', cell: ({ actor }) => who(actor) },
      { heading: 'Size', cell: ({ bytes }) => size(bytes), number: true },
      { heading: 'SHA-256', cell: ({ sha256 }) => identifier(sha256) },
      { heading: 'Medium', cell: ({ media }) => media ?? 'not said' },
    ],
    rows: backups,
    empty: 'No backup has been made yet.',
  });
