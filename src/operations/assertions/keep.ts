// Assertions that come in: what an operation and a command on the host have in common.
import { joined, parseAssertion, parseStream, type Assertion } from '#assertions/assertion.ts';
import { acceptUpload, type HeldKey, type Roots } from '#assertions/chain.ts';
import { restsOn } from '#assertions/prerequisites.ts';
import { checkAssertion, nameOf } from '#assertions/types.ts';
import { Refusal } from '#domain/refusal.ts';
import type { KeptAssertion } from '#records/assertions.ts';
import type { AuditEntry } from '#records/audit.ts';
import type { Records } from '#records/index.ts';

export interface Import {
  records: Records;
  roots: Roots;
  now: Date;
  /** The brand whose keys may come back registered; where none is given, any key that a root of trust vouches for. */
  brandAccountId?: string;
  entry: AuditEntry;
}

/**
 * Checks a stream of assertions up to the roots of trust and keeps what is new in it; all of it or, where one of them
 * cannot be believed, none. Nothing of the stream is ever taken for a root.
 */
export async function importAssertions(text: string | Uint8Array, options: Import): Promise<Assertion[]> {
  const { records, roots, now, entry } = options;
  const upload = parseStream(text);
  upload.forEach(checkAssertion);
  const [known, held] = [await whatIsKnown(upload, records), await heldKeys(upload, options)];
  const takesForeignKeys = options.brandAccountId === undefined;
  const accepted = acceptUpload(text, { roots, known, held, takesForeignKeys, now });
  // The request shows that a key was asked to be registered; it is nothing that anybody would rest on.
  const kept = accepted.filter(({ type }) => type !== 'account-key-request');
  const details = { assertions: kept.map((one) => `${nameOf(one)} revision ${one.revision}`) };
  await records.change({ ...entry, details }, async (tx) => {
    for (const one of kept) {
      if (await tx.assertions.keep(asKept(one, 'imported', entry))) continue;
      throw new Refusal('conflict', `A newer revision of '${nameOf(one)}' came in meanwhile; nothing was imported.`);
    }
  });
  return accepted;
}

/** An assertion as it is recorded. */
export const asKept = (one: Assertion, origin: KeptAssertion['origin'], entry: AuditEntry): KeptAssertion => ({
  name: nameOf(one),
  type: one.type,
  accountId: one.type === 'account-key' ? ((one.headers['account-id'] as string | undefined) ?? null) : null,
  snapName: one.type === 'snap-declaration' ? ((one.headers['snap-name'] as string | undefined) ?? null) : null,
  revision: one.revision,
  origin,
  text: joined(one),
  keptAt: entry.at,
  keptBy: entry.actor,
});

/** Of what is kept, all that may matter for an upload: its own names, what it rests on, other keys of its accounts. */
async function whatIsKnown(upload: readonly Assertion[], records: Records): Promise<Assertion[]> {
  const names = new Set(upload.flatMap((one) => [nameOf(one), ...restsOn(one)]));
  const owners = upload
    .filter(({ type }) => type === 'account-key')
    .map(({ headers }) => headers['account-id'] as string);
  const [named, keys] = [
    await records.assertions.listOf([...names]),
    await records.assertions.keysOf([...new Set(owners)]),
  ];
  const texts = new Set([...named, ...keys].map(({ text }) => text));
  return [...texts].map((text) => parseAssertion(text));
}

/** The keys of the upload that are signing keys here, or were asked here to be registered by those who have them. */
async function heldKeys(upload: readonly Assertion[], { records, brandAccountId }: Import): Promise<HeldKey[]> {
  const ids = upload
    .filter(({ type }) => type === 'account-key')
    .map(({ headers }) => headers['public-key-sha3-384'] as string);
  const held: HeldKey[] = [];
  for (const id of ids) {
    const key = await records.signingKeys.find(id);
    if (key !== undefined) held.push({ keyId: id, accountId: key.brandAccountId, name: key.name });
  }
  const requests = await records.assertions.listOf(ids.map((id) => `account-key-request/${id}`));
  held.push(...requests.map(({ text }) => askedFor(parseAssertion(text))));
  return held.filter(({ accountId }) => brandAccountId === undefined || accountId === brandAccountId);
}

const askedFor = ({ headers }: Assertion): HeldKey => ({
  keyId: headers['public-key-sha3-384'] as string,
  accountId: headers['account-id'] as string,
  name: headers['name'] as string,
});
