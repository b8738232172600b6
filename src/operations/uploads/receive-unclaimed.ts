// Receives a file as an unclaimed upload: content that is deleted after some hours if nothing claims it.
import { markBlobRepaired } from '#acts/store/integrity.ts';
import type { Services } from '#http/services.ts';
import { after, hours, minutes, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Chunks, ReceivedBlob } from '#blobs/blobs.ts';
import { removeUnneeded } from '#blobs/remove-unneeded.ts';
import type { Unclaimed } from '#records/uploads/unclaimed-uploads.ts';

/** Idle timeout: an upload that receives no byte for this long is abandoned; a slow one is not. */
export const idleTimeoutMs = minutes(2);

export interface UnclaimedUploadOptions {
  /** The id of the upload. If an upload with this id exists already, it stays, and the new content is dropped. */
  id: string;
  /** The sender: the address of a client, or the account that uploads a file at a page of the console. Each has a quota. */
  client: string;
  /** The maximum number of bytes. */
  limit: number;
  /** The maximum number of bytes that the sender announced. */
  expected: number | undefined;
  /** Called with the digests before the content is stored; if it throws, the content is dropped. */
  accept?: ((taken: ReceivedBlob) => void) | undefined;
  /** The actor of the repair of a corrupt blob. */
  actor: string;
}

/** Receives the content of an upload; when it resolves, the upload survives a power cut. */
export async function receiveUnclaimed(
  call: Services & { requestId: string },
  content: AsyncIterable<Chunks>,
  { id, client, limit, expected, accept, actor }: UnclaimedUploadOptions,
): Promise<void> {
  const { blobs, records, acts, now, newId, requestId } = call;
  const quota = { ...maxUnclaimed, bytes: await quotaOf(call) };
  const begun = now();
  const held = await records.unclaimedUploads.of(client);
  refuseBeyond(quota, held);
  if (held.uploads > 0) await renewSenderLease(call, client);
  const { sha3_384, ...taken } = await blobs.receive(withLeaseRenewal(content, call, { client, since: begun }), {
    id: newId.uuid(),
    from: client,
    limit,
    expected,
    ownsChunks: true,
    accept,
  });
  const upload = { id, sha3_384, ...taken, address: client, receivedAt: timestamp(now()) };
  const needless = await records.ephemeral(async ({ unclaimedUploads, neededContents }) => {
    // Several uploads of a client can finish at the same time, each of them within the limits on its own.
    refuseBeyond(quota, await unclaimedUploads.of(client));
    const isNew = (await unclaimedUploads.find(id)) === undefined;
    const evicted =
      isNew && (await unclaimedUploads.count()) >= maxUnclaimed.total
        ? await unclaimedUploads.oldestOfMost()
        : undefined;
    if (evicted !== undefined) await unclaimedUploads.forget(evicted.id);
    if (isNew) await unclaimedUploads.add(upload);
    await unclaimedUploads.sending(client, computeLeaseEnd(call));
    const gone = [...(isNew ? [] : [sha3_384]), ...(evicted === undefined ? [] : [evicted.sha3_384])];
    return Promise.all(gone.map(async (content) => ((await neededContents.has(content)) ? [] : [content])));
  });
  await removeUnneeded(blobs, needless.flat(), now());
  // A corrupt blob is repaired when the same content is received again.
  if (await records.damagedBlobs.has(sha3_384)) {
    await acts.do(markBlobRepaired, { actor, requestId }, { sha3_384 });
  }
}

/** Deletes unclaimed uploads. Content received within the last hour is removed later, by the sweep: another upload may have it too. */
export async function forgetUnclaimed(
  { blobs, records, now }: Pick<Services, 'blobs' | 'records' | 'now'>,
  uploads: readonly string[],
): Promise<void> {
  const needless = await records.ephemeral(async ({ unclaimedUploads, neededContents }) => {
    const contents = new Set<string>();
    for (const id of uploads) {
      const upload = await unclaimedUploads.find(id);
      if (upload !== undefined && (await unclaimedUploads.forget(id))) contents.add(upload.sha3_384);
    }
    const gone: string[] = [];
    for (const content of contents) if (!(await neededContents.has(content))) gone.push(content);
    return gone;
  });
  await removeUnneeded(blobs, needless, now());
}

/** How often the lease of a sending client is renewed; it protects the uploads that the client sent before. */
const leaseRenewalMs = minutes(10);

/** The time until when the uploads of a sending client are kept. */
const computeLeaseEnd = ({ config, now }: Pick<Services, 'config' | 'now'>): string =>
  timestamp(after(now(), hours(config.uploads.unclaimed_hours)));

/** Keeps earlier uploads of a client while it sends the next, because it can push all of them together. */
const renewSenderLease = (call: Services, client: string): Promise<unknown> =>
  call.records.ephemeral(({ unclaimedUploads }) => unclaimedUploads.sending(client, computeLeaseEnd(call)));

/** Passes the content on, and renews the client's lease while it arrives. */
async function* withLeaseRenewal(
  content: AsyncIterable<Chunks>,
  call: Services,
  { client, since }: { client: string; since: Date },
): AsyncGenerator<Chunks> {
  let renewedAt = since.getTime();
  for await (const chunks of content) {
    if (call.now().getTime() - renewedAt >= leaseRenewalMs) {
      renewedAt = call.now().getTime();
      // The lease only protects earlier uploads, so this upload continues if the renewal fails.
      await renewSenderLease(call, client).catch(() => undefined);
    }
    yield chunks;
  }
}

/** Maximum number of unclaimed uploads: of one client, and of all clients together. */
const maxUnclaimed = { uploads: 1000, total: 10_000 };

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
