// Examines the S3 server of the blobs, if there is one.
import { formatBucketAddress } from '#contract/bucket-address.ts';
import { bucketOf, openingOf } from '#data/blobs-place.ts';
import { notice, well, wrong, type Examination } from './examination.ts';

export const bucket: Examination = {
  subject: 'Server of the files',
  onHostAlone: true,
  async look({ config, store }) {
    const place = bucketOf(config());
    if (place === undefined) return well('none: the files are in the data directory');
    const { records, now } = await store();
    const { inspectBucket: lookOverBucket } = await import('#blobs/s3/inspect-bucket.ts');
    const findings = await lookOverBucket(place.address, place.access, { ...(await openingOf(records)), now });
    const can = `${formatBucketAddress(place.address)} takes, gives and removes files`;
    if (findings.wrong.length > 0) {
      return wrong(
        [...findings.wrong, ...findings.notices].join('; '),
        'Change that on the server, before it costs files.',
      );
    }
    return findings.notices.length === 0 ? well(can) : notice(`${can}; ${findings.notices.join('; ')}`);
  },
};
