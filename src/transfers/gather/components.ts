// Gathers components of snaps. The snap-resource-revision with its digest identifies a file, and snap-resource-pairs assign it to revisions
// of its snap.
import type { TransferPackage } from '#api/wire.ts';
import type { Assertion } from '#assertions/assertion.ts';
import { nameOf } from '#assertions/types.ts';
import { timestamp } from '#domain/clock.ts';
import { everywhere } from '#domain/resource-base.ts';
import { anyBytes } from '../carried.ts';
import { time } from './answers.ts';
import type { FoundFile } from './folder.ts';
import { accountIn } from './snaps.ts';
import type { Sorting } from './sorting.ts';

/** Returns the snap-resource-revisions in the folder by the SHA3-384 of their files. */
export const componentsSaid = ({ pool }: Pick<Sorting, 'pool'>): ReadonlyMap<string, Assertion> =>
  new Map(
    ofType('snap-resource-revision', pool.all).map((one) => [
      Buffer.from(textIn(one, 'resource-sha3-384'), 'base64url').toString('hex'),
      one,
    ]),
  );

/** Adds a component, after all snaps. Returns a reason if it cannot be included. */
export function takeComponent(file: FoundFile, said: Assertion, sorting: Sorting): 'taken' | { why: string } {
  const { pool, gathered } = sorting;
  const [id, name, revision] = [textIn(said, 'snap-id'), textIn(said, 'resource-name'), numberIn(said)];
  const called = `revision ${String(revision)} of the component ${name}`;
  if (Number(textIn(said, 'resource-size')) !== file.size) return { why: `It is not as long as ${called} is.` };
  const found = gathered.packages.find(({ about }) => about.namespace === 'snap' && about.id === id);
  if (found === undefined) return { why: `It is ${called} of the snap ${id}, of which no revision is in the folder.` };
  const serves = pairsOf(said, pool.all)
    .map((pair) => Number(textIn(pair, 'snap-revision')))
    .filter((one) => found.hasRevision(one))
    .sort((a, b) => a - b);
  const [first] = serves;
  if (first === undefined) {
    return {
      why: `It is ${called} of ${found.called}, and no snap-resource-pair says that it goes with a revision in the folder.`,
    };
  }
  const type = sorting.components.get(`${id}/${String(first)}`)?.find((one) => one.name === name)?.type;
  if (type === undefined) return { why: `Revision ${String(first)} of ${found.called} declares no component ${name}.` };
  const developer = pool.find(`account/${textIn(said, 'developer-id')}`);
  if (developer !== undefined) gathered.account(accountIn(developer));
  const isOnly = found.addResource(name, type, {
    revision,
    content: sorting.contentOf(file, anyBytes),
    'created-at': time(said.headers['timestamp']) ?? timestamp(sorting.gathering.now),
    'created-by': textIn(said, 'developer-id'),
    ...{ bases: everywhere, architectures: null, serves },
  });
  return isOnly ? 'taken' : { why: `Another file in the folder is ${called} of ${found.called}.` };
}

/** Returns the names of the assertions of the included components. */
export function assertionsOfComponents(
  packages: readonly TransferPackage[],
  { pool }: Pick<Sorting, 'pool'>,
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
    .filter((one) => carried.has(keyOf(textIn(one, 'snap-id'), textIn(one, 'resource-name'), numberIn(one))))
    .map(nameOf);
}

const keyOf = (id: string, name: string, revision: number): string => `${id} ${name} ${String(revision)}`;

const pairsOf = ({ headers }: Assertion, all: readonly Assertion[]): Assertion[] =>
  ofType('snap-resource-pair', all).filter((pair) =>
    ['snap-id', 'resource-name', 'resource-revision', 'provenance'].every(
      (header) => pair.headers[header] === headers[header],
    ),
  );

const ofType = (type: string, all: readonly Assertion[]): Assertion[] => all.filter((one) => one.type === type);

const textIn = ({ headers }: Assertion, name: string): string => {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
};

const numberIn = (one: Assertion): number => Number(textIn(one, 'resource-revision'));
