// Signs revisions of snaps whose provenance was delegated to a brand of this store: once they are approved, and once
// the snap-declaration and the brand's account-key have come back from the online store, in whatever order.
import type { Logger } from 'pino';

import { itself, type Acts } from '#acts/act.ts';
import { needsNoAssertion, signRevision } from '#acts/revision-signatures.ts';
import { parseAssertion, type Assertion, type Value } from '#assertions/assertion.ts';
import { registrationOf } from '#assertions/registration.ts';
import type { Signer } from '#assertions/signer.ts';
import { signSnapRevision } from '#assertions/signing.ts';
import { series } from '#assertions/types.ts';
import { minutes, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Records } from '#records/index.ts';
import { provenanceIn } from '#review/provenance.ts';
import { overPages, rounds, type Rounds } from './rounds.ts';
import type { Job } from './runner.ts';

/** Signs what waits; told of whenever a revision was approved, or what one waited for has come in. */
export interface RevisionSigning extends Omit<Rounds<number>, 'run'> {
  /** Goes over all that waits; also when nothing told that there is something. */
  job: Job;
}

interface Options {
  records: Records;
  acts: Acts;
  signer: Signer;
  now: Now;
  log: Logger;
}

type Waiting = Awaited<ReturnType<Records['revisions']['toSign']>>[number];

const pageSize = 100;

export function revisionSigning(options: Options): RevisionSigning {
  const { records, log } = options;
  async function all(): Promise<number> {
    let signed = 0;
    const page = (after?: Waiting) => records.revisions.toSign(after ?? { packageId: '', revision: 0 }, pageSize);
    await overPages(page, pageSize, async (one) => {
      if (await settle(one, options)) signed++;
    });
    return signed;
  }
  const { run, soon, idle } = rounds(all, (error) => {
    log.error({ err: error }, 'cannot sign revisions; they are tried again within the minute');
  });
  return {
    job: { name: 'sign-revisions', inDoubt: 'runs', every: minutes(1), run: async () => counted(await run()) },
    soon,
    idle,
  };
}

/** True when the revision was signed. */
async function settle(one: Waiting, options: Options): Promise<boolean> {
  const { records, acts } = options;
  const { packageId, revision } = one;
  // Nothing is signed that may not be what was reviewed.
  if (await records.revisions.isDamaged(packageId, revision)) return false;
  const provenance = provenanceIn(one.packageYaml);
  if (provenance === undefined) {
    await acts.do(needsNoAssertion, itself, { packageId, revision });
    return false;
  }
  const kept = await records.assertions.find(`snap-declaration/${series}/${packageId}`);
  if (kept === undefined) return false;
  const signed = await signedBySomebody(parseAssertion(kept.text), provenance, one, options);
  if (signed === undefined) return false;
  await acts.do(signRevision, itself, { packageId, revision, signed });
  return true;
}

/** Signed with the first key that may: of a brand here that the declaration names, and registered. */
async function signedBySomebody(
  declaration: Assertion,
  provenance: string,
  { sha3_384, size, revision }: Waiting,
  { records, signer, now, log }: Options,
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
      const found = await records.assertions.find(`account-key/${keyId}`);
      const accountKey = found && parseAssertion(found.text);
      if (registrationOf(requestedAt, accountKey, now()) !== 'registered') continue;
      try {
        const key = { signer, keyId, accountId, accountKey };
        return parseAssertion(await signSnapRevision(key, declaration, headers, now()));
      } catch (error) {
        // A key that may not, or a store that is sealed: another key may, or this one later.
        if (!(error instanceof Refusal)) throw error;
        log.debug({ key: keyId, reason: error.message }, 'a revision was not signed');
      }
    }
  }
  return undefined;
}

const counted = (signed: number): Record<string, unknown> => (signed === 0 ? {} : { signed });

/** The accounts that a snap-declaration lets sign revisions. */
function delegates({ headers }: Assertion): string[] {
  const authorities = headers['revision-authority'];
  if (!Array.isArray(authorities)) return [];
  return [
    ...new Set(
      (authorities as readonly Value[]).flatMap((one) => {
        const id =
          typeof one === 'object' && !Array.isArray(one) ? (one as Record<string, Value>)['account-id'] : undefined;
        return typeof id === 'string' ? [id] : [];
      }),
    ),
  ];
}
