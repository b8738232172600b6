// Assertions that publishers sign with their own keys and send to this store: validation sets, confdb-schemas and snap-builds.
import { joined, parseAssertion, type Assertion } from '#assertions/format/assertion.ts';
import { checkSignedWith } from '#assertions/chain.ts';
import { checkAssertion, nameOf } from '#assertions/format/types.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { act, DoneAlready, type ActContext } from '../act.ts';
import { toAssertionRecord } from './assertions.ts';
import { requireCurrentPackage } from '../packages/package.ts';

/** The types that publishers sign and send. */
export type PublisherAssertionType = 'validation-set' | 'confdb-schema' | 'snap-build';

/** Parses one signed assertion of a type. Its signature is verified when it is stored. */
export function parseSignedAssertion(text: string | Uint8Array, type: PublisherAssertionType): Assertion {
  const signed = parseAssertion(text);
  if (signed.type !== type) {
    throw new Refusal('api-error', `This is an assertion of type ${signed.type}, not a ${type}.`);
  }
  checkAssertion(signed);
  return signed;
}

export const postValidationSet = act({
  name: 'post_validation_set',
  summary: 'Store a validation set that a publisher or a brand has signed.',
  on: 'TYPE/PRIMARY-KEY',
  object: ({ signed }: { signed: Assertion }) => nameOf(signed),
  gate: { never: 'its brand signs it, and the next of its sequence takes its place' },
  perform: storeNextRevision,
});

export const postConfdbSchema = act({
  name: 'post_confdb_schema',
  summary: 'Store a confdb-schema that a publisher or a brand has signed.',
  on: 'TYPE/PRIMARY-KEY',
  object: ({ signed }: { signed: Assertion }) => nameOf(signed),
  gate: { never: 'its brand signs it, and the next revision takes its place' },
  perform: storeNextRevision,
});

async function storeNextRevision(
  tx: ChangeRecords,
  { signed }: { signed: Assertion },
  { at, actor, note }: ActContext,
): Promise<void> {
  await refuseUnlessSigned(tx, signed, new Date(at));
  if (!(await tx.assertions.keep(toAssertionRecord(signed, 'imported', { at, actor })))) {
    throw new Refusal(
      'conflict',
      `Revision ${signed.revision} of '${nameOf(signed)}' is not newer than the stored revision. Build it again and sign the result.`,
    );
  }
  note({ revision: signed.revision, key: signed.signKeyId });
}

export const signBuild = act({
  name: 'sign_build',
  summary: 'Store the signed statement of a publisher about building a revision of a snap, with its grade.',
  on: 'TYPE/PRIMARY-KEY',
  object: ({ signed }: { signed: Assertion }) => nameOf(signed),
  gate: { never: 'it describes a stored revision and changes nothing' },

  async perform(
    tx,
    { package: subject, accountId, signed }: { package: PublishedPackage; accountId: string; signed: Assertion },
    { at, actor, note },
  ) {
    await requireCurrentPackage(tx, subject);
    const [authority, snap, digest, size] = ['authority-id', 'snap-id', 'snap-sha3-384', 'snap-size'].map(
      (name) => signed.headers[name] as string,
    ) as [string, string, string, string];
    // The tool stores the signed assertion beside the file and sends it again on request.
    const [stored] = await tx.assertions.listOf([nameOf(signed)]);
    if (snap === subject.id && stored?.text === joined(signed)) throw new DoneAlready(undefined);
    if (authority !== accountId) {
      throw new Refusal(
        'api-error',
        `The assertion is made for '${authority}'. Sign it with your own account id, ${accountId}.`,
      );
    }
    if (snap !== subject.id) {
      throw new Refusal(
        'api-error',
        `The assertion is about the snap '${snap}', but '${subject.name}' is '${subject.id}'.`,
      );
    }
    const sha3_384 = Buffer.from(digest, 'base64url').toString('hex');
    const twin = await tx.revisions.withContent(subject.id, sha3_384);
    const built = twin && (await tx.revisions.find(subject.id, twin.revision));
    if (built === undefined || String(built.size) !== size) {
      throw new Refusal(
        'api-error',
        `No revision of '${subject.name}' has this digest and size. Upload the file first, then sign its build.`,
      );
    }
    await refuseUnlessSigned(tx, signed, new Date(at));
    if (!(await tx.assertions.keep(toAssertionRecord(signed, 'imported', { at, actor })))) {
      throw new Refusal('conflict', `The build of revision ${built.revision} of '${subject.name}' is signed already.`);
    }
    note({ package: subject.id, revision: built.revision, key: signed.signKeyId });
  },
});

/** Refuses an assertion unless it is signed with a key of its account that is registered or has a key request here. */
async function refuseUnlessSigned(tx: Pick<ChangeRecords, 'assertions'>, signed: Assertion, now: Date): Promise<void> {
  const id = signed.signKeyId;
  const [signer] = await tx.assertions.listOf([`account-key/${id}`, `account-key-request/${id}`]);
  if (signer === undefined) {
    throw new Refusal(
      'api-error',
      `The assertion is signed with the key ${id}, which is not registered here. Register it with 'snapcraft register-key', or sign with a registered key.`,
    );
  }
  checkSignedWith(signed, parseAssertion(signer.text), now);
}
