// Job that reads the bills of materials of content that was stored without them: images in repositories, revisions of
// an older release, and rocks that a review does not unpack.
import type { Logger } from 'pino';

import { itself, type Acts } from '#acts/act.ts';
import { storeBills, type ReadBills } from '#acts/vulnerabilities/bills-of-materials.ts';
import { withFile, type Blobs } from '#blobs/blobs.ts';
import { hours } from '#domain/clock.ts';
import { unknownBill, type BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import type { StoredManifest } from '#records/images/images.ts';
import type { StoreRecords } from '#records/index.ts';
import type { RevisionWithoutBill } from '#records/vulnerabilities/bills-of-materials.ts';
import type { Reviewer } from '#review/reviewer.ts';
import { forEachPageItem } from '../rounds.ts';
import type { BackgroundJob } from '../runner.ts';
import { findingsOf, kindOf } from '../uploads/findings.ts';

interface ReadBillsOptions {
  records: StoreRecords;
  acts: Acts;
  blobs: Blobs;
  reviewer: Pick<Reviewer, 'review' | 'imageBill'>;
  log: Logger;
}

const pageSize = 100;
/** The bills that one act stores. */
const billsPerAct = 20;
/** The maximum bytes that are unpacked of one rock. */
const billBytes = 16 * 2 ** 30;

export const readBills = (options: ReadBillsOptions): BackgroundJob => ({
  name: 'read-bills',
  inDoubt: 'runs',
  every: hours(1),

  async run() {
    const { acts } = options;
    let [read, pending] = [0, { revisions: [], manifests: [] } as ReadBills];
    const store = async (minCount: number): Promise<void> => {
      const count = pending.revisions.length + pending.manifests.length;
      if (count < minCount) return;
      await acts.do(storeBills, itself, pending);
      read += count;
      pending = { revisions: [], manifests: [] };
    };
    await forEachRevision(options, async (unread) => {
      pending.revisions.push({ ...unread, bill: await readRevisionBill(unread, options) });
      await store(billsPerAct);
    });
    await forEachManifest(options, async (unread) => {
      pending.manifests.push({ ...unread, bill: await readManifestBill(unread, options) });
      await store(billsPerAct);
    });
    await store(1);
    return read === 0 ? {} : { read };
  },
});

const forEachRevision = (
  { records, log }: ReadBillsOptions,
  work: (unread: RevisionWithoutBill) => Promise<void>,
): Promise<void> =>
  forEachPageItem(
    (after?: RevisionWithoutBill) =>
      records.billsOfMaterials.unreadRevisions(after ?? { packageId: '', revision: 0 }, pageSize),
    pageSize,
    (unread) => orLog(log, { package: unread.name, revision: unread.revision }, () => work(unread)),
  );

const forEachManifest = (
  { records, log }: ReadBillsOptions,
  work: (unread: StoredManifest) => Promise<void>,
): Promise<void> =>
  forEachPageItem(
    (after?: StoredManifest) =>
      records.billsOfMaterials.unreadManifests(after ?? { packageId: '', resource: '', sha256: '' }, pageSize),
    pageSize,
    (unread) => orLog(log, { package: unread.packageId, image: `sha256:${unread.sha256}` }, () => work(unread)),
  );

/** A missing file does not stop the others. It is tried again in the next run. */
async function orLog(log: Logger, subject: Record<string, unknown>, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.warn({ err: error, ...subject }, 'cannot read a bill of materials');
  }
}

async function readRevisionBill(
  { sha3_384, name, type }: RevisionWithoutBill,
  { blobs, reviewer }: ReadBillsOptions,
): Promise<BillOfMaterials> {
  if (!(await blobs.prove(sha3_384))) throw new Error('its file is corrupt or missing');
  // The revision was approved when it was pushed. `signed` skips the rules of devices, which may have become stricter since.
  const verdict = await withFile(blobs, sha3_384, (path) =>
    reviewer.review({ kind: kindOf({ type }), path, name, signed: true, billBytes }),
  );
  if (!verdict.approved) return unknownBill(`It cannot be read: ${verdict.errors[0]?.message ?? ''}`);
  const findings = findingsOf(verdict, null);
  return (
    (findings.kind === 'revision' ? findings.bill : undefined) ??
    unknownBill('Its layers unpack to more than the store reads.')
  );
}

async function readManifestBill(
  manifest: StoredManifest,
  { records, blobs, reviewer }: ReadBillsOptions,
): Promise<BillOfMaterials> {
  const stored = await records.billsOfMaterials.blobsOf(manifest, manifest.sha256);
  const digests = [manifest.sha3_384, ...stored.map(({ sha3_384 }) => sha3_384)];
  for (const sha3_384 of new Set(digests))
    if (!(await blobs.prove(sha3_384))) throw new Error('its files are corrupt or missing');
  return withFiles(blobs, digests, ([path = '', ...paths]) => {
    const byDigest: Record<string, string> = {};
    for (const [at, { sha256, sha512 }] of stored.entries()) {
      byDigest[`sha256:${sha256}`] = paths[at]!;
      if (sha512 !== null) byDigest[`sha512:${sha512}`] = paths[at]!;
    }
    return reviewer.imageBill({ manifest: path, blobs: byDigest });
  });
}

/** Like `withFile`, for several contents. */
function withFiles<Result>(
  blobs: Blobs,
  [first, ...others]: readonly string[],
  work: (paths: string[]) => Promise<Result>,
): Promise<Result> {
  if (first === undefined) return work([]);
  return withFile(blobs, first, (path) => withFiles(blobs, others, (paths) => work([path, ...paths])));
}
