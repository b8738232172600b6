// Gathers components of snaps. The snap-resource-revision with its digest identifies a file, and snap-resource-pairs assign it to revisions
// of its snap.
import type { TransferPackage } from '#contract/wire.ts';
import type { Assertion } from '#assertions/format/assertion.ts';
import { nameOf } from '#assertions/format/types.ts';
import { timestamp } from '#domain/clock.ts';
import { everywhere } from '#domain/resources/resource-base.ts';
import { anyBytes } from '../make/media-types.ts';
import { parseTime } from './saved-responses.ts';
import type { GatheredFile } from './folder.ts';
import { accountIn } from './snaps.ts';
import type { GatherState } from './gather-state.ts';

/** Returns the snap-resource-revisions in the folder by the SHA3-384 of their files. */
export const findComponentAssertions = ({ pool }: Pick<GatherState, 'pool'>): ReadonlyMap<string, Assertion> =>
  new Map(
    ofType('snap-resource-revision', pool.all).map((assertion) => [
      Buffer.from(textIn(assertion, 'resource-sha3-384'), 'base64url').toString('hex'),
      assertion,
    ]),
  );

/** Adds a component, after all snaps. Returns a reason if it cannot be included. */
export function takeComponent(
  file: GatheredFile,
  assertion: Assertion,
  sorting: GatherState,
): 'taken' | { reason: string } {
  const { pool, gathered } = sorting;
  const [id, name, revision] = [textIn(assertion, 'snap-id'), textIn(assertion, 'resource-name'), numberIn(assertion)];
  const called = `revision ${String(revision)} of the component ${name}`;
  if (Number(textIn(assertion, 'resource-size')) !== file.size) return { reason: `Its size is not that of ${called}.` };
  const snap = gathered.packages.find(({ about }) => about.namespace === 'snap' && about.id === id);
  if (snap === undefined)
    return { reason: `It is ${called} of the snap ${id}, but the folder has no revision of that snap.` };
  const serves = pairsOf(assertion, pool.all)
    .map((pair) => Number(textIn(pair, 'snap-revision')))
    .filter((number) => snap.hasRevision(number))
    .sort((a, b) => a - b);
  const [first] = serves;
  if (first === undefined) {
    return {
      reason: `It is ${called} of ${snap.called}, but no snap-resource-pair assigns it to a revision in the folder.`,
    };
  }
  const type = sorting.components.get(`${id}/${String(first)}`)?.find((component) => component.name === name)?.type;
  if (type === undefined)
    return { reason: `Revision ${String(first)} of ${snap.called} declares no component ${name}.` };
  const developer = pool.find(`account/${textIn(assertion, 'developer-id')}`);
  if (developer !== undefined) gathered.account(accountIn(developer));
  const isOnly = snap.addResource(name, type, {
    revision,
    content: sorting.contentOf(file, anyBytes),
    'created-at': parseTime(assertion.headers['timestamp']) ?? timestamp(sorting.gathering.now),
    'created-by': textIn(assertion, 'developer-id'),
    bases: everywhere,
    architectures: null,
    serves,
  });
  return isOnly ? 'taken' : { reason: `Another file in the folder is ${called} of ${snap.called}.` };
}

/** Returns the names of the assertions of the included components. */
export function assertionsOfComponents(
  packages: readonly TransferPackage[],
  { pool }: Pick<GatherState, 'pool'>,
): string[] {
  const carried = new Set(
    packages.flatMap(({ id, namespace, resources }) =>
      namespace !== 'snap'
        ? []
        : resources.flatMap(({ name, revisions }) => revisions.map(({ revision }) => keyOf(id, name, revision))),
    ),
  );
  return ['snap-resource-revision', 'snap-resource-pair']
    .flatMap((type) => ofType(type, pool.all))
    .filter((assertion) =>
      carried.has(keyOf(textIn(assertion, 'snap-id'), textIn(assertion, 'resource-name'), numberIn(assertion))),
    )
    .map(nameOf);
}

const keyOf = (id: string, name: string, revision: number): string => `${id} ${name} ${String(revision)}`;

const pairsOf = ({ headers }: Assertion, all: readonly Assertion[]): Assertion[] =>
  ofType('snap-resource-pair', all).filter((pair) =>
    ['snap-id', 'resource-name', 'resource-revision', 'provenance'].every(
      (header) => pair.headers[header] === headers[header],
    ),
  );

const ofType = (type: string, all: readonly Assertion[]): Assertion[] =>
  all.filter((assertion) => assertion.type === type);

const textIn = ({ headers }: Assertion, name: string): string => {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
};

const numberIn = (assertion: Assertion): number => Number(textIn(assertion, 'resource-revision'));
