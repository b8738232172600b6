// Formats a request for people and for programs.
import { counted } from '#domain/quantities.ts';
import type { TransferRequest } from '#api/wire.ts';
import type { Said } from '#transfers/request/ask.ts';
import { fingerprintOf, shortId } from '#transfers/site.ts';
import type { Report } from './report.ts';

/** Lists everything that leaves the site: at the terminal before the file is written, and on the page that goes with it. */
export function reportOf(said: Said, scriptDigest: string): Report {
  const { inventory } = said;
  const needed = (by: readonly string[]): string => (by.length === 0 ? '' : `, which ${by.join(', ')} needs`);
  return {
    title: `Request ${String(said.number)} of ${said.site}`,
    said: [
      `Made ${said.created}. The key of ${said.site} has the fingerprint ${fingerprintOf(said.keys).join(', ')}.`,
      ...(said.label === undefined ? [] : [`The label of ${said.site} is ${said.label}.`]),
      inventory.kind === 'none'
        ? 'It does not say what is there.'
        : `It names ${counted(inventory.contents.length, 'content')} that are there, by their digests (${inventory.kind === 'all' ? 'all' : 'those that came from elsewhere'}).`,
      `The script fetch.sh that goes along has the SHA-256 ${scriptDigest}; 'sh fetch.sh FOLDER' fetches what is wished for.`,
    ],
    lists: [
      {
        heading: 'Wished for:',
        items: said.subscriptions.map(
          ({ namespace, name, channels, architectures }) =>
            `${namespace}/${name} ${channels.join(', ')} (${architectures.join(', ')})`,
        ),
      },
      {
        heading: 'Missing:',
        items: said.missing.map(
          ({ kind, namespace, name, architecture, 'needed-by': by }) =>
            `${namespace}/${name} (${kind}, ${architecture})${needed(by)}`,
        ),
      },
      {
        heading: 'Left out of a transfer that waits, and not here any more:',
        items: said.lost.map((one) => `${one.package} ${one.content}`),
      },
      {
        heading: 'Keys to register:',
        items: said['key-requests'].map(({ account, name, key }) => `${name} of ${account}: ${key}`),
      },
      {
        heading: 'Snaps whose declaration must let these accounts sign:',
        items: said.provenance.map(
          ({ name, id, provenance, accounts }) => `${name} (${id}), provenance ${provenance}: ${accounts.join(', ')}`,
        ),
      },
      {
        heading: 'Transfers that were let in or put back:',
        items: said.receipts.map(
          ({ source, sequence, status, at, transfer }) =>
            `number ${String(sequence)} of ${source} (${shortId(transfer)}), ${status} at ${at}`,
        ),
      },
      {
        heading: 'Not in the table that the script reads, or not told:',
        items: said.withheld.map(({ what, why }) => `${what}: ${why}`),
      },
    ],
  };
}

/** The figures of a request, for programs; the signed statement has the full data. */
export const figuresOf = (said: Said | TransferRequest) => ({
  wishes: said.subscriptions.length,
  missing: said.missing.length,
  lost: said.lost.length,
  contents: said.inventory.contents.length,
  'key-requests': said['key-requests'].length,
  provenance: said.provenance.length,
  receipts: said.receipts.length,
  withheld: said.withheld.length,
});
