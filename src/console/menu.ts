// The menu of the console: the pages that the reader may see, in groups, with the number of items that wait.
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { IconName } from './icons.ts';
import { icon } from './parts/icon.ts';
import { count } from './parts/values.ts';
import type { Viewer } from './viewer.ts';

interface ConsoleMenuEntry {
  address: string;
  words: string;
  icon: IconName;
  for(viewer: Viewer): boolean;
  /** The number of waiting items that it leads to. */
  waiting?(pending: PendingNumbers): number;
}

/** The number of items that wait for people, as far as the reader may know. */
export interface PendingNumbers {
  all: number;
  transfers: number;
}

const everyAccount = (): boolean => true;
const administrators = ({ administers }: Viewer): boolean => administers;
const overseers = ({ oversees }: Viewer): boolean => oversees;
const auditors = ({ administers, roles }: Viewer): boolean => administers || roles.includes('auditor');

const groups: readonly (readonly [title: string, entries: readonly ConsoleMenuEntry[]])[] = [
  [
    'Daily',
    [
      { address: '/console', words: 'Overview', icon: 'home', for: everyAccount },
      { address: '/console/packages', words: 'Packages', icon: 'package', for: everyAccount },
      {
        address: '/console/waiting',
        words: 'Pending',
        icon: 'inbox',
        for: everyAccount,
        waiting: ({ all }) => all,
      },
      { address: '/console/devices', words: 'Devices', icon: 'cpu', for: administrators },
    ],
  ],
  [
    'Between sites',
    [
      {
        address: '/console/carry',
        words: 'Transfers',
        icon: 'arrow-switch',
        for: overseers,
        waiting: ({ transfers }) => transfers,
      },
      { address: '/console/carry/requests', words: 'Requests', icon: 'paper-airplane', for: overseers },
      { address: '/console/subscriptions', words: 'Subscriptions', icon: 'check', for: overseers },
      { address: '/console/sites', words: 'Sites', icon: 'verified', for: overseers },
    ],
  ],
  [
    'Administration',
    [
      { address: '/console/people', words: 'Users and tokens', icon: 'people', for: administrators },
      { address: '/console/brands', words: 'Brands and keys', icon: 'key', for: administrators },
      { address: '/console/backups', words: 'Backups and integrity', icon: 'shield-check', for: administrators },
      { address: '/console/storage', words: 'Storage', icon: 'database', for: administrators },
      { address: '/console/audit', words: 'Audit log', icon: 'log', for: auditors },
      { address: '/console/policy', words: 'Approval policy', icon: 'law', for: auditors },
      { address: '/console/vulnerabilities', words: 'Vulnerabilities', icon: 'bug', for: auditors },
      { address: '/console/settings', words: 'Settings', icon: 'gear', for: administrators },
    ],
  ],
];

const all = groups.flatMap(([, entries]) => entries);

/** The entry with the longest address that this address is below. */
const entryFor = (address: string): ConsoleMenuEntry | undefined =>
  all
    .filter(({ address: to }) => address === to || (to !== '/console' && address.startsWith(`${to}/`)))
    .sort((entry, other) => other.address.length - entry.address.length)[0];

export function renderMenu(viewer: Viewer, address: string, pending: PendingNumbers): Html {
  const current = entryFor(address);
  const link = (entry: ConsoleMenuEntry): Html => {
    const waiting = entry.waiting?.(pending) ?? 0;
    return html`<li>
      <a href="${entry.address}" ${entry === current ? html`aria-current="page"` : nothing}
        >${icon(entry.icon)}${entry.words}${waiting === 0 ? nothing : html` <span class="count">${count(waiting)}</span>`}</a
      >
    </li>`;
  };
  const shown = groups
    .map(([title, entries]) => [title, entries.filter((entry) => entry.for(viewer))] as const)
    .filter(([, entries]) => entries.length > 0);
  return html`<nav aria-label="Console">
    <details open>
      <summary>${icon('three-bars')}Menu</summary>
      ${shown.map(
        ([title, entries]) =>
          html`<p class="menu-title" aria-hidden="true">${title}</p>
            <ul aria-label="${title}">
              ${entries.map(link)}
            </ul>`,
      )}
    </details>
  </nav>`;
}
