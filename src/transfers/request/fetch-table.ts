// Writes the table that the collector's script reads. Each value must match a strict pattern, so that no text from a package reaches a
// shell.
import { createDigest } from '#domain/cryptography.ts';
import type { TransferLeftOut, TransferRequest } from '#contract/wire.ts';
import { embeddedText } from '#platform/embedded.ts';

/** Returns the script. Its text is constant and does not depend on the request. */
export const fetchScript = (): Buffer => Buffer.from(embeddedText('src/transfers/request/fetch.sh'));

/** Returns the digest of the script. People at both sites compare it. */
export const scriptDigest = (): string => createDigest('statement').update(fetchScript()).digest('hex');

/** The patterns of values. The script checks them again with its own copy. */
const forms = {
  snap: /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/,
  charm: /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/,
  channel: /^[A-Za-z0-9][A-Za-z0-9._-]{0,27}\/(?:stable|candidate|beta|edge)$/,
  id: /^[A-Za-z0-9_-]{2,64}$/,
} as const;

type FetchTableRow = readonly [kind: string, name: string, channel: string, architecture: string];

type FetchTableRequest = Pick<
  TransferRequest,
  'site' | 'number' | 'subscriptions' | 'missing' | 'key-requests' | 'provenance'
>;

/** Returns the table, and the items that it cannot contain. */
export function buildFetchTable(request: FetchTableRequest): { text: string; withheld: TransferLeftOut[] } {
  const withheld: TransferLeftOut[] = [];
  const rows: FetchTableRow[] = [
    ...subscriptionRows(request, withheld),
    ...missingRows(request, withheld),
    ...assertionRows(request),
  ];
  const lines = [...new Set(rows.map((row) => row.join('\t')))].sort();
  const head = ['request', request.site, String(request.number), '-'].join('\t');
  return { text: [head, ...lines].map((line) => `${line}\n`).join(''), withheld };
}

function subscriptionRows({ subscriptions }: FetchTableRequest, withheld: TransferLeftOut[]): FetchTableRow[] {
  return subscriptions.flatMap(({ namespace, name, channels, architectures }) => {
    const subject = `${namespace}/${name}`;
    if (namespace !== 'snap' && namespace !== 'charm') {
      withheld.push({
        what: subject,
        why: 'No tool of the online stores fetches it. Get it from another store.',
      });
      return [];
    }
    if (!forms[namespace].test(name)) {
      withheld.push({ what: subject, why: `This is not a name that a ${namespace} of the online store has.` });
      return [];
    }
    const fit = channels.filter((channel) => forms.channel.test(channel));
    for (const channel of channels.filter((candidate) => !fit.includes(candidate))) {
      withheld.push({ what: `${subject} ${channel}`, why: 'No tool of the online stores lists a branch.' });
    }
    return fit.flatMap((channel) =>
      architectures.map((architecture): FetchTableRow => [namespace, name, channel, architecture]),
    );
  });
}

/** Missing packages are fetched from the channel that devices would use. */
function missingRows({ missing, subscriptions }: FetchTableRequest, withheld: TransferLeftOut[]): FetchTableRow[] {
  const subscribed = new Set(subscriptions.map(({ namespace, name }) => `${namespace}/${name}`));
  return missing.flatMap(({ namespace, name, architecture }) => {
    const [called = ''] = name.split(':');
    if ((namespace !== 'snap' && namespace !== 'charm') || !forms[namespace].test(called)) {
      withheld.push({
        what: `${namespace}/${name}`,
        why: `This is not a name that a ${namespace} of the online store has.`,
      });
      return [];
    }
    // Its subscription already requests it, with channels.
    if (subscribed.has(`${namespace}/${called}`)) return [];
    return [[namespace, called, 'latest/stable', architecture === 'all' ? 'amd64' : architecture] as const];
  });
}

/** Assertions to fetch: for keys that wait for registration, and for snap-declarations that must change. */
function assertionRows({ 'key-requests': keys, provenance }: FetchTableRequest): FetchTableRow[] {
  return [
    ...keys
      .filter(({ key, account }) => forms.id.test(key) && forms.id.test(account))
      .flatMap(({ key, account }): FetchTableRow[] => [
        ['assertion', 'account-key', `public-key-sha3-384=${key}`, '-'],
        ['assertion', 'account', `account-id=${account}`, '-'],
      ]),
    ...provenance
      .filter(({ id }) => forms.id.test(id))
      .map(({ id }): FetchTableRow => ['assertion', 'snap-declaration', `snap-id=${id}`, '-']),
  ];
}
