// Builds the content of a request from the records of the site. Includes facts about the site's own packages only if the administrator
// asked for it.
import { createDigest } from '#domain/cryptography.ts';
import type { Receipt } from '#acts/transfers/receipt.ts';
import type {
  RequestKey,
  RequestLost,
  RequestMissing,
  RequestProvenance,
  RequestReceipt,
  TransferLeftOut,
  TransferRequest,
  TransferSubscription,
} from '#contract/wire.ts';
import { parseAssertion } from '#assertions/format/assertion.ts';
import { delegates } from '#assertions/foreign-snap.ts';
import { series } from '#assertions/format/types.ts';
import type { Blobs } from '#blobs/blobs.ts';
import type { UnmetNeed } from '#domain/transfers/closure.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import { refusalReason } from '#domain/refusal.ts';
import { architectures } from '#domain/sites/subscription.ts';
import type { StoreRecords } from '#records/index.ts';
import type { StoredApproval } from '#records/approvals/proposals.ts';
import type { SigningKey } from '#records/keys/signing-keys.ts';
import { readProvenance } from '#review/snaps/provenance.ts';
import { missingHere } from '../dependencies.ts';
import { toCanonicalText } from '#domain/canonical-json.ts';
import { formatCount } from '#domain/quantities.ts';
import { contentsOf, readStatement } from '../statement/statement.ts';
import type { Site } from '../site.ts';
import { formatFor } from '../statement/site-keys.ts';
import { readBlob } from '../blob-bytes.ts';
import { requestedKeys } from './requested-keys.ts';

export interface SiteRequestContext {
  records: StoreRecords;
  blobs: Pick<Blobs, 'open'>;
  site: Site;
  /** Site label of this site; undefined if it has none. */
  label: string | undefined;
  now: Now;
  /** Returns the request to register a key. Refuses while the store is sealed. */
  keyRequest: (key: Pick<SigningKey, 'brandAccountId' | 'sha3_384' | 'name'>, since: Date) => Promise<string>;
}

export interface SiteRequestOptions {
  inventory: 'none' | 'imported' | 'all';
  /** Whether to include the site's own packages, models and people. */
  includeOwn: boolean;
}

/** The complete request except its files. */
export type SiteRequestContent = Omit<TransferRequest, 'files'>;

const pageSize = 500;

export async function buildRequestContent(
  { inventory, includeOwn }: SiteRequestOptions,
  asking: SiteRequestContext,
): Promise<SiteRequestContent> {
  const { records, site, label, now } = asking;
  const last = await records.requests.newest();
  const packages = await packagesOf(records);
  const withheld: TransferLeftOut[] = [];
  const inventoryPackages = packages.filter(
    ({ isForeign }) => inventory === 'all' || (inventory === 'imported' && isForeign),
  );
  return {
    format: formatFor(site.key.publicKey),
    site: site.name,
    keys: [site.key.publicKey],
    number: (last?.number ?? 0) + 1,
    created: timestamp(now()),
    ...(label !== undefined && { label }),
    subscriptions: await subscriptionsOf(records),
    missing: await missingOf(records, { packages, includeOwn, withheld }),
    lost: await lostOf(asking),
    inventory: { kind: inventory, contents: await contentsHere(records, inventoryPackages) },
    'key-requests': await keysOf(asking, withheld),
    provenance: await provenanceOf(records),
    receipts: await receiptsOf(records, { includeOwn, withheld }),
    withheld,
  };
}

interface RequestLocalPackage {
  id: string;
  namespace: string;
  name: string;
  isForeign: boolean;
}

async function packagesOf({ packages, accounts }: StoreRecords): Promise<RequestLocalPackage[]> {
  const foreign = new Map<string, boolean>();
  const all: RequestLocalPackage[] = [];
  for (let [after, name] = ['', '']; ;) {
    const page = await packages.after(after, name, pageSize);
    for (const subject of page) {
      const isForeign = foreign.get(subject.publisherId) ?? (await accounts.isForeign(subject.publisherId));
      foreign.set(subject.publisherId, isForeign);
      all.push({ id: subject.id, namespace: subject.namespace, name: subject.name, isForeign });
    }
    const end = page.at(-1);
    if (end === undefined || page.length < pageSize) return all;
    [after, name] = [end.namespace, end.name];
  }
}

