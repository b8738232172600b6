// The assertions that go with what a store holds: those that its revisions name, and those that stand for themselves.
import { joined, type Assertion } from '#assertions/assertion.ts';
import { inOrder, restedOn, standingTypes } from '#assertions/prerequisites.ts';
import { nameOf } from '#assertions/types.ts';
import { fitsGlob } from '#domain/package-glob.ts';
import type { Records } from '#records/index.ts';
import { inStreams } from './carried.ts';

type Kept = Pick<Records['assertions'], 'listOf' | 'under'>;

const page = 500;

/** The names of those that begin so. */
export async function* namesUnder(assertions: Pick<Kept, 'under'>, beginning: string): AsyncGenerator<string> {
  for (let after = ''; ;) {
    const found = await assertions.under(beginning, after, page);
    for (const { name } of found) yield name;
    const last = found.at(-1);
    if (last === undefined || found.length < page) return;
    after = last.name;
  }
}

/** The names of those that are carried without a package that needs them: one of the globs fits `assertion/TYPE`. */
export async function* standing(assertions: Pick<Kept, 'under'>, globs: readonly string[]): AsyncGenerator<string> {
  for (const type of standingTypes) {
    if (fitsGlob(globs, { namespace: 'assertion', name: type })) yield* namesUnder(assertions, `${type}/`);
  }
}

/**
 * The assertions of these names with all that they rest on, each once and after what it rests on itself, in streams that
 * are no longer than one that is read as a whole.
 */
export async function streamsOf(assertions: Pick<Kept, 'listOf'>, names: ReadonlySet<string>): Promise<string[]> {
  const rested = await restedOn([...names].sort(), (some) => assertions.listOf(some));
  const all = new Map<string, Assertion>(rested.map(({ assertion }) => [nameOf(assertion), assertion]));
  const ordered = new Map<string, Assertion>();
  for (const one of all.values()) {
    for (const needed of inOrder(one, (name) => all.get(name))) ordered.set(nameOf(needed), needed);
  }
  return inStreams([...ordered.values()].map(joined));
}
