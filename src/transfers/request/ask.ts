// Builds the content of a request from the records of the site. Includes facts about the site's own packages only if the administrator
// asked for it.
import { createHash } from 'node:crypto';

import type { Receipt } from '#acts/transfers.ts';
import type {
  RequestKey,
  RequestLost,
  RequestMissing,
  RequestProvenance,
  RequestReceipt,
  TransferLeftOut,
  TransferRequest,
  TransferWish,
} from '#api/wire.ts';
import { parseAssertion } from '#assertions/assertion.ts';
import { delegates } from '#assertions/carried-snap.ts';
import { series } from '#assertions/types.ts';
import type { Blobs } from '#blobs/blobs.ts';
import type { Missing } from '#domain/closure.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { architectures } from '#domain/subscription.ts';
import type { Records } from '#records/index.ts';
import type { Approval } from '#records/proposals.ts';
import type { SigningKey } from '#records/signing-keys.ts';
import { provenanceIn } from '#review/provenance.ts';
import { missingHere } from '../closure.ts';
import { canonical } from '../form/canonical.ts';
import { contentsOf, readStatement } from '../form/statement.ts';
import type { Site } from '../site.ts';
import { wholeOf } from '../whole.ts';
import { requestedKeys } from './requested-keys.ts';

export interface Asking {
  records: Records;
  blobs: Pick<Blobs, 'open'>;
  site: Site;
  /** Site label of this site; undefined if it has none. */
  label: string | undefined;
  now: Now;
  /** Returns the request to register a key. Refuses while the store is sealed. */
  keyRequest: (key: Pick<SigningKey, 'brandAccountId' | 'sha3_384' | 'name'>, since: Date) => Promise<string>;
}

export interface Telling {
  inventory: 'none' | 'imported' | 'all';
  /** Whether to include the site's own packages, models and people. */
  includeOwn: boolean;
}

/** The complete request except its files. */
export type Said = Omit<TransferRequest, 'files'>;

const pageSize = 500;

export async function askFor({ inventory, includeOwn }: Telling, asking: Asking): Promise<Said> {
  const { records, site, label, now } = asking;
  const last = await records.requests.newest();
  const packages = await packagesOf(records);
  const withheld: TransferLeftOut[] = [];
  const told = packages.filter(({ isForeign }) => inventory === 'all' || (inventory === 'imported' && isForeign));
  return {
    format: 1,
    ...{ site: site.name, keys: [site.seed.publicKey], number: (last?.number ?? 0) + 1, created: timestamp(now()) },
    ...(label !== undefined && { label }),
    subscriptions: await subscriptionsOf(records),
    missing: await missingOf(records, { packages, includeOwn, withheld }),
    lost: await lostOf(asking),
    inventory: { kind: inventory, contents: await contentsHere(records, told) },
    'key-requests': await keysOf(asking, withheld),
    provenance: await provenanceOf(records),
    receipts: await receiptsOf(records, { includeOwn, withheld }),
    withheld,
  };
}

interface Here {
  id: string;
  namespace: string;
  name: string;
  isForeign: boolean;
}

async function packagesOf({ packages, accounts }: Records): Promise<Here[]> {
  const foreign = new Map<string, boolean>();
  const all: Here[] = [];
  for (let [after, name] = ['', '']; ;) {
    const page = await packages.after(after, name, pageSize);
    for (const one of page) {
      const isForeign = foreign.get(one.publisherId) ?? (await accounts.isForeign(one.publisherId));
      foreign.set(one.publisherId, isForeign);
      all.push({ id: one.id, namespace: one.namespace, name: one.name, isForeign });
    }
    const end = page.at(-1);
    if (end === undefined || page.length < pageSize) return all;
    [after, name] = [end.namespace, end.name];
  }
}

async function subscriptionsOf({ subscriptions }: Records): Promise<TransferWish[]> {
  const all: TransferWish[] = [];
  for (let [namespace, name] = ['', '']; ;) {
    const page = await subscriptions.after(namespace, name, pageSize);
    for (const { channels, architectures: wanted, ...one } of page) {
      all.push({ namespace: one.namespace, name: one.name, channels: [...channels], architectures: [...wanted] });
    }
    const end = page.at(-1);
    if (end === undefined || page.length < pageSize) return all;
    ({ namespace, name } = end);
  }
}

