// larder bucket accept
import { acceptBucket } from '#acts/store/appliance.ts';
import { formatBucketAddress } from '#contract/bucket-address.ts';
import type { MarkerFindings } from '#blobs/s3/restore-marker.ts';
import { bucketOf, openingOf } from '#data/blobs-place.ts';
import { command, Failure, type CommandCall } from '../frame/command.ts';
import { formatCount } from '#domain/quantities.ts';
import { canAsk, requireConfirmation } from '../frame/questions.ts';
import { withStore } from '../frame/store.ts';

export const bucketAccept = command({
  name: 'bucket accept',
  summary: "Restore the lost marker of this store's bucket.",
  description:
    'The object larder-store.json says which store a bucket, or a prefix of one, belongs to. Without it the ' +
    'store receives no files and does not start. The command counts the needed files that are in the bucket, ' +
    'shows the result, asks, and writes the object again. It refuses if none of the files is there, or if the ' +
    'bucket has the marker of another store. The server may run and continues by itself. Nothing else in the ' +
    "bucket is changed. 'larder verify' lists missing files, and 'larder restore FILE --missing' fetches them " +
    'from a backup.',
  examples: ['larder bucket accept', 'larder bucket accept --data ./data --yes'],
  confirm: {
    // At a terminal, the question follows the count of the bucket's files.
    question: ({ world }) => (canAsk(world) ? undefined : question),
    unattended: 'refused',
  },

  run: (call) =>
    withStore(call, async ({ config, records, acts, person, directory }) => {
      const at = bucketOf(config);
      if (at === undefined) throw new Failure(`the files of this store are in ${directory}, not in a bucket`);
      const place = formatBucketAddress(at.address);
      const { store } = await openingOf(records);
      const { restoreMarker: markAgain } = await import('#blobs/s3/restore-marker.ts');
      const bucketCounts = await markAgain(at, {
        store,
        needed: records.neededContents.all(),
        async agree(unmarked) {
          await ask(call, place, unmarked);
          // Write the audit log before the marker, so that each marker has an entry that names its author.
          await acts.do(acceptBucket, person, { place, ...unmarked });
        },
      });
      if (bucketCounts === undefined) {
        const text = `${place} bears the marker of this store; nothing was changed.`;
        return { text, json: { place, accepted: false } };
      }
      return { text: describeAcceptance(place, bucketCounts), json: { place, accepted: true, ...bucketCounts } };
    }),
});

const question =
  'The bucket becomes the place of this store. No other store may keep files there: this store removes files that it does not need.';

async function ask(
  call: Pick<CommandCall, 'world'> & { options: object },
  place: string,
  bucketCounts: MarkerFindings,
): Promise<void> {
  if (('yes' in call.options && call.options.yes === true) || !canAsk(call.world)) return;
  await requireConfirmation(call.world, `${place} has no marker; ${inWords(bucketCounts)}.\n${question}`);
}

const inWords = ({ needed, there: presentCount, others }: MarkerFindings): string =>
  needed === 0
    ? 'it is empty, and this store needs no file yet'
    : `of ${formatCount(needed, 'file')} that this store needs ${are(presentCount)} there` +
      (others > 0 ? `, and ${String(others)} that it does not need` : '');

const are = (count: number): string => `${String(count)} ${count === 1 ? 'is' : 'are'}`;

function describeAcceptance(place: string, bucketCounts: MarkerFindings): string {
  const missing = bucketCounts.needed - bucketCounts.there;
  return (
    `${place} is the place of this store again: ${inWords(bucketCounts)}. A running server continues within seconds.` +
    (missing > 0
      ? `\n${are(missing)} missing: 'larder verify' names them, and 'larder restore FILE --missing' fetches them from a backup.`
      : '')
  );
}
