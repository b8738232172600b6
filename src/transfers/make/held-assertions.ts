// Selects assertions for a transfer: those of the included packages, and others that are useful without a package.
import { eachPrerequisite, namesInOrder, standingTypes } from '#assertions/prerequisites.ts';
import { nameOf } from '#assertions/format/types.ts';
import { fitsGlob } from '#domain/packages/package-glob.ts';
import type { StoreRecords } from '#records/index.ts';
import { Streams } from './media-types.ts';

type AssertionListRecords = Pick<StoreRecords['assertions'], 'listOf' | 'under'>;

const page = 500;

/** Yields the names with this prefix. */
export async function* namesUnder(
  assertions: Pick<AssertionListRecords, 'under'>,
  beginning: string,
): AsyncGenerator<string> {
  for (let after = ''; ;) {
    const batch = await assertions.under(beginning, after, page);
    for (const { name } of batch) yield name;
    const last = batch.at(-1);
    if (last === undefined || batch.length < page) return;
    after = last.name;
  }
}

/** Yields the names of assertions to transfer without a package: a glob must match `assertion/TYPE`. */
export async function* listStandingNames(
  assertions: Pick<AssertionListRecords, 'under'>,
  globs: readonly string[],
): AsyncGenerator<string> {
  for (const type of standingTypes) {
    if (fitsGlob(globs, { namespace: 'assertion', name: type })) yield* namesUnder(assertions, `${type}/`);
  }
}

/**
 * Yields these assertions and their prerequisites as streams of limited size. Each occurs once, after its own prerequisites. Memory holds
 * one stream of texts, and only the names of the others.
 */
export async function* streamsOf(
  assertions: Pick<AssertionListRecords, 'listOf'>,
  names: ReadonlySet<string>,
): AsyncGenerator<string> {
  const rested = new Map<string, string[]>();
  const find = (some: string[]) => assertions.listOf(some);
  for await (const { assertion, needs } of eachPrerequisite([...names].sort(), find))
    rested.set(nameOf(assertion), needs);
  const ordered = namesInOrder(rested.keys(), (name) => rested.get(name));
  const streams = new Streams();
  for (let from = 0; from < ordered.length; from += page) {
    for (const { text } of await assertions.listOf(ordered.slice(from, from + page))) {
      const whole = streams.add(text);
      if (whole !== undefined) yield whole;
    }
  }
  const last = streams.end();
  if (last !== undefined) yield last;
}
