import { anyone } from '#api/access.ts';
import { receiveUpload } from '#api/multipart.ts';
import { operation } from '#api/operation.ts';
import { clientOf } from '#domain/client.ts';
import { minutes, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';

/** An upload that stands still for so long is given up; one that moves, however slowly, is not. */
const idle = minutes(2);

export const uploadBlob = operation({
  name: 'upload_blob',
  method: 'POST',
  path: '/unscanned-upload/',
  since: 0,
  summary: 'Send a file, to be pushed as a revision or a resource afterwards.',
  // The stock clients send no token here; what is claimed by no package within a day is forgotten.
  access: anyone,
  consumes: 'multipart/form-data',
  response: 'UploadResponse',

  async handle({ request, response, blobs, records, config, now, newId, address, requestId }) {
    const { max_size: limit, unclaimed_per_address: quota } = config.uploads;
    const client = clientOf(address);
    const id = newId.uuid();
    return receiveUpload(request, response, {
      field: 'binary',
      limit,
      idle,
      async receive(content, expected) {
        const left = quota - (await records.uploads.unclaimedBytes(client));
        if ((expected ?? 0) > left) throw overQuota(quota);
        const taken = await blobs
          .receive(content, { id, limit: Math.min(limit, left), expected })
          .catch((error: unknown) => {
            const tooMuch = error instanceof Refusal && error.code === 'request-too-large' && left < limit;
            throw tooMuch ? overQuota(quota) : error;
          });
        const upload = { id, ...taken, address: client, receivedAt: timestamp(now()) };
        const entry = {
          actor: 'anyone',
          action: 'upload_blob',
          at: upload.receivedAt,
          object: `upload/${id}`,
          requestId,
          details: { address, size: taken.size, 'sha3-384': taken.sha3_384 },
        };
        await records.change(entry, async (tx) => {
          // Several may have come at once, each with room enough for itself.
          if ((await tx.uploads.unclaimedBytes(client)) + taken.size > quota) throw overQuota(quota);
          await tx.uploads.add(upload);
          await tx.damagedBlobs.mended(taken.sha3_384);
        });
        return { successful: true, upload_id: id };
      },
    });
  },
});

const overQuota = (quota: number): Refusal =>
  new Refusal(
    'too-many-requests',
    `An address may have at most ${quota} bytes of uploads that no package has claimed; push what was sent, or wait until it expires.`,
    3600,
  );
