// Job that reads the bills of materials of revisions that were stored without them: by an older release, or because a
// review does not unpack that much.
import type { Logger } from 'pino';

import { itself, type Acts } from '#acts/act.ts';
import { storeBills } from '#acts/vulnerabilities/bills-of-materials.ts';
import { withFile, type Blobs } from '#blobs/blobs.ts';
import { hours } from '#domain/clock.ts';
import { unknownBill, type BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
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
  reviewer: Pick<Reviewer, 'review'>;
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
    const { records, acts, log } = options;
    let [read, pending] = [0, [] as { packageId: string; revision: number; bill: BillOfMaterials }[]];
    const store = async (): Promise<void> => {
      if (pending.length === 0) return;
      await acts.do(storeBills, itself, { revisions: pending });
      read += pending.length;
      pending = [];
    };
    const first = { packageId: '', revision: 0 };
    const page = (after?: RevisionWithoutBill) => records.billsOfMaterials.unreadRevisions(after ?? first, pageSize);
    await forEachPageItem(page, pageSize, async (unread) => {
      try {
        const { packageId, revision } = unread;
        pending.push({ packageId, revision, bill: await readRevisionBill(unread, options) });
        if (pending.length >= billsPerAct) await store();
      } catch (error) {
        // A missing file does not stop the others. It is tried again in the next run.
        log.warn({ err: error, package: unread.name, revision: unread.revision }, 'cannot read a bill of materials');
      }
    });
    await store();
    return read === 0 ? {} : { read };
  },
});

async function readRevisionBill(
  { sha3_384, name, type }: RevisionWithoutBill,
  { blobs, reviewer }: ReadBillsOptions,
): Promise<BillOfMaterials> {
  if (!(await blobs.prove(sha3_384))) throw new Error('its file is corrupt or missing');
  // It was reviewed when it was pushed; the rules of devices may have changed since.
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