async function contentsHere({ requests }: Records, told: readonly Here[]): Promise<string[]> {
  const all = new Set<string>();
  for (let at = 0; at < told.length; at += pageSize) {
    const ids = told.slice(at, at + pageSize).map(({ id }) => id);
    for (const content of await requests.contentsOf(ids)) all.add(content);
  }
  return [...all].sort();
}

/** Everything that is not a charm or a part of one is a snap. */
const namespaceOf = ({ kind }: Pick<Missing, 'kind'>): 'snap' | 'charm' =>
  kind === 'resource' || kind === 'charm of a bundle' ? 'charm' : 'snap';

/**
 * Returns missing dependencies. Does not name the site's own packages: dependencies that only they need are left out, except bases and
 * snapd, which are no secret.
 */
async function missingOf(
  records: Records,
  { packages, includeOwn, withheld }: { packages: readonly Here[]; includeOwn: boolean; withheld: TransferLeftOut[] },
): Promise<RequestMissing[]> {
  const foreign = new Set(packages.flatMap((one) => (one.isForeign ? `${one.namespace}/${one.name}` : [])));
  const found: RequestMissing[] = [];
  let untold = 0;
  for (const one of await missingHere(records, { snaps: true, charms: true })) {
    const namespace = namespaceOf(one);
    const by = includeOwn ? one.by : one.by.filter((name) => foreign.has(`${namespace}/${name}`));
    const isCommon = one.kind === 'base' || one.kind === 'snapd';
    if (by.length === 0 && !isCommon) untold++;
    else if (!isArchitecture(one.architecture)) {
      withheld.push({ what: `${namespace}/${one.name}`.slice(0, 512), why: 'No architecture is called so.' });
    } else {
      const { kind, name, architecture } = one;
      found.push({ kind, namespace, name, architecture, 'needed-by': by.slice(0, 1000) });
    }
  }
  if (untold > 0) {
    withheld.push({
      what: `${String(untold)} more`,
      why: "The site's own packages and models alone need it (--include-own).",
    });
  }
  return found;
}

const isArchitecture = (text: string): text is RequestMissing['architecture'] =>
  text === 'all' || (architectures as readonly string[]).includes(text);

/** Returns contents that a waiting transfer left out because they were here, and that are missing now. */
async function lostOf({ records, blobs }: Asking): Promise<RequestLost[]> {
  const lost: RequestLost[] = [];
  for (const { id, statement: kept } of await records.transfers.waiting(1000)) {
    const bytes = await wholeOf(blobs, kept);
    if (bytes === undefined) continue;
    const statement = readStatement(bytes);
    const arrived = await records.transfers.arrived(id);
    const carried = new Set(statement.blobs.values().map((blob) => blob['sha3-384']));
    for (const one of statement.packages) {
      for (const { 'sha3-384': content } of contentsOf({ packages: [one], assertions: [] })) {
        if (carried.has(content) || arrived.has(content) || (await records.neededContents.has(content))) continue;
        lost.push({ package: `${one.namespace}/${one.name}`, content });
      }
    }
  }
  return lost;
}

/** Returns the keys with a requested but not yet completed registration. */
async function keysOf({ records, keyRequest, now }: Asking, withheld: TransferLeftOut[]): Promise<RequestKey[]> {
  const waiting: RequestKey[] = [];
  for (const key of await requestedKeys(records, now())) {
    try {
      const text = await keyRequest(key, new Date(key.requestedAt));
      waiting.push({ account: key.brandAccountId, name: key.name, key: key.sha3_384, text });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      withheld.push({ what: `key ${key.name}`, why: error.message });
    }
  }
  return waiting;
}

