import { markBlobRepaired } from '#acts/store/integrity.ts';
import { anyone } from '#access/access-rules.ts';
import { receiveUpload } from '#http/request/multipart.ts';
import { operation } from '#http/operation.ts';
import type { Services } from '#http/services.ts';
import { clientOf } from '#domain/client.ts';
import { after, hours, minutes, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Chunks } from '#blobs/blobs.ts';
import { removeUnneeded } from '#blobs/remove-unneeded.ts';
import type { Unclaimed } from '#records/uploads/unclaimed-uploads.ts';

/** Idle timeout: an upload that receives no byte for this long is abandoned; a slow one is not. */
const idleTimeoutMs = minutes(2);

export const uploadBlob = operation({
  name: 'upload_blob',
  method: 'POST',
  path: '/unscanned-upload/',
  since: 0,
  summary: 'Upload a file. Push it as a revision or a resource afterwards.',
  // The stock clients send no token here; unclaimed uploads are deleted after some hours.
  access: anyone,
  consumes: 'multipart/form-data',
  response: 'UploadResponse',
  refuses: ['length-required', 'too-many-requests', 'insufficient-storage'],

  async handle(call) {
    const { request, response, blobs, records, acts, config, now, newId } = call;
    const { max_size: limit } = config.uploads;
    const client = clientOf(call.address);
    const id = newId.uuid();
    return receiveUpload(request, response, {
      field: 'binary',
      limit,
      idle: idleTimeoutMs,
      async receive(content, expected) {
        const quota = { ...maxUnclaimed, bytes: await quotaOf(call) };
        const begun = now();
        const held = await records.unclaimedUploads.of(client);
        refuseBeyond(quota, held);
        if (held.uploads > 0) await noteSending(call, client);
        const taken = await blobs.receive(whileNoted(content, call, { client, since: begun }), {
          id,
          from: client,
          limit,
          expected,
          ownsChunks: true,
        });
        const upload = { id, ...taken, address: client, receivedAt: timestamp(now()) };
        const needless = await records.ephemeral(async ({ unclaimedUploads, neededContents }) => {
          // Several uploads of a client can finish at the same time, each of them within the limits on its own.
          refuseBeyond(quota, await unclaimedUploads.of(client));
          const evicted =
            (await unclaimedUploads.count()) < maxUnclaimed.inAll ? undefined : await unclaimedUploads.oldestOfMost();
          if (evicted !== undefined) await unclaimedUploads.forget(evicted.id);
          await unclaimedUploads.add(upload);
          await unclaimedUploads.sending(client, untilOf(call));
          return evicted === undefined || (await neededContents.has(evicted.sha3_384)) ? [] : [evicted.sha3_384];
        });
        await removeUnneeded(blobs, needless, now());
        // A corrupt blob is repaired when the same content is received again.
        if (await records.damagedBlobs.has(taken.sha3_384)) {
          await acts.do(markBlobRepaired, { actor: 'anyone', requestId: call.requestId }, { sha3_384: taken.sha3_384 });
        }
        return { successful: true, upload_id: id };
      },
    });
  },
});

/** How often the lease of a sending client is renewed; it protects the uploads that the client sent before. */
const leaseRenewalMs = minutes(10);

/** The time until when the uploads of a sending client are kept. */
const untilOf = ({ config, now }: Pick<Services, 'config' | 'now'>): string =>
  timestamp(after(now(), hours(config.uploads.unclaimed_hours)));

/** Keeps earlier uploads of a client while it sends the next, because it can push all of them together. */
const noteSending = (call: Services, client: string): Promise<unknown> =>
  call.records.ephemeral(({ unclaimedUploads }) => unclaimedUploads.sending(client, untilOf(call)));

/** Passes the content on, and renews the client's lease while it arrives. */
async function* whileNoted(
  content: AsyncIterable<Chunks>,
  call: Services,
  { client, since }: { client: string; since: Date },
): AsyncGenerator<Chunks> {
  let notedAt = since.getTime();
  for await (const chunks of content) {
    if (call.now().getTime() - notedAt >= leaseRenewalMs) {
      notedAt = call.now().getTime();
      // The lease only protects earlier uploads, so this upload continues if the renewal fails.
      await noteSending(call, client).catch(() => undefined);
    }
    yield chunks;
  }
}

/** Maximum number of unclaimed uploads: of one client, and of all clients together. */
const maxUnclaimed = { uploads: 1000, inAll: 10_000 };

/** The maximum share of the disk per client; a higher limit in the configuration has no effect. */
const maxDiskShare = 1 / 10;

const quotaOf = async ({ blobs, config }: Services): Promise<number> =>
  Math.min(config.uploads.unclaimed_per_address, (await blobs.capacity()) * maxDiskShare);

/** Counts only finished unclaimed uploads: a client that has none may send one file up to the store's maximum size. */
function refuseBeyond(quota: Unclaimed, held: Unclaimed): void {
  if (held.uploads < quota.uploads && (held.bytes < quota.bytes || held.uploads === 0)) return;
  const bound =
    held.uploads < quota.uploads
      ? `${Math.floor(quota.bytes)} bytes of unclaimed uploads`
      : `${quota.uploads} unclaimed uploads`;
  throw new Refusal(
    'too-many-requests',
    `An address may have at most ${bound}. Push these uploads, or wait until they expire.`,
    3600,
  );
}
