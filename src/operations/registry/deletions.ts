// Taking tags, manifests and blobs away. What a resource names stays, and so does what something that stays is made of;
// the content goes with the sweeps, unless something else needs it.
import { Answer, operation } from '#api/operation.ts';
import { apiVersion, onRepository, type RepositoryEvidence } from '#api/registry-access.ts';
import type { Services } from '#api/services.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { readMentions } from '#registry/mentions.ts';
import { readDigest } from '#registry/repository.ts';
import { mustBeDigest } from './blob-uploads.ts';
import { findManifest } from './manifests.ts';

const access = onRepository('push');

type Call = Services & RepositoryEvidence & { requestId: string };

export const deleteImageManifest = operation({
  name: 'delete_image_manifest',
  method: 'DELETE',
  path: '/v2/images/:package_id/:resource/manifests/:reference',
  since: 0,
  summary: 'Take a tag away, or a manifest with all its tags unless a resource or an index needs it.',
  access,
  errors: 'registry',
  prefixed: false,
  status: 202,
  refuses: ['manifest-unknown', 'method-not-allowed'],

  async handle(call) {
    const { params, records, repository } = call;
    const { reference } = params;
    const isDigest = readDigest(reference) !== undefined;
    const { sha256 } = await findManifest(records, repository, reference);
    if (isDigest) await mustKnowMentions(call);
    const entry = entryOf(call, isDigest ? 'delete_image_manifest' : 'delete_image_tag', {
      digest: `sha256:${sha256}`,
      ...(!isDigest && { tag: reference }),
    });
    await records.change(entry, async (tx) => {
      if (!isDigest) {
        if (await tx.images.untag(repository, reference, entry.at)) return;
        throw new Refusal('manifest-unknown', 'The repository has no manifest of this tag.');
      }
      if ((await tx.images.unreadContents(1)).length > 0) throw unknownMentions();
      if (await tx.images.isNamed(repository, sha256)) {
        throw needed('A revision of the resource names this image, so it stays as long as that does.');
      }
      const index = await tx.images.indexOf(repository, sha256);
      if (index !== undefined) throw needed(`The index sha256:${index.sha256} names this manifest; delete that first.`);
      await tx.images.removeManifest(repository, sha256);
    });
    return deleted;
  },
});

export const deleteImageBlob = operation({
  name: 'delete_image_blob',
  method: 'DELETE',
  path: '/v2/images/:package_id/:resource/blobs/:digest',
  since: 0,
  summary: 'Take a blob away that is part of no image.',
  access,
  errors: 'registry',
  prefixed: false,
  status: 202,
  refuses: ['digest-invalid', 'blob-unknown', 'method-not-allowed'],

  async handle(call) {
    const { params, records, repository } = call;
    const blob = await records.images.blob(repository, mustBeDigest(params.digest).digits);
    if (blob === undefined) throw new Refusal('blob-unknown', 'The repository has no blob of this digest.');
    const { sha256 } = blob;
    await records.change(entryOf(call, 'delete_image_blob', { digest: `sha256:${sha256}` }), async (tx) => {
      const image = await tx.images.imageOf(repository, sha256);
      if (image !== undefined)
        throw needed(`The image sha256:${image.sha256} is made of this blob; delete that first.`);
      await tx.images.removeBlob(repository, sha256);
    });
    return deleted;
  },
});

const deleted = new Answer({ status: 202, headers: { ...apiVersion, 'content-length': '0' } });

function entryOf({ repository, requestId, now }: Call, action: string, details: Record<string, string>) {
  return {
    at: timestamp(now()),
    actor: repository.accountId ?? 'anyone',
    action,
    object: `${repository.namespace}/${repository.name}`,
    requestId,
    details: { resource: repository.resource, credentials: repository.id, ...details },
  };
}

/** What a resource names is read from its content, which the sweep does now and then: here it must be known now. */
async function mustKnowMentions({ records, blobs, now }: Call): Promise<void> {
  const unread = await readMentions(records, blobs, { at: timestamp(now()), actor: 'larder', object: 'images' });
  if (unread > 0) throw unknownMentions();
}

const unknownMentions = (): Refusal =>
  needed('It cannot be told at the moment which images the resources name, so none is deleted; try again later.');

/** The specification's word for a deletion that is not done. */
const needed = (why: string): Refusal => new Refusal('method-not-allowed', why, undefined, { allow: 'GET, HEAD, PUT' });
