// Packages that another store publishes: what was carried in from there, and what may be pushed to them here.
import { parseAssertion } from '#assertions/assertion.ts';
import { delegates, type CarriedSnap } from '#assertions/carried-snap.ts';
import { defaultProvenance, series } from '#assertions/types.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Changes, Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import { provenanceIn } from '#review/provenance.ts';
import type { FoundRevision } from './new-revision.ts';
import { packageObject } from './package.ts';

type Read = Pick<Records, 'packages' | 'revisions' | 'accounts'> | Pick<Changes, 'packages' | 'revisions' | 'accounts'>;

/** What a snap that is carried in finds here. */
export interface Place {
  /** Its package; undefined where it comes in with it. */
  subject: PublishedPackage | undefined;
  /** The newest number that its package has here; 0 where there is none. */
  newest: number;
  /** What its number has here, which is the same content; undefined where nothing has it. */
  there: { isDeleted: boolean; withdrawnBecause: string | null; assertion: string | null } | undefined;
}

/**
 * Finds the place of a snap that is carried in; refuses it where its name, its id or its number is something else's here, or
 * its package is published here by another account of this store.
 */
export async function placeOf(records: Read, snap: CarriedSnap): Promise<Place> {
  const subject = await packageOf(records, snap);
  if (subject === undefined) return { subject, newest: 0, there: undefined };
  const { revisions } = records;
  const numbered = await revisions.numbered(snap.id, snap.revision);
  const called = `'${snap.name}'`;
  if (numbered !== undefined && numbered.sha3_384 !== snap.sha3_384) {
    throw new Refusal(
      'conflict',
      `Revision ${snap.revision} of ${called} is here with other content (SHA3-384 ${numbered.sha3_384}), and stays as it is.`,
    );
  }
  const twin = numbered === undefined ? await revisions.withContent(snap.id, snap.sha3_384) : undefined;
  if (twin !== undefined) {
    throw new Refusal(
      'conflict',
      `The same content is here as revision ${twin.revision} of ${called}, and cannot be revision ${snap.revision} as well.`,
    );
  }
  const there = numbered && {
    isDeleted: numbered.deletedAt !== null,
    withdrawnBecause: numbered.withdrawnBecause,
    assertion: numbered.assertion,
  };
  return { subject, newest: await revisions.newest(snap.id), there };
}

/** Whether nothing is left to be done of what is carried in. */
export const isHere = ({ there }: Place, { assertion }: CarriedSnap): boolean =>
  there !== undefined && !there.isDeleted && there.assertion === assertion;

async function packageOf(
  { packages, accounts }: Read,
  { id, name, publisher }: CarriedSnap,
): Promise<PublishedPackage | undefined> {
  const called = await packages.find('snap', name);
  if (called !== undefined && called.id !== id) {
    throw new Refusal(
      'conflict',
      `The name '${name}' is registered here for ${called.publisher.username}, with the id '${called.id}' and not '${id}'; ` +
        `'larder package set-id snap/${name} ${id}' gives it that id before its first revision.`,
    );
  }
  const subject = called ?? (await packages.byId(id));
  if (subject === undefined) return undefined;
  if (subject.namespace !== 'snap' || subject.name !== name) {
    throw new Refusal('conflict', `The id '${id}' is that of ${packageObject(subject)} here, and not of snap/${name}.`);
  }
  if (subject.publisherId !== publisher.id && !(await accounts.isForeign(subject.publisherId))) {
    throw new Refusal(
      'conflict',
      `The package snap/${name} is published here by ${subject.publisher.username}, and its declaration names '${publisher.id}'. ` +
        `'larder account create --id ${publisher.id}' gives that publisher an account here, to which ` +
        `'larder package hand-over snap/${name} ${publisher.id}' gives the package.`,
    );
  }
  return subject;
}

/**
 * Why content that is pushed here cannot be a revision of a package that another store publishes, if it cannot: a device
 * believes it where the package's declaration lets somebody here sign it, and then alone.
 */
export async function publishedElsewhere(
  { accounts, assertions }: Pick<Changes, 'accounts' | 'assertions'>,
  { id, namespace, name, publisher }: PublishedPackage,
  { packageYaml }: FoundRevision,
): Promise<string | undefined> {
  if (!(await accounts.isForeign(publisher.id))) return undefined;
  if (namespace !== 'snap') {
    return (
      `'${name}' is published in another store by ${publisher.username}: its revisions are carried in from there, by ` +
      "'larder transfer receive', and none are pushed here. What is made here has another name."
    );
  }
  const provenance = provenanceIn(packageYaml ?? '');
  const kept = await assertions.find(`snap-declaration/${series}/${id}`);
  if (provenance !== undefined && kept !== undefined && delegates(parseAssertion(kept.text), provenance)) {
    return undefined;
  }
  return (
    `'${name}' is published in another store by ${publisher.username}, and no device takes as it what is made here. Its revisions are ` +
    "carried in with their assertions, by 'larder package import'; a snap that is made here names in snap.yaml a provenance that the " +
    "package's declaration lets a brand of this store sign, or has another name."
  );
}

/**
 * Why pushed bytes cannot become the next revision if an assertion says which revision of this package they are: a device that has
 * that assertion refuses them under any other number.
 */
export async function numberedElsewhere(
  { assertions }: Pick<Changes, 'assertions'>,
  { id, namespace, name }: PublishedPackage,
  sha3_384: string,
  { packageYaml }: FoundRevision,
): Promise<string | undefined> {
  if (namespace !== 'snap') return undefined;
  const digest = Buffer.from(sha3_384, 'hex').toString('base64url');
  const kept = await assertions.find(`snap-revision/${digest}/${provenanceIn(packageYaml ?? '') ?? defaultProvenance}`);
  if (kept?.snapId !== id || kept.snapRevision === null) return undefined;
  return (
    `These bytes are revision ${kept.snapRevision} of '${name}' by an assertion that was imported, and no device takes them as another. ` +
    "Import the file with its assertions: 'larder package import' gives it that number."
  );
}

/** The number of the next revision that is made here, above all that are known from elsewhere. */
export async function nextNumber(
  { revisions, assertions }: Pick<Changes, 'revisions' | 'assertions'>,
  { id, namespace }: PublishedPackage,
): Promise<number> {
  const elsewhere = namespace === 'snap' ? await assertions.highestRevision(id) : 0;
  return Math.max(await revisions.newest(id), elsewhere) + 1;
}
