// Receives feeds of advisories from browsers. A feed stays an unclaimed upload until it is imported.
import { toChunks, type Chunks } from '#blobs/blobs.ts';
import { toFeedRefusal } from '#jobs/vulnerabilities/import-feed.ts';
import { html, type Html } from '#http/pages/html.ts';
import type { Services } from '#http/services.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { Refusal } from '#domain/refusal.ts';
import { forgetUnclaimed, receiveUnclaimed } from '#operations/uploads/receive-unclaimed.ts';
import { feedStartLength, maxFeedBytes, refuseNoFeed } from '#review/feeds/feed-file.ts';
import { uploadAddressesOf, uploadForm } from '../parts/upload-form.ts';
import { formatCount, size } from '../parts/values.ts';
import { declareFileUpload, senderOf, type UploadCall } from '../uploads/file-upload.ts';

const addresses = uploadAddressesOf('/console/vulnerabilities/uploads');

export const addressOfUploadedFeed = (upload: string): string => `/console/vulnerabilities/feeds/${upload}`;

const limit = ({ uploads }: Services['config']): number => Math.min(uploads.max_size, maxFeedBytes);

export const feedUploadForm = (browsing: Browsing, config: Services['config']): Html =>
  uploadForm(browsing, addresses, {
    label: 'Feed file',
    accept: '.zip,.tar,.gz,.tgz,.xz,.zst,.json',
    hint: html`A zip or tar archive of OSV records, the KEV catalog of CISA, or OpenVEX documents, of at most
    ${size(limit(config))}. The next page shows the feed before it is imported. An interrupted upload resumes if you
    choose the same file again within ${formatCount(config.uploads.unclaimed_hours, 'hour')}.`,
  });

export const consoleFeedUpload = declareFileUpload({
  kind: 'feed',
  file: 'a file of a feed of advisories',
  addresses,
  refuses: [],

  limit,
  startLength: feedStartLength,
  refuseStart(start) {
    if (start.length === 0) throw new Refusal('api-error', 'The file is empty. Choose another file.');
    try {
      refuseNoFeed(start);
    } catch (error) {
      throw toFeedRefusal(error);
    }
  },

  async receive(call, uploads) {
    const [first = ''] = uploads;
    return addressOfUploadedFeed(uploads.length === 1 ? first : await joinPieces(call, uploads));
  },
});

/** Stores the content of the pieces as one upload in their place. */
async function joinPieces(call: UploadCall, pieces: readonly string[]): Promise<string> {
  const id = call.newId.uuid();
  await receiveUnclaimed(call, contentOf(call, pieces), {
    id,
    client: senderOf(call.principal),
    limit: limit(call.config),
    expected: undefined,
    actor: call.principal.accountId,
  });
  await forgetUnclaimed(call, pieces);
  return id;
}

async function* contentOf({ blobs, records }: UploadCall, pieces: readonly string[]): AsyncGenerator<Chunks> {
  for (const piece of pieces) {
    const upload = await records.unclaimedUploads.find(piece);
    const opened = upload && (await blobs.open(upload.sha3_384));
    if (opened === undefined)
      throw new Refusal('resource-not-found', 'A piece of the file is no longer here. Choose the file again.');
    yield* toChunks(opened.stream as AsyncIterable<Uint8Array>);
  }
}
