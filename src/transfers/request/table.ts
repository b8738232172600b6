// The table that the collector's script reads. A value stands in it only when it is of the closed form of its kind, so that no word
// from inside a package reaches a shell.
import { createHash } from 'node:crypto';

import type { TransferLeftOut, TransferRequest } from '#api/wire.ts';
import { embeddedText } from '#src/embedded.ts';

/** The script: one text, which changes with nothing that a site asks for. */
export const fetchScript = (): Buffer => Buffer.from(embeddedText('src/transfers/request/fetch.sh'));

/** By which people at both ends know that it is the same. */
export const scriptDigest = (): string => createHash('sha256').update(fetchScript()).digest('hex');

/** As the script holds them against its own, once more. */
const forms = {
  snap: /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/,
  charm: /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/,
  channel: /^[A-Za-z0-9][A-Za-z0-9._-]{0,27}\/(?:stable|candidate|beta|edge)$/,
  id: /^[A-Za-z0-9_-]{2,64}$/,
} as const;

type Row = readonly [kind: string, name: string, channel: string, architecture: string];

type Asked = Pick<TransferRequest, 'site' | 'number' | 'subscriptions' | 'missing' | 'key-requests' | 'provenance'>;

/** The table, and what cannot stand in it. */
export function tableOf(request: Asked): { text: string; withheld: TransferLeftOut[] } {
  const withheld: TransferLeftOut[] = [];
  const rows: Row[] = [...wishRows(request, withheld), ...missingRows(request, withheld), ...assertionRows(request)];
  const lines = [...new Set(rows.map((row) => row.join('\t')))].sort();
  const head = ['request', request.site, String(request.number), '-'].join('\t');
  return { text: [head, ...lines].map((line) => `${line}\n`).join(''), withheld };
}

function wishRows({ subscriptions }: Asked, withheld: TransferLeftOut[]): Row[] {
  return subscriptions.flatMap(({ namespace, name, channels, architectures }) => {
    const what = `${namespace}/${name}`;
    if (namespace !== 'snap' && namespace !== 'charm') {
      withheld.push({ what, why: 'No tool of the online stores fetches it; it comes from another store alone.' });
      return [];
    }
    if (!forms[namespace].test(name)) {
      withheld.push({ what, why: `That is no name that a ${namespace} of the online store has.` });
      return [];
    }
    const fit = channels.filter((channel) => forms.channel.test(channel));
    for (const channel of channels.filter((one) => !fit.includes(one))) {
      withheld.push({ what: `${what} ${channel}`, why: 'No tool of the online stores lists a branch.' });
    }
    return fit.flatMap((channel) => architectures.map((architecture): Row => [namespace, name, channel, architecture]));
  });
}

/** What is missing comes from where devices would look for it. */
function missingRows({ missing, subscriptions }: Asked, withheld: TransferLeftOut[]): Row[] {
  const wished = new Set(subscriptions.map(({ namespace, name }) => `${namespace}/${name}`));
  return missing.flatMap(({ namespace, name, architecture }) => {
    const [called = ''] = name.split(':');
    if ((namespace !== 'snap' && namespace !== 'charm') || !forms[namespace].test(called)) {
      withheld.push({
        what: `${namespace}/${name}`,
        why: `That is no name that a ${namespace} of the online store has.`,
      });
      return [];
    }
    // It is fetched as it is wished for, which says of which channels.
    if (wished.has(`${namespace}/${called}`)) return [];
    return [[namespace, called, 'latest/stable', architecture === 'all' ? 'amd64' : architecture] as const];
  });
}

/** What is to come of keys that wait and of declarations that must be changed. */
function assertionRows({ 'key-requests': keys, provenance }: Asked): Row[] {
  return [
    ...keys
      .filter(({ key, account }) => forms.id.test(key) && forms.id.test(account))
      .flatMap(({ key, account }): Row[] => [
        ['assertion', 'account-key', `public-key-sha3-384=${key}`, '-'],
        ['assertion', 'account', `account-id=${account}`, '-'],
      ]),
    ...provenance
      .filter(({ id }) => forms.id.test(id))
      .map(({ id }): Row => ['assertion', 'snap-declaration', `snap-id=${id}`, '-']),
  ];
}
