// Gathers snaps with their assertions. The assertions determine the facts about a snap; a snap without them is left out.
import { joined, type Assertion } from '#assertions/assertion.ts';
import {
  carriedSnap,
  disagreement,
  foreignAccount,
  type CarriedSnap,
  type ForeignAccount,
} from '#assertions/carried-snap.ts';
import { inOrder, standingTypes } from '#assertions/prerequisites.ts';
import { defaultProvenance, nameOf } from '#assertions/types.ts';
import { slotsOf } from '#domain/channel-map.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { provenanceIn } from '#review/provenance.ts';
import { snapFactsOf } from '#review/reviewer.ts';
import type { SnapFacts } from '#review/verdict.ts';
import { inStreams, mediaTypes } from '../carried.ts';
import { needsOfSnap } from '../closure.ts';
import { time } from './answers.ts';
import type { FoundFile } from './folder.ts';
import { opened, type Sorting } from './sorting.ts';

/** Adds a snap. Returns the name of its snap-revision, or a reason if it cannot be included. */
export async function takeSnap(file: FoundFile, sorting: Sorting): Promise<{ assertion: string } | { why: string }> {
  const facts = await opened(file.path, (descriptor) => snapFactsOf(descriptor, sorting.gathering.reviewer));
  if (typeof facts === 'string') return { why: facts };
  const { sha3_384, size } = sorting.digestsOf(file);
  const provenance = provenanceIn(facts.snapYaml) ?? defaultProvenance;
  const name = `snap-revision/${Buffer.from(sha3_384, 'hex').toString('base64url')}/${provenance}`;
  const revision = sorting.pool.find(name);
  if (revision === undefined) {
    return {
      why:
        `No assertion in the folder speaks of this file: it needs a snap-revision of its digest (SHA3-384 ${sha3_384}), ` +
        "which 'snap download' writes beside it.",
    };
  }
  try {
    const snap = carriedSnap(revision, (one) => sorting.pool.find(one));
    const why = disagreement(snap, { sha3_384, size, name: facts.name, provenance });
    return why === undefined ? take(file, { snap, facts, revision }, sorting) : { why };
  } catch (error) {
    if (error instanceof Refusal) return { why: error.message };
    throw error;
  }
}

interface Judged {
  snap: CarriedSnap;
  facts: SnapFacts;
  revision: Assertion;
}

function take(
  file: FoundFile,
  { snap, facts, revision }: Judged,
  sorting: Sorting,
): { assertion: string } | { why: string } {
  const { gathered, answers } = sorting;
  const { title, summary, description } = facts;
  const found = gathered.package({
    ...{ id: snap.id, namespace: 'snap', name: snap.name, type: 'snap', publisher: snap.publisher.id },
    private: answers.find(snap.id)?.isPrivate ?? false,
    ...(title !== null && { title }),
    ...(summary !== null && { summary }),
    ...(description !== null && { description }),
  });
  if (found === undefined) return { why: `Another package in the folder is snap/${snap.name}, with another id.` };
  for (const one of [snap.publisher, snap.developer]) gathered.account(accountOf(one));
  const isOnly = found.addRevision({
    revision: snap.revision,
    content: sorting.contentOf(file, mediaTypes['snap']!),
    version: facts.version,
    'created-at': time(revision.headers['timestamp']) ?? timestamp(sorting.gathering.now),
    'created-by': snap.developer.id,
    assertion: snap.assertion,
  });
  if (!isOnly) return { why: `Another file in the folder is revision ${String(snap.revision)} of snap/${snap.name}.` };
  sorting.slots.set(`${snap.id}/${String(snap.revision)}`, slotsOf('snap', facts));
  sorting.components.set(`${snap.id}/${String(snap.revision)}`, facts.components ?? []);
  for (const { name } of needsOfSnap({ type: facts.type, base: facts.base }, facts.snapYaml))
    sorting.needs.set(name, (sorting.needs.get(name) ?? new Set()).add(snap.name));
  return { assertion: snap.assertion };
}

const validations = ['unproven', 'verified', 'starred'] as const;

/** An account of another store, from its account assertion. */
export const accountIn = (account: Assertion) => accountOf(foreignAccount(account));

const accountOf = ({ id, username, displayName, validation }: ForeignAccount) => ({
  ...{ id, username: username ?? id, 'display-name': displayName },
  // Assertions say `certified`, the older term for `verified`.
  validation: validations.find((one) => one === (validation === 'certified' ? 'verified' : validation)) ?? 'unproven',
});

/** Returns streams of the assertions of the included snaps, and of others that are useful to a site. */
export function carriedAssertions(names: readonly string[], { pool }: Sorting): string[] {
  const ordered = new Map<string, Assertion>();
  const wanted = [
    ...names.flatMap((name) => pool.find(name) ?? []),
    ...pool.all.filter(({ type }) => standingTypes.some((one) => one === type)),
  ];
  const sorted = wanted.map((one) => ({ one, name: nameOf(one) })).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { one } of sorted) {
    for (const needed of inOrder(one, (name) => pool.find(name))) ordered.set(nameOf(needed), needed);
  }
  return inStreams([...ordered.values()].map(joined));
}
