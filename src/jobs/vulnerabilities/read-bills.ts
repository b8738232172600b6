// Job that reads the bills of materials of content that was stored without them: images in repositories, revisions of
// an older release, and rocks that a review does not unpack.
import type { Logger } from 'pino';

import { itself, type Acts } from '#acts/act.ts';
import { storeBills, type ReadBills } from '#acts/vulnerabilities/bills-of-materials.ts';
import { withFile, withFiles, type Blobs } from '#blobs/blobs.ts';
import { seconds } from '#domain/clock.ts';
import { unknownBill, type BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import type { ImageBlob, StoredManifest } from '#records/images/images.ts';
import type { StoreRecords } from '#records/index.ts';
import type { RevisionWithoutBill } from '#records/vulnerabilities/bills-of-materials.ts';
import { readMentions } from '#registry/mentions.ts';
import type { Reviewer } from '#review/reviewer.ts';
import type { ReviewUpload } from '#review/verdict.ts';
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
/** Content that is missing or corrupt is tried again in each of these runs: once in an hour. */
const runsPerRetry = 120;

export function readBills(options: ReadBillsOptions): BackgroundJob {
  const { records, acts, blobs } = options;
  // Each new content has an entry in the audit log.
  let readUpTo = -1;
  let runs = 0;
  const failed = new Set<string>();
  return {
    name: 'read-bills',
    inDoubt: 'runs',
    // While an image is unread, releases that the approval policy asks about are refused.
    every: seconds(30),

    async run() {
      const end = (await records.audit.head())?.seq ?? 0;
      if (runs++ % runsPerRetry === 0) failed.clear();
      else if (end === readUpTo) return {};
      await readMentions(records, acts, blobs);
      const read = await readAll({ ...options, failed });
      readUpTo = end;
      return read === 0 ? {} : { read };
    },
  };
}

/** Reads all content without a bill, and returns its number. */
async function readAll(options: ReadAllOptions): Promise<number> {
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
  return read;
}

interface ReadAllOptions extends ReadBillsOptions {
  /** Subjects that could not be read. */
  failed: Set<string>;
}

const forEachRevision = (
  { records, ...options }: ReadAllOptions,
  work: (unread: RevisionWithoutBill) => Promise<void>,
): Promise<void> =>
  forEachPageItem(
    (after?: RevisionWithoutBill) =>
      records.billsOfMaterials.unreadRevisions(after ?? { packageId: '', revision: 0 }, pageSize),
    pageSize,
    (unread) => orLog(options, { package: unread.name, revision: unread.revision }, () => work(unread)),
  );

const forEachManifest = (
  { records, ...options }: ReadAllOptions,
  work: (unread: StoredManifest) => Promise<void>,
): Promise<void> =>
  forEachPageItem(
    (after?: StoredManifest) =>
      records.billsOfMaterials.unreadManifests(after ?? { packageId: '', resource: '', sha256: '' }, pageSize),
    pageSize,
    (unread) => orLog(options, { package: unread.packageId, image: `sha256:${unread.sha256}` }, () => work(unread)),
  );

/** A missing file does not stop the others. */
async function orLog(
  { log, failed }: Pick<ReadAllOptions, 'log' | 'failed'>,
  subject: Record<string, unknown>,
  work: () => Promise<void>,
): Promise<void> {
  const key = JSON.stringify(subject);
  if (failed.has(key)) return;
  try {
    await work();
  } catch (error) {
    failed.add(key);
    log.warn({ err: error, ...subject }, 'cannot read a bill of materials');
  }
}

async function readRevisionBill(
  { sha3_384, name, type }: RevisionWithoutBill,
  { blobs, reviewer }: ReadBillsOptions,
): Promise<BillOfMaterials> {
  if (!(await blobs.prove(sha3_384))) throw new Error('its file is corrupt or missing');
  return withFile(blobs, sha3_384, (path) => readFileBill({ kind: kindOf({ type }), path, name }, reviewer));
}

/** Reads the bill of a package that was approved before, also of a rock that takes longer than a review may. */
export async function readFileBill(
  upload: Pick<ReviewUpload, 'kind' | 'path' | 'name'>,
  reviewer: Pick<Reviewer, 'review'>,
): Promise<BillOfMaterials> {
  // `signed` skips the rules of devices, which may have become stricter since it was approved.
  const verdict = await reviewer.review({ ...upload, signed: true, billBytes });
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
  const parts = await records.billsOfMaterials.blobsOf(manifest, manifest.sha256);
  const bill = await readImageBill({ manifest: manifest.sha3_384, parts }, { blobs, reviewer });
  if (bill === undefined) throw new Error('its files are corrupt or missing');
  return bill;
}

/** An image in content of the store: its manifest, by the SHA3-384, and its blobs. */
export interface ImageContent {
  manifest: string;
  parts: readonly Pick<ImageBlob, 'sha256' | 'sha512' | 'sha3_384'>[];
}

/** Reads the bill of an image; undefined if some of its content is corrupt or missing. */
export async function readImageBill(
  { manifest, parts }: ImageContent,
  { blobs, reviewer }: { blobs: Pick<Blobs, 'prove' | 'makeLocalCopy'>; reviewer: Pick<Reviewer, 'imageBill'> },
): Promise<BillOfMaterials | undefined> {
  const digests = [manifest, ...parts.map(({ sha3_384 }) => sha3_384)];
  for (const sha3_384 of new Set(digests)) if (!(await blobs.prove(sha3_384))) return undefined;
  return withFiles(blobs, digests, ([path = '', ...paths]) => {
    const byDigest: Record<string, string> = {};
    for (const [at, { sha256, sha512 }] of parts.entries()) {
      byDigest[`sha256:${sha256}`] = paths[at]!;
      if (sha512 !== null) byDigest[`sha512:${sha512}`] = paths[at]!;
    }
    return reviewer.imageBill({ manifest: path, blobs: byDigest });
  });
}