/** Returns snaps with revisions that wait for a local signature, if their declaration does not let any local brand sign. */
export async function provenanceOf({ revisions, packages, assertions, brands }: Records): Promise<RequestProvenance[]> {
  const accounts = (await brands.list()).map(({ accountId }) => accountId).sort();
  const found = new Map<string, RequestProvenance>();
  for (let after = { packageId: '', revision: 0 }; ;) {
    const page = await revisions.toSign(after, pageSize);
    for (const { packageId, packageYaml } of page) {
      const provenance = provenanceIn(packageYaml);
      if (provenance === undefined || found.has(`${packageId} ${provenance}`)) continue;
      const kept = await assertions.find(`snap-declaration/${series}/${packageId}`);
      if (kept !== undefined && delegates(parseAssertion(kept.text), provenance)) continue;
      const name = (await packages.byId(packageId))?.name;
      if (name !== undefined) found.set(`${packageId} ${provenance}`, { id: packageId, name, provenance, accounts });
    }
    const end = page.at(-1);
    if (end === undefined || page.length < pageSize) return [...found.values()];
    after = end;
  }
}

/** Maximum receipts per request. Older ones stay in the list of transfers. */
const mostReceipts = 1000;

/**
 * Returns receipts that are still unacknowledged. Each request repeats them until a transfer of their source answers a request, because
 * requests can be lost.
 */
async function receiptsOf(
  { transfers }: Records,
  { includeOwn, withheld }: Pick<Telling, 'includeOwn'> & { withheld: TransferLeftOut[] },
): Promise<RequestReceipt[]> {
  const [oldest, ...others] = await transfers.unacknowledged(mostReceipts + 1);
  const isAll = others.length < mostReceipts;
  if (!isAll) withheld.push({ what: 'older receipts', why: `A request carries the last ${String(mostReceipts)}.` });
  const settled = oldest !== undefined && isAll ? [oldest, ...others] : others;
  return settled.flatMap(({ id, source, sequence, status, settledAt, receipt }) => {
    if ((status !== 'accepted' && status !== 'withdrawn') || settledAt === null || receipt === null) return [];
    const said = JSON.parse(receipt) as Receipt;
    const approved = (said.approvals as Approval[]).map(({ username }) => username);
    return [
      {
        ...{ transfer: id, source, sequence, status, at: settledAt, changes: said.lines.length },
        'left-out': (said['left-out'] as TransferLeftOut[]).map(({ what, why }) => ({ what, why })),
        ...(includeOwn && { by: [said['accepted-by'], ...approved] }),
      },
    ];
  });
}

/** Returns the content of a request by section, for approvers and for the audit log. Equal content gives an equal result. */
export function toldOf(said: Said): { part: string; says: string }[] {
  const content: Partial<Said> = { ...said };
  // These differ in each request.
  delete content.number;
  delete content.created;
  const some = (part: string, list: readonly string[]): { part: string; says: string }[] =>
    list.length === 0 ? [] : [{ part, says: list.join('; ') }];
  const named = ({ namespace, name }: { namespace: string; name: string }): string => `${namespace}/${name}`;
  return [
    ...some('label', said.label === undefined ? [] : [said.label]),
    ...some(
      'wishes',
      said.subscriptions.map((one) => `${named(one)} ${one.channels.join(', ')} (${one.architectures.join(', ')})`),
    ),
    ...some(
      'missing',
      said.missing.map((one) => `${named(one)} (${one.architecture})`),
    ),
    ...some(
      'lost',
      said.lost.map((one) => `${one.package} ${one.content}`),
    ),
    ...some(
      'inventory',
      said.inventory.kind === 'none'
        ? []
        : [`${said.inventory.kind}, ${String(said.inventory.contents.length)} contents`],
    ),
    ...some(
      'key requests',
      said['key-requests'].map((one) => `${one.account} ${one.name}`),
    ),
    ...some(
      'provenance',
      said.provenance.map((one) => `snap/${one.name} ${one.provenance}`),
    ),
    ...some(
      'receipts',
      said.receipts.map((one) => `${one.source} ${String(one.sequence)} ${one.status}`),
    ),
    { part: 'content', says: `SHA-256 ${createHash('sha256').update(canonical(content)).digest('hex')}` },
  ];
}
