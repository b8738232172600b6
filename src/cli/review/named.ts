// Uploads that wait for a person, as command lines name them.
import { Refusal } from '#domain/refusal.ts';
import type { Changes, Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Findings, Review } from '#records/uploads.ts';

export interface Waiting {
  upload: Review;
  subject: PublishedPackage;
  findings: Findings;
}

/** The upload of this id, with its package; refuses one that waits for nobody. */
export async function waitingUpload(
  records: Pick<Changes, 'uploads' | 'packages'> | Pick<Records, 'uploads' | 'packages'>,
  id: string,
): Promise<Waiting> {
  const upload = await records.uploads.claimed(id);
  const subject = upload && (await records.packages.byId(upload.packageId));
  if (upload === undefined || subject === undefined) {
    throw new Refusal('resource-not-found', `There is no upload '${id}'; 'larder review list' shows those that wait.`);
  }
  const { findings, status } = upload;
  if (status === 'scanned' && findings !== null) return { upload, subject, findings };
  const why = status === 'new' ? 'the store has not looked at it yet' : `it is ${status}`;
  throw new Refusal('conflict', `The upload '${id}' does not wait for a person: ${why}.`);
}