async function subscriptionsOf({ subscriptions }: StoreRecords): Promise<TransferSubscription[]> {
  const all: TransferSubscription[] = [];
  for (let [namespace, name] = ['', '']; ;) {
    const page = await subscriptions.after(namespace, name, pageSize);
    for (const { channels, architectures: wantedArchitectures, ...subscription } of page) {
      all.push({
        namespace: subscription.namespace,
        name: subscription.name,
        channels: [...channels],
        architectures: [...wantedArchitectures],
      });
    }
    const end = page.at(-1);
    if (end === undefined || page.length < pageSize) return all;
    ({ namespace, name } = end);
  }
}

async function contentsHere({ requests }: StoreRecords, packages: readonly RequestLocalPackage[]): Promise<string[]> {
  const all = new Set<string>();
  for (let at = 0; at < packages.length; at += pageSize) {
    const ids = packages.slice(at, at + pageSize).map(({ id }) => id);
    for (const content of await requests.contentsOf(ids)) all.add(content);
  }
  return [...all].sort();
}

/** Everything that is not a charm or a part of one is a snap. */
const namespaceOf = ({ kind }: Pick<UnmetNeed, 'kind'>): 'snap' | 'charm' =>
  kind === 'resource' || kind === 'charm of a bundle' ? 'charm' : 'snap';

/**
 * Returns missing dependencies. Does not name the site's own packages: dependencies that only they need are left out, except bases and
 * snapd, which are no secret.
 */
async function missingOf(
  records: StoreRecords,
  {
    packages,
    includeOwn,
    withheld,
  }: { packages: readonly RequestLocalPackage[]; includeOwn: boolean; withheld: TransferLeftOut[] },
): Promise<RequestMissing[]> {
  const foreign = new Set(
    packages.flatMap((subject) => (subject.isForeign ? `${subject.namespace}/${subject.name}` : [])),
  );
  const missing: RequestMissing[] = [];
  let untold = 0;
  for (const dependency of await missingHere(records, { snaps: true, charms: true })) {
    const namespace = namespaceOf(dependency);
    const dependents = includeOwn
      ? dependency.neededBy
      : dependency.neededBy.filter((name) => foreign.has(`${namespace}/${name}`));
    const isCommon = dependency.kind === 'base' || dependency.kind === 'snapd';
    if (dependents.length === 0 && !isCommon) untold++;
    else if (!isArchitecture(dependency.architecture)) {
      withheld.push({
        what: `${namespace}/${dependency.name}`.slice(0, 512),
        why: 'This is not a known architecture.',
      });
    } else {
      const { kind, name, architecture } = dependency;
      missing.push({ kind, namespace, name, architecture, 'needed-by': dependents.slice(0, 1000) });
    }
  }
  if (untold > 0) {
    withheld.push({
      what: `${String(untold)} more`,
      why: "Only the site's own packages and models need it (--include-own).",
    });
  }
  return missing;
}

const isArchitecture = (text: string): text is RequestMissing['architecture'] =>
  text === 'all' || (architectures as readonly string[]).includes(text);

/** Returns contents that a waiting transfer left out because they were here, and that are missing now. */
async function lostOf({ records, blobs }: SiteRequestContext): Promise<RequestLost[]> {
  const lost: RequestLost[] = [];
  for (const { id, statement: statementDigest } of await records.transfers.waiting(1000)) {
    const bytes = await readBlob(blobs, statementDigest);
    if (bytes === undefined) continue;
    const statement = readStatement(bytes);
    const arrived = await records.transfers.arrived(id);
    const carried = new Set(statement.blobs.values().map((blob) => blob['sha3-384']));
    for (const entry of statement.packages) {
      for (const { 'sha3-384': content } of contentsOf({ packages: [entry], assertions: [] })) {
        if (carried.has(content) || arrived.has(content) || (await records.neededContents.has(content))) continue;
        lost.push({ package: `${entry.namespace}/${entry.name}`, content });
      }
    }
  }
  return lost;
}

/** Returns the keys with a requested but not yet completed registration. */
async function keysOf(
  { records, keyRequest, now }: SiteRequestContext,
  withheld: TransferLeftOut[],
): Promise<RequestKey[]> {
  const waiting: RequestKey[] = [];
  for (const key of await requestedKeys(records, now())) {
    const reason = await refusalReason(async () => {
      const text = await keyRequest(key, new Date(key.requestedAt));
      waiting.push({ account: key.brandAccountId, name: key.name, key: key.sha3_384, text });
    });
    if (reason !== undefined) withheld.push({ what: `key ${key.name}`, why: reason });
  }
  return waiting;
}

