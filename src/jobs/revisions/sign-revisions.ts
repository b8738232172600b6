// Signs revisions of snaps for which a provenance is delegated to a brand of this store. A revision is signed when it is approved and when
// the snap-declaration and the brand's account-key have arrived from the online store, in any order.
import type { Logger } from 'pino';

import { itself, type Acts } from '#acts/act.ts';
import { needsNoAssertion, signRevision } from '#acts/revisions/signatures.ts';
import { parseAssertion, type Assertion, type AssertionValue } from '#assertions/format/assertion.ts';
import { registrationOf } from '#assertions/keys/registration.ts';
import type { Signer } from '#assertions/keys/signer.ts';
import { signSnapRevision } from '#assertions/signing.ts';
import { series } from '#assertions/format/types.ts';
import { minutes, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import { readProvenance } from '#review/snaps/provenance.ts';
import { forEachPageItem, createRoundRunner, type RoundRunner } from '../rounds.ts';
import type { BackgroundJob } from '../runner.ts';

/** Signs waiting revisions. `soon` is called after a revision is approved or a missing assertion arrives. */
export interface RevisionSigner extends Omit<RoundRunner<number>, 'run'> {
  /** Processes all waiting revisions, even without a signal. */
  job: BackgroundJob;
}

interface RevisionSigningOptions {
  records: StoreRecords;
  acts: Acts;
  signer: Signer;
  now: Now;
  log: Logger;
}

type UnsignedRevision = Awaited<ReturnType<StoreRecords['revisions']['toSign']>>[number];

const pageSize = 100;

export function createRevisionSigner(options: RevisionSigningOptions): RevisionSigner {
  const { records, log } = options;
  async function all(): Promise<number> {
    let signed = 0;
    const page = (after?: UnsignedRevision) =>
      records.revisions.toSign(after ?? { packageId: '', revision: 0 }, pageSize);
    await forEachPageItem(page, pageSize, async (unsigned) => {
      if (await settle(unsigned, options)) signed++;
    });
    return signed;
  }
  const { run, soon, idle } = createRoundRunner(all, (error) => {
    log.error({ err: error }, 'cannot sign revisions; they are tried again within a minute');
  });
  return {
    job: { name: 'sign-revisions', inDoubt: 'runs', every: minutes(1), run: async () => counted(await run()) },
    soon,
    idle,
  };
}

/** Returns true if the revision was signed. */
async function settle(unsigned: UnsignedRevision, options: RevisionSigningOptions): Promise<boolean> {
  const { records, acts } = options;
  const { packageId, revision } = unsigned;
  // Do not sign a corrupt record: it may differ from the reviewed revision.
  if (await records.revisions.isDamaged(packageId, revision)) return false;
  const provenance = readProvenance(unsigned.packageYaml);
  if (provenance === undefined) {
    await acts.do(needsNoAssertion, itself, { packageId, revision });
    return false;
  }
  const stored = await records.assertions.find(`snap-declaration/${series}/${packageId}`);
  if (stored === undefined) return false;
  const signed = await signWithPermittedKey(parseAssertion(stored.text), provenance, unsigned, options);
  if (signed === undefined) return false;
  await acts.do(signRevision, itself, { packageId, revision, signed });
  return true;
}

/**
 * Signs with the first key that is registered, belongs to a brand of this store, and is permitted by the snap-declaration. Returns
 * undefined if there is none.
 */
async function signWithPermittedKey(
  declaration: Assertion,
  provenance: string,
  { sha3_384, size, revision }: UnsignedRevision,
  { records, signer, now, log }: RevisionSigningOptions,
): Promise<Assertion | undefined> {
  const headers = {
    'snap-sha3-384': Buffer.from(sha3_384, 'hex').toString('base64url'),
    provenance,
    'snap-size': String(size),
    'snap-revision': String(revision),
    'developer-id': declaration.headers['publisher-id'] as string,
  };
  for (const accountId of delegates(declaration)) {
    for (const { sha3_384: keyId, requestedAt } of await records.signingKeys.list(accountId)) {
      const storedKey = await records.assertions.find(`account-key/${keyId}`);
      const accountKey = storedKey && parseAssertion(storedKey.text);
      if (registrationOf(requestedAt, accountKey, now()) !== 'registered') continue;
      try {
        const key = { signer, keyId, accountId, accountKey };
        return parseAssertion(await signSnapRevision(key, declaration, headers, now()));
      } catch (error) {
        // This key is not permitted, or the store is sealed. Try another key, or this one in a later run.
        if (!(error instanceof Refusal)) throw error;
        log.debug({ key: keyId, reason: error.message }, 'a revision was not signed');
      }
    }
  }
  return undefined;
}

const counted = (signed: number): Record<string, unknown> => (signed === 0 ? {} : { signed });

/** Returns the accounts that a snap-declaration allows to sign revisions. */
function delegates({ headers }: Assertion): string[] {
  const authorities = headers['revision-authority'];
  if (!Array.isArray(authorities)) return [];
  return [
    ...new Set(
      (authorities as readonly AssertionValue[]).flatMap((entry) => {
        const id =
          typeof entry === 'object' && !Array.isArray(entry)
            ? (entry as Record<string, AssertionValue>)['account-id']
            : undefined;
        return typeof id === 'string' ? [id] : [];
      }),
    ),
  ];
}
