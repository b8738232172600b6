// Deletes tags, manifests and blobs. Manifests that a resource names stay, with all their parts; the sweep removes the content
// unless something else needs it.
import {
  deleteImageBlob as deleteBlob,
  deleteImageManifest as deleteManifest,
  deleteImageTag,
  unreadResourcesRefusal,
} from '#acts/images/images.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { apiVersion, onRepository } from '#access/registry-access.ts';
import type { Services } from '#http/services.ts';
import { Refusal } from '#domain/refusal.ts';
import { readMentions } from '#registry/mentions.ts';
import { readDigest } from '#registry/repository.ts';
import { parseRequiredDigest } from './blob-uploads.ts';
import { findManifest } from './manifests.ts';
import { pusher } from './pusher.ts';

const access = onRepository('push');

export const deleteImageManifest = operation({
  name: 'delete_image_manifest',
  method: 'DELETE',
  path: '/v2/images/:package_id/:resource/manifests/:reference',
  since: 0,
  summary: 'Delete a tag, or a manifest with all its tags unless a resource or an index needs it.',
  access,
  errors: 'registry',
  prefixed: false,
  status: 202,
  refuses: ['manifest-unknown', 'method-not-allowed'],

  async handle(call) {
    const { params, records, acts, repository, requestId } = call;
    const { reference } = params;
    const actor = pusher(repository, requestId);
    if (readDigest(reference) === undefined) {
      await acts.do(deleteImageTag, actor, { credential: repository, tag: reference });
      return deleted;
    }
    const { sha256 } = await findManifest(records, repository, reference);
    await mustKnowMentions(call);
    await acts.do(deleteManifest, actor, { credential: repository, sha256 });
    return deleted;
  },
});

export const deleteImageBlob = operation({
  name: 'delete_image_blob',
  method: 'DELETE',
  path: '/v2/images/:package_id/:resource/blobs/:digest',
  since: 0,
  summary: 'Delete a blob that no image uses.',
  access,
  errors: 'registry',
  prefixed: false,
  status: 202,
  refuses: ['digest-invalid', 'blob-unknown', 'method-not-allowed'],

  async handle(call) {
    const { params, records, acts, repository, requestId } = call;
    const blob = await records.images.blob(repository, parseRequiredDigest(params.digest).digits);
    if (blob === undefined) throw new Refusal('blob-unknown', 'The repository has no blob with this digest.');
    await acts.do(deleteBlob, pusher(repository, requestId), { credential: repository, sha256: blob.sha256 });
    return deleted;
  },
});

const deleted = new OperationResponse({ status: 202, headers: { ...apiVersion, 'content-length': '0' } });

/** The images that a resource names are read from its content, usually by the sweep from time to time; here they must be known now. */
async function mustKnowMentions({ records, acts, blobs }: Services): Promise<void> {
  if ((await readMentions(records, acts, blobs)) > 0) throw unreadResourcesRefusal();
}
