// The state of the store: the sentences of the doctor, and a few figures with charts.
import type { ExaminationResult, Services } from '#http/services.ts';
import { html, type Html } from '#http/pages/html.ts';
import { days } from '#domain/clock.ts';
import type { Fault } from '#platform/faults.ts';
import { lastBackups, maxBackupAgeMs } from '#examinations/records.ts';
import { pendingWork, type PendingKind } from '#transfers/pending.ts';
import { bar, pillars } from '../parts/charts.ts';
import type { Card } from '../parts/notice.ts';
import { facts } from '../parts/table.ts';
import { count, formatCount, distance, size, time } from '../parts/values.ts';

/** Problems first, then examinations that could not be done, then notices. */
export function toSortedCards(faults: readonly Fault[], examinations: readonly ExaminationResult[]): Card[] {
  const findings = examinations.filter(({ level }) => level !== 'well').map(toCard);
  const own = faults
    .filter((fault) => !examinations.some(({ says }) => says.includes(fault.says)))
    .map(({ severity, about, says, remedy }): Card => ({
      gravity: severity === 'problem' ? 'warn' : 'note',
      title: about,
      words: sentence(says),
      mend: remedy,
    }));
  const all = [...own, ...findings];
  return [...all.filter(({ gravity }) => gravity === 'warn'), ...all.filter(({ gravity }) => gravity !== 'warn')];
}

/** The result of one examination as a card. */
export const toCard = ({ what: name, level, says, mend }: ExaminationResult): Card => ({
  gravity: level === 'well' ? 'good' : level === 'wrong' ? 'warn' : 'note',
  title: name,
  words: sentence(says),
  mend,
});

/** Turns a clause into a sentence. The name of a file or package at its beginning keeps its spelling. */
const sentence = (clause: string): string =>
  `${/^[\w-]+[./:]\S/.test(clause) ? clause.charAt(0) : clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;

type StoreStateInput = Pick<Services, 'records' | 'disk' | 'lastHour' | 'config' | 'now'>;

/** Disk, requests, the last backup, the last transfer, and the totals of the store. */
export async function renderStoreState({ records, disk, lastHour, config, now }: StoreStateInput): Promise<Html> {
  const { packages, revisions, accounts, blobBytes } = await records.counts.all();
  const backup = (await lastBackups(records)).last?.at;
  const transfer = await records.transfers.lastSettled();
  const ago = (moment: string, maxAgeMs: number | undefined): Html => {
    const words = distance(moment, now());
    const portion = maxAgeMs === undefined ? undefined : (now().getTime() - Date.parse(moment)) / maxAgeMs;
    return html`${portion === undefined ? null : bar(portion, `${words}, as a share of the allowed time`)}<span
        >${words}</span
      >
      <span class="hint">${time(moment)}</span>`;
  };
  const { expected_days: expected } = config.transfers;
  return html`<h2>Status</h2>
    ${facts([
      ['Disk', room(disk(), config.uploads.reserve)],
      ['Requests in the last hour', requests(await lastHour.minutes())],
      [
        'Last backup',
        backup === undefined ? html`never: <code>larder backup FILE</code>` : ago(backup, maxBackupAgeMs),
      ],
      [
        'Last accepted transfer',
        transfer === null
          ? html`never: <a href="/console/carry">Carry</a>`
          : ago(transfer, expected === undefined ? undefined : days(expected)),
      ],
      [
        'Packages',
        html`<a href="/console/packages">${formatCount(packages, 'name')}</a>, ${formatCount(revisions, 'revision')},
          ${size(blobBytes)}`,
      ],
      ['Waiting for people', waits(await pendingWork(records, now()))],
      ['Accounts', html`<a href="/console/people">${count(accounts)}</a>`],
    ])}`;
}

/** The work that waits for people, with a link per kind. */
function waits(work: readonly PendingKind[]): Html | string {
  const kinds = work.filter(({ count: number }) => number > 0);
  if (kinds.length === 0) return 'nothing';
  return html`${kinds.map(
    ({ kind, count: number }, at) =>
      html`${at === 0 ? '' : ', '}<a href="${kind === 'transfer' ? '/console/carry' : '/console/waiting'}"
          >${formatCount(number, kind)}</a
        >`,
  )}`;
}

function room({ diskFreeBytes: free, diskSizeBytes: whole }: ReturnType<Services['disk']>, reserve: number): Html {
  const words = `${size(free)} of ${size(whole)} are free`;
  return html`${bar(1 - free / Math.max(1, whole), words)}<span>${words}; uploads stop at ${size(reserve)}.</span>`;
}

function requests(minutes: Awaited<ReturnType<Services['lastHour']['minutes']>>): Html {
  const [answered, failed] = [
    minutes.reduce((sum, minute) => sum + minute.answered, 0),
    minutes.reduce((sum, minute) => sum + minute.failed, 0),
  ];
  const words = `${formatCount(answered, 'request')}, ${failed === 0 ? 'no failures' : `${count(failed)} failed`}`;
  return html`${pillars(
      minutes.map((minute) => ({ all: minute.answered, bad: minute.failed })),
      `${words}, by the minute`,
    )}<span>${words}.</span>`;
}
