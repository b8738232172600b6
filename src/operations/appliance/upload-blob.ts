import { mendBlob } from '#acts/integrity.ts';
import { anyone } from '#api/access.ts';
import { receiveUpload } from '#api/multipart.ts';
import { operation } from '#api/operation.ts';
import type { Services } from '#api/services.ts';
import { clientOf } from '#domain/client.ts';
import { after, hours, minutes, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Chunks } from '#blobs/blobs.ts';
import { removeNeedless } from '#blobs/needless.ts';
import type { Unclaimed } from '#records/unclaimed-uploads.ts';

/** An upload that stands still for so long is given up; one that moves, however slowly, is not. */
const idle = minutes(2);

export const uploadBlob = operation({
  name: 'upload_blob',
  method: 'POST',
  path: '/unscanned-upload/',
  since: 0,
  summary: 'Send a file, to be pushed as a revision or a resource afterwards.',
  // The stock clients send no token here; what no package claims is deleted after a while.
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
      idle,
      async receive(content, expected) {
        const quota = { ...most, bytes: await quotaOf(call) };
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
        const needless = await records.passing(async ({ unclaimedUploads, neededContents }) => {
          // Several may have come at once, each with room enough for itself.
          refuseBeyond(quota, await unclaimedUploads.of(client));
          const given =
            (await unclaimedUploads.count()) < most.inAll ? undefined : await unclaimedUploads.oldestOfMost();
          if (given !== undefined) await unclaimedUploads.forget(given.id);
          await unclaimedUploads.add(upload);
          await unclaimedUploads.sending(client, untilOf(call));
          return given === undefined || (await neededContents.has(given.sha3_384)) ? [] : [given.sha3_384];
        });
        await removeNeedless(blobs, needless, now());
        // Content that was damaged is good again when the same comes in.
        if (await records.damagedBlobs.has(taken.sha3_384)) {
          await acts.do(mendBlob, { actor: 'anyone', requestId: call.requestId }, { sha3_384: taken.sha3_384 });
        }
        return { successful: true, upload_id: id };
      },
    });
  },
});

/** How often it is noted that a client goes on sending. */
const noteEvery = minutes(10);

/** Until when uploads of a client stay that sends now. */
const untilOf = ({ config, now }: Pick<Services, 'config' | 'now'>): string =>
  timestamp(after(now(), hours(config.uploads.unclaimed_hours)));

/** What a client has sent before waits for what it is sending: all of it may be pushed together. */
const noteSending = (call: Services, client: string): Promise<unknown> =>
  call.records.passing(({ unclaimedUploads }) => unclaimedUploads.sending(client, untilOf(call)));

/** The same content, while it is noted from time to time that it comes. */
async function* whileNoted(
  content: AsyncIterable<Chunks>,
  call: Services,
  { client, since }: { client: string; since: Date },
): AsyncGenerator<Chunks> {
  let notedAt = since.getTime();
  for await (const chunks of content) {
    if (call.now().getTime() - notedAt >= noteEvery) {
      notedAt = call.now().getTime();
      // A client that has sent nothing before loses nothing if this fails.
      await noteSending(call, client).catch(() => undefined);
    }
    yield chunks;
  }
}

/** So many uploads may lie unclaimed: of one client, and of all together. */
const most = { uploads: 1000, inAll: 10_000 };

/** No client may fill more than this part of the disk, however large the configuration lets it be. */
const partOfDisk = 1 / 10;

const quotaOf = async ({ blobs, config }: Services): Promise<number> =>
  Math.min(config.uploads.unclaimed_per_address, (await blobs.capacity()) * partOfDisk);

/**
 * Counts what lies unclaimed beside the upload that comes in: who has nothing there may send one file as large as the
 * store accepts.
 */
function refuseBeyond(quota: Unclaimed, held: Unclaimed): void {
  if (held.uploads < quota.uploads && (held.bytes < quota.bytes || held.uploads === 0)) return;
  const bound =
    held.uploads < quota.uploads
      ? `${Math.floor(quota.bytes)} bytes of uploads that no package has claimed`
      : `${quota.uploads} uploads that no package has claimed`;
  throw new Refusal(
    'too-many-requests',
    `An address may have at most ${bound}; push what was sent, or wait until it expires.`,
    3600,
  );
}
