// The state of the store: the sentences of the doctor, and a few figures with charts.
import type { Examined, Services } from '#api/services.ts';
import { html, type Html } from '#api/pages/html.ts';
import { days } from '#domain/clock.ts';
import type { Fault } from '#src/faults.ts';
import { backupPatience } from '#examinations/records.ts';
import { pendingWork, type PendingKind } from '#transfers/pending.ts';
import { bar, pillars } from '../parts/drawing.ts';
import type { Card } from '../parts/notice.ts';
import { facts } from '../parts/table.ts';
import { count, counted, distance, size, time } from '../parts/values.ts';

/** Problems first, then examinations that could not be done, then notices. */
export function worstFirst(faults: readonly Fault[], found: readonly Examined[]): Card[] {
  const said = found.filter(({ level }) => level !== 'well').map(cardOf);
  const own = faults
    .filter((fault) => !found.some(({ says }) => says.includes(fault.says)))
    .map(({ severity, about, says, remedy }): Card => ({
      gravity: severity === 'problem' ? 'warn' : 'note',
      title: about,
      words: sentence(says),
      mend: remedy,
    }));
  const all = [...own, ...said];
  return [...all.filter(({ gravity }) => gravity === 'warn'), ...all.filter(({ gravity }) => gravity !== 'warn')];
}

/** The result of one examination as a card. */
export const cardOf = ({ what, level, says, mend }: Examined): Card => ({
  gravity: level === 'well' ? 'good' : level === 'wrong' ? 'warn' : 'note',
  title: what,
  words: sentence(says),
  mend,
});

/** Turns a clause into a sentence. The name of a file or package at its beginning keeps its spelling. */
const sentence = (clause: string): string =>
  `${/^[\w-]+[./:]\S/.test(clause) ? clause.charAt(0) : clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;

type Asked = Pick<Services, 'records' | 'disk' | 'lastHour' | 'config' | 'now'>;

/** Disk, requests, the last backup, the last transfer, and the totals of the store. */
export async function whatStands({ records, disk, lastHour, config, now }: Asked): Promise<Html> {
  const { packages, revisions, accounts, blobBytes } = await records.counts.all();
  const backup = (await records.audit.newestOf('backup'))?.at;
  const transfer = await records.transfers.lastSettled();
  const ago = (moment: string, patience: number | undefined): Html => {
    const words = distance(moment, now());
    const portion = patience === undefined ? undefined : (now().getTime() - Date.parse(moment)) / patience;
    return html`${portion === undefined ? null : bar(portion, `${words}, of the time that it may take`)}<span
        >${words}</span
      >
      <span class="hint">${time(moment)}</span>`;
  };
  const { expected_days: expected } = config.transfers;
  return html`<h2>How it stands</h2>
    ${facts([
      ['Disk', room(disk(), config.uploads.reserve)],
      ['Requests in the last hour', requests(await lastHour.minutes())],
      [
        'Last backup',
        backup === undefined ? html`never: <code>larder backup FILE</code>` : ago(backup, backupPatience),
      ],
      [
        'Last transfer let in',
        transfer === null
          ? html`never: <a href="/console/carry">Carry</a>`
          : ago(transfer, expected === undefined ? undefined : days(expected)),
      ],
      [
        'Packages',
        html`<a href="/console/packages">${counted(packages, 'name')}</a>, ${counted(revisions, 'revision')},
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
          >${counted(number, kind)}</a
        >`,
  )}`;
}

function room({ diskFreeBytes: free, diskSizeBytes: whole }: ReturnType<Services['disk']>, reserve: number): Html {
  const words = `${size(free)} of ${size(whole)} are free`;
  return html`${bar(1 - free / Math.max(1, whole), words)}<span>${words}; uploads stop at ${size(reserve)}.</span>`;
}

function requests(minutes: Awaited<ReturnType<Services['lastHour']['minutes']>>): Html {
  const [answered, failed] = [
    minutes.reduce((sum, one) => sum + one.answered, 0),
    minutes.reduce((sum, one) => sum + one.failed, 0),
  ];
  const words = `${counted(answered, 'request')}, ${failed === 0 ? 'none of which failed' : `${count(failed)} of which failed`}`;
  return html`${pillars(
      minutes.map((one) => ({ all: one.answered, bad: one.failed })),
      `${words}, by the minute`,
    )}<span>${words}.</span>`;
}
