// The state of the store: the sentences of the doctor, and a few figures with charts.
import type { ExaminationResult, Services } from '#http/services.ts';
import { html, type Html } from '#http/pages/html.ts';
import { days } from '#domain/clock.ts';
import type { Fault } from '#platform/faults.ts';
import { bar, pillars } from '../parts/charts.ts';
import type { Card } from '../parts/notice.ts';
import { facts } from '../parts/table.ts';
import { count, formatCount, distance, exactTime, size } from '../parts/values.ts';

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
      action: pagesBySubject[about],
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
  action: level === 'well' ? undefined : pagesBySubject[name],
});

/** The pages that mend findings, by the subject of the examination. */
const pagesBySubject: Readonly<Record<string, Card['action']>> = {
  Approvals: { words: 'Show pending items', address: '/console/waiting' },
  Backups: { words: 'Show backups', address: '/console/backups' },
  Blobs: { words: 'Show corrupt blobs', address: '/console/backups' },
  Closure: { words: 'Show missing packages', address: '/console/carry' },
  Feeds: { words: 'Show vulnerabilities', address: '/console/vulnerabilities' },
  Disk: { words: 'Show storage', address: '/console/storage' },
  Pending: { words: 'Show pending items', address: '/console/waiting' },
  'Signing key': { words: 'Show brands and keys', address: '/console/brands' },
  Transfers: { words: 'Show transfers', address: '/console/carry' },
  Vulnerabilities: { words: 'Show vulnerabilities', address: '/console/vulnerabilities' },
};

/** Turns a clause into a sentence. The name of a file or package at its beginning keeps its spelling. */
const sentence = (clause: string): string =>
  `${/^[\w-]+[./:]\S/.test(clause) ? clause.charAt(0) : clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;

type StoreStateInput = Pick<Services, 'records' | 'lastHour' | 'config' | 'now'>;

/** Requests, the last transfer, and the totals of the store. */
export async function renderStoreState({ records, lastHour, config, now }: StoreStateInput): Promise<Html> {
  const { packages, revisions, accounts, blobBytes } = await records.counts.all();
  const transfer = await records.transfers.lastSettled();
  const ago = (moment: string, maxAgeMs: number | undefined): Html => {
    const words = distance(moment, now());
    const portion = maxAgeMs === undefined ? undefined : (now().getTime() - Date.parse(moment)) / maxAgeMs;
    return html`${portion === undefined ? null : bar(portion, `${words}, as a share of the allowed time`)}<span
        >${words}</span
      >
      <span class="hint">${exactTime(moment)}</span>`;
  };
  const { expected_days: expected } = config.transfers;
  return html`<h2>Status</h2>
    ${facts([
      ['Requests in the last hour', requests(await lastHour.minutes())],
      [
        'Last accepted transfer',
        transfer === null
          ? html`never: <a href="/console/carry">Transfers</a>`
          : ago(transfer, expected === undefined ? undefined : days(expected)),
      ],
      [
        'Packages',
        html`<a href="/console/packages">${formatCount(packages, 'name')}</a>, ${formatCount(revisions, 'revision')},
          ${size(blobBytes)}`,
      ],
      ['Accounts', html`<a href="/console/people">${count(accounts)}</a>`],
    ])}`;
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
