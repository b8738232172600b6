// Signatures of revisions with a provenance that is delegated to a brand of this store.
import type { Assertion } from '#assertions/format/assertion.ts';
import { nameOf } from '#assertions/format/types.ts';
import { act } from '../act.ts';
import { toAssertionRecord } from '../assertions/assertions.ts';
import { noSigningKey } from '../keys/signing-keys.ts';

interface RevisionOfPackage {
  packageId: string;
  revision: number;
}

const object = ({ packageId, revision }: RevisionOfPackage): string => `${packageId}/${revision}`;

export const signRevision = act<RevisionOfPackage & { signed: Assertion }, void>({
  name: 'sign_revision',
  summary: 'Store the snap-revision assertion that was signed with a key of a brand.',
  on: 'PACKAGE-ID/REVISION',
  object,
  gate: { never: 'the revision was approved, and its snap-declaration lets the brand sign it' },

  async perform(tx, { packageId, revision, signed }, { at, actor }) {
    const key = signed.signKeyId;
    if ((await tx.signingKeys.find(key)) === undefined) {
      throw noSigningKey(signed.headers['authority-id'] as string, key);
    }
    await tx.assertions.keep(toAssertionRecord(signed, 'signed', { at, actor }));
    await tx.revisions.setAssertion(packageId, revision, nameOf(signed));
  },
});

export const needsNoAssertion = act({
  name: 'skip_revision_signature',
  summary: 'Record that a revision has a provenance that this store does not sign.',
  on: 'PACKAGE-ID/REVISION',
  object,
  gate: { never: 'it follows from the revision alone' },

  async perform(tx, { packageId, revision }: RevisionOfPackage) {
    await tx.revisions.setAssertion(packageId, revision, '');
  },
});
