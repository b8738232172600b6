// Checks which lifecycle rules a bucket applies to the objects of a store, as far as its server tells, and whether both
// clocks agree.
import { minutes, seconds } from '#domain/clock.ts';
import { formatBucketAddress, type BucketAccess, type BucketAddress } from '#contract/bucket-address.ts';
import { S3Bucket } from './bucket.ts';
import { cannotOpen, codeOf } from './errors.ts';
import { isMarked, markerKey, tryWriting, type BucketOwner } from './marker.ts';

export interface BucketFindings {
  /** Problems that lose content or prevent storing it, as sentences. */
  wrong: string[];
  /** Notices for the administrator. */
  notices: string[];
}

/** If the clocks differ by more, removals wait or fail; from 15 minutes on the server refuses every request. */
const maxSkewNoticeMs = seconds(20);
const maxSkewMs = minutes(5);

/** Writes, reads and removes a small object, and requests the rules of the bucket; throws `BucketError` if it cannot be used. */
export async function inspectBucket(
  address: BucketAddress,
  access: BucketAccess,
  { now, ...opening }: BucketOwner & { now: () => Date },
): Promise<BucketFindings> {
  const bucket = await S3Bucket.connect(address, access, { marker: markerKey });
  try {
    const findings: BucketFindings = { wrong: [], notices: [] };
    const marked = await isMarked(bucket, opening);
    await tryWriting(bucket);
    if (marked) compareClocks((await bucket.inspect(markerKey))?.at, now(), findings);
    else findings.notices.push('it is empty; the store starts using it when it is first served');
    await checkVersioning(bucket, findings);
    await checkLifecycle(bucket, findings);
    if (address.endpoint.startsWith('http:')) {
      findings.notices.push(
        `traffic to and from ${formatBucketAddress(address)} is not encrypted and can be read and changed`,
      );
    }
    return findings;
  } catch (error) {
    throw cannotOpen(address, error);
  } finally {
    bucket.close();
  }
}

function compareClocks(at: Date | undefined, now: Date, { wrong, notices }: BucketFindings): void {
  if (at === undefined) return void notices.push('the server does not report its time');
  const apart = Math.abs(at.getTime() - now.getTime());
  const says = `its clock and the clock of this machine are ${String(Math.round(apart / seconds(1)))} seconds apart`;
  if (apart > maxSkewMs) wrong.push(says);
  else if (apart > maxSkewNoticeMs) notices.push(says);
}

async function checkVersioning({ requests }: S3Bucket, { notices }: BucketFindings): Promise<void> {
  const status = await requests.ask('GetBucketVersioning', {}).then(
    (answer) => answer.Status ?? 'Off',
    () => undefined,
  );
  if (status === undefined) notices.push('the server does not report whether it keeps older versions');
  if (status === 'Enabled')
    notices.push('it keeps older versions, so files that the store removes still take space there');
}

async function checkLifecycle({ requests, address }: S3Bucket, { wrong, notices }: BucketFindings): Promise<void> {
  const unknown = 'the server does not report whether it removes objects itself';
  try {
    const { Rules } = await requests.ask('GetBucketLifecycleConfiguration', {});
    // Some servers misread the request and answer without any rules.
    if (Rules === undefined) return void notices.push(unknown);
    for (const { ID, Status, Expiration, Filter, ...older } of Rules) {
      // Rules in an older form have their prefix outside of the filter.
      const prefix = Filter?.Prefix ?? Filter?.And?.Prefix ?? (older as { Prefix?: string }).Prefix ?? '';
      const isOurs = prefix.startsWith(address.prefix) || address.prefix.startsWith(prefix);
      const removes = Expiration?.Days !== undefined || Expiration?.Date !== undefined;
      if (Status !== 'Enabled' || !removes || !isOurs) continue;
      wrong.push(
        `its rule ${ID ?? 'without a name'} removes objects below '${prefix}' after some time, including files of the store`,
      );
    }
  } catch (error) {
    if (codeOf(error) !== 'NoSuchLifecycleConfiguration') notices.push(unknown);
  }
}
