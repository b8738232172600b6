// Formats a request for people and for programs.
import { formatCount } from '#domain/quantities.ts';
import type { TransferRequest } from '#contract/wire.ts';
import type { TransferReport } from '#http/transfer-desk.ts';
import { fingerprintOf, shortId } from '../site.ts';
import type { SiteRequestContent } from './request-content.ts';

/** Lists everything that leaves the site: at the terminal before the file is written, and on the page that goes with it. */
export function toRequestReport(statement: SiteRequestContent, scriptDigest: string): TransferReport {
  const { inventory } = statement;
  const needed = (dependents: readonly string[]): string =>
    dependents.length === 0 ? '' : `, which ${dependents.join(', ')} needs`;
  return {
    title: `Request ${String(statement.number)} of ${statement.site}`,
    sentences: [
      `Made ${statement.created}. The key of ${statement.site} has the fingerprint ${fingerprintOf(statement.keys).join(', ')}.`,
      ...(statement.label === undefined ? [] : [`The label of ${statement.site} is ${statement.label}.`]),
      inventory.kind === 'none'
        ? 'It does not list the contents of the site.'
        : `It names ${formatCount(inventory.contents.length, 'content')} of the site by digest (${inventory.kind === 'all' ? 'all' : 'imported ones only'}).`,
      `The script fetch.sh with it has the SHA-256 ${scriptDigest}; 'sh fetch.sh FOLDER' fetches the requested packages.`,
    ],
    lists: [
      {
        heading: 'Subscriptions:',
        items: statement.subscriptions.map(
          ({ namespace, name, channels, architectures }) =>
            `${namespace}/${name} ${channels.join(', ')} (${architectures.join(', ')})`,
        ),
      },
      {
        heading: 'Missing:',
        items: statement.missing.map(
          ({ kind, namespace, name, architecture, 'needed-by': dependents }) =>
            `${namespace}/${name} (${kind}, ${architecture})${needed(dependents)}`,
        ),
      },
      {
        heading: 'Missing from a transfer that waits, and no longer stored here:',
        items: statement.lost.map((entry) => `${entry.package} ${entry.content}`),
      },
      {
        heading: 'Keys to register:',
        items: statement['key-requests'].map(({ account, name, key }) => `${name} of ${account}: ${key}`),
      },
      {
        heading: 'Snaps with a declaration that must allow these accounts to sign:',
        items: statement.provenance.map(
          ({ name, id, provenance, accounts }) => `${name} (${id}), provenance ${provenance}: ${accounts.join(', ')}`,
        ),
      },
      {
        heading: 'Transfers that were accepted or withdrawn:',
        items: statement.receipts.map(
          ({ source, sequence, status, at, transfer }) =>
            `number ${String(sequence)} of ${source} (${shortId(transfer)}), ${status} at ${at}`,
        ),
      },
      {
        heading: 'Left out of the request or of the table for the script:',
        items: statement.withheld.map(({ what: subject, why: reason }) => `${subject}: ${reason}`),
      },
    ],
  };
}

/** The figures of a request, for programs; the signed statement has the full data. */
export const figuresOf = (statement: SiteRequestContent | TransferRequest) => ({
  wishes: statement.subscriptions.length,
  missing: statement.missing.length,
  lost: statement.lost.length,
  contents: statement.inventory.contents.length,
  'key-requests': statement['key-requests'].length,
  provenance: statement.provenance.length,
  receipts: statement.receipts.length,
  withheld: statement.withheld.length,
});
