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
  /** The brand whose keys may come back registered; any brand of the store where none is given. */
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
  const accepted = acceptUpload(text, { roots, known, held, now });
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

async function heldKeys(upload: readonly Assertion[], { records, brandAccountId }: Import): Promise<HeldKey[]> {
  const held: HeldKey[] = [];
  for (const { type, headers } of upload) {
    if (type !== 'account-key') continue;
    const key = await records.signingKeys.find(headers['public-key-sha3-384'] as string);
    if (key === undefined || (brandAccountId !== undefined && key.brandAccountId !== brandAccountId)) continue;
    held.push({ keyId: key.sha3_384, accountId: key.brandAccountId, name: key.name });
  }
  return held;
}
