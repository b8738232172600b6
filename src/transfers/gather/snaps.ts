// Gathers snaps with their assertions. The assertions determine the facts about a snap; a snap without them is left out.
import { joined, type Assertion } from '#assertions/format/assertion.ts';
import {
  readForeignSnap,
  disagreement,
  foreignAccount,
  type ForeignSnap,
  type ForeignAccount,
} from '#assertions/foreign-snap.ts';
import { inOrder, standingTypes } from '#assertions/prerequisites.ts';
import { defaultProvenance, nameOf } from '#assertions/format/types.ts';
import { slotsOf } from '#domain/releases/channel-map.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { readProvenance } from '#review/snaps/provenance.ts';
import { snapFactsOf } from '#review/reviewer.ts';
import type { SnapFacts } from '#review/verdict.ts';
import { inStreams, mediaTypes } from '../make/media-types.ts';
import { needsOfSnap } from '../dependencies.ts';
import { parseTime } from './saved-responses.ts';
import type { GatheredFile } from './folder.ts';
import { withOpenFile, type GatherState } from './gather-state.ts';

/** Adds a snap. Returns the name of its snap-revision, or a reason if it cannot be included. */
export async function takeSnap(
  file: GatheredFile,
  sorting: GatherState,
): Promise<{ assertion: string } | { reason: string }> {
  const facts = await withOpenFile(file.path, (descriptor) => snapFactsOf(descriptor, sorting.gathering.reviewer));
  if (typeof facts === 'string') return { reason: facts };
  const { sha3_384, size } = sorting.digestsOf(file);
  const provenance = readProvenance(facts.snapYaml) ?? defaultProvenance;
  const name = `snap-revision/${Buffer.from(sha3_384, 'hex').toString('base64url')}/${provenance}`;
  const revision = sorting.pool.find(name);
  if (revision === undefined) {
    return {
      reason:
        `No assertion in the folder describes this file. It needs a snap-revision with its digest (SHA3-384 ${sha3_384}), ` +
        "which 'snap download' writes beside it.",
    };
  }
  try {
    const snap = readForeignSnap(revision, (assertionName) => sorting.pool.find(assertionName));
    const reason = disagreement(snap, { sha3_384, size, name: facts.name, provenance });
    return reason === undefined ? addVerifiedSnap(file, { snap, facts, revision }, sorting) : { reason };
  } catch (error) {
    if (error instanceof Refusal) return { reason: error.message };
    throw error;
  }
}

interface VerifiedSnap {
  snap: ForeignSnap;
  facts: SnapFacts;
  revision: Assertion;
}

function addVerifiedSnap(
  file: GatheredFile,
  { snap, facts, revision }: VerifiedSnap,
  sorting: GatherState,
): { assertion: string } | { reason: string } {
  const { gathered, answers } = sorting;
  const { title, summary, description } = facts;
  const entry = gathered.package({
    id: snap.id,
    namespace: 'snap',
    name: snap.name,
    type: 'snap',
    publisher: snap.publisher.id,
    private: answers.find(snap.id)?.isPrivate ?? false,
    ...(title !== null && { title }),
    ...(summary !== null && { summary }),
    ...(description !== null && { description }),
  });
  if (entry === undefined) return { reason: `Another package in the folder is snap/${snap.name}, with another id.` };
  for (const account of [snap.publisher, snap.developer]) gathered.account(accountOf(account));
  const isOnly = entry.addRevision({
    revision: snap.revision,
    content: sorting.contentOf(file, mediaTypes['snap']!),
    version: facts.version,
    'created-at': parseTime(revision.headers['timestamp']) ?? timestamp(sorting.gathering.now),
    'created-by': snap.developer.id,
    assertion: snap.assertion,
  });
  if (!isOnly)
    return { reason: `Another file in the folder is revision ${String(snap.revision)} of snap/${snap.name}.` };
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
  id,
  username: username ?? id,
  'display-name': displayName,
  // Assertions say `certified`, the older term for `verified`.
  validation:
    validations.find((level) => level === (validation === 'certified' ? 'verified' : validation)) ?? 'unproven',
});

/** Returns streams of the assertions of the included snaps, and of others that are useful to a site. */
export function carriedAssertions(names: readonly string[], { pool }: GatherState): string[] {
  const ordered = new Map<string, Assertion>();
  const selected = [
    ...names.flatMap((name) => pool.find(name) ?? []),
    ...pool.all.filter(({ type }) => standingTypes.some((standingType) => standingType === type)),
  ];
  const sorted = selected
    .map((assertion) => ({ one: assertion, name: nameOf(assertion) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { one: assertion } of sorted) {
    for (const needed of inOrder(assertion, (name) => pool.find(name))) ordered.set(nameOf(needed), needed);
  }
  return inStreams([...ordered.values()].map(joined));
}