/** Returns snaps with revisions that wait for a local signature, if their declaration does not let any local brand sign. */
export async function provenanceOf({
  revisions,
  packages,
  assertions,
  brands,
}: StoreRecords): Promise<RequestProvenance[]> {
  const accounts = (await brands.list()).map(({ accountId }) => accountId).sort();
  const missingProvenance = new Map<string, RequestProvenance>();
  for (let after = { packageId: '', revision: 0 }; ;) {
    const page = await revisions.toSign(after, pageSize);
    for (const { packageId, packageYaml } of page) {
      const provenance = readProvenance(packageYaml);
      if (provenance === undefined || missingProvenance.has(`${packageId} ${provenance}`)) continue;
      const declaration = await assertions.find(`snap-declaration/${series}/${packageId}`);
      if (declaration !== undefined && delegates(parseAssertion(declaration.text), provenance)) continue;
      const name = (await packages.byId(packageId))?.name;
      if (name !== undefined)
        missingProvenance.set(`${packageId} ${provenance}`, { id: packageId, name, provenance, accounts });
    }
    const end = page.at(-1);
    if (end === undefined || page.length < pageSize) return [...missingProvenance.values()];
    after = end;
  }
}

/** Maximum receipts per request. Older ones stay in the list of transfers. */
const maxReceipts = 1000;

/**
 * Returns receipts that are still unacknowledged. Each request repeats them until a transfer of their source answers a request, because
 * requests can be lost.
 */
async function receiptsOf(
  { transfers }: StoreRecords,
  { includeOwn, withheld }: Pick<SiteRequestOptions, 'includeOwn'> & { withheld: TransferLeftOut[] },
): Promise<RequestReceipt[]> {
  const [oldest, ...others] = await transfers.unacknowledged(maxReceipts + 1);
  const isAll = others.length < maxReceipts;
  if (!isAll) withheld.push({ what: 'older receipts', why: `A request carries the last ${String(maxReceipts)}.` });
  const settled = oldest !== undefined && isAll ? [oldest, ...others] : others;
  return settled.flatMap(({ id, source, sequence, status, settledAt, receipt }) => {
    if ((status !== 'accepted' && status !== 'withdrawn') || settledAt === null || receipt === null) return [];
    const parsedReceipt = JSON.parse(receipt) as Receipt;
    const approved = (parsedReceipt.approvals as StoredApproval[]).map(({ username }) => username);
    return [
      {
        transfer: id,
        source,
        sequence,
        status,
        at: settledAt,
        changes: parsedReceipt.lines.length,
        'left-out': (parsedReceipt['left-out'] as TransferLeftOut[]).map(({ what: subject, why: reason }) => ({
          what: subject,
          why: reason,
        })),
        ...(includeOwn && { by: [parsedReceipt['accepted-by'], ...approved] }),
      },
    ];
  });
}

/** Returns the content of a request by section, for approvers and for the audit log. Equal content gives an equal result. */
export function describeRequest(request: SiteRequestContent): { part: string; says: string }[] {
  const content: Partial<SiteRequestContent> = { ...request };
  // These differ in each request.
  delete content.number;
  delete content.created;
  const some = (part: string, list: readonly string[]): { part: string; says: string }[] =>
    list.length === 0 ? [] : [{ part, says: list.join('; ') }];
  const formatName = ({ namespace, name }: { namespace: string; name: string }): string => `${namespace}/${name}`;
  return [
    ...some('label', request.label === undefined ? [] : [request.label]),
    ...some(
      'wishes',
      request.subscriptions.map(
        (subscription) =>
          `${formatName(subscription)} ${subscription.channels.join(', ')} (${subscription.architectures.join(', ')})`,
      ),
    ),
    ...some(
      'missing',
      request.missing.map((dependency) => `${formatName(dependency)} (${dependency.architecture})`),
    ),
    ...some(
      'lost',
      request.lost.map((lostContent) => `${lostContent.package} ${lostContent.content}`),
    ),
    ...some(
      'inventory',
      request.inventory.kind === 'none'
        ? []
        : [`${request.inventory.kind}, ${formatCount(request.inventory.contents.length, 'content')}`],
    ),
    ...some(
      'key requests',
      request['key-requests'].map((key) => `${key.account} ${key.name}`),
    ),
    ...some(
      'provenance',
      request.provenance.map((entry) => `snap/${entry.name} ${entry.provenance}`),
    ),
    ...some(
      'receipts',
      request.receipts.map((receipt) => `${receipt.source} ${String(receipt.sequence)} ${receipt.status}`),
    ),
    { part: 'content', says: `SHA-256 ${createDigest('statement').update(toCanonicalText(content)).digest('hex')}` },
  ];
}
