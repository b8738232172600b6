// Uploads of blobs, as the OCI distribution specification defines them: in one request, or in sequential chunks.
import type { IncomingMessage } from 'node:http';

import { pushImageBlob } from '#acts/images/images.ts';
import { createSizeCheck } from '#acts/accounts/quotas.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { apiVersion, locationFor, onRepository, type RepositoryEvidence } from '#access/registry-access.ts';
import type { Services } from '#http/services.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { Refusal } from '#domain/refusal.ts';
import { digestText, readDigest, type Digest } from '#registry/repository.ts';
import { isGranted } from '#registry/tokens.ts';
import type { BlobUpload } from '#registry/uploads.ts';
import { readChunks } from './chunks.ts';
import { pusher } from './pusher.ts';

const access = onRepository('push');

type RegistryUploadCall = Services & RepositoryEvidence & { request: IncomingMessage; requestId: string };

export const startBlobUpload = operation({
  name: 'start_blob_upload',
  method: 'POST',
  path: '/v2/images/:package_id/:resource/blobs/uploads/',
  since: 0,
  summary: 'Start the upload of a blob of an image, upload it in one request, or mount it from another repository.',
  access,
  query: 'StartBlobUploadQuery',
  consumes: 'application/octet-stream',
  errors: 'registry',
  prefixed: false,
  status: 202,
  also: { 201: 'The blob is stored.' },
  headers: ['location', 'range', 'docker-upload-uuid', 'docker-content-digest'],
  refuses: ['blob-upload-invalid', 'digest-invalid', 'forbidden', 'too-many-requests', 'insufficient-storage'],

  async handle(call) {
    const { query, registry, repository } = call;
    const mount = query.mount === undefined ? undefined : parseRequiredDigest(query.mount);
    if (mount !== undefined && (await mounts(call, mount, query.from ?? call.repositoryName))) {
      return stored(call, mount);
    }
    const digest = query.digest === undefined ? undefined : parseRequiredDigest(query.digest);
    const upload = await registry.uploads.begin(repository);
    if (digest === undefined) return state(call, upload, 202);
    try {
      await append(call, upload, { isWhole: true, isLast: true });
      return await finish(call, upload, digest);
    } catch (error) {
      await upload.abandon();
      throw error;
    }
  },
});

export const blobUploadState = operation({
  name: 'blob_upload_state',
  method: 'GET',
  path: '/v2/images/:package_id/:resource/blobs/uploads/:upload_id',
  since: 0,
  summary: 'Get the progress of a blob upload.',
  access,
  errors: 'registry',
  prefixed: false,
  status: 204,
  headers: ['location', 'range', 'docker-upload-uuid'],
  refuses: ['blob-upload-unknown'],
  handle: async (call) => state(call, await find(call, call.params.upload_id), 204),
});

export const continueBlobUpload = operation({
  name: 'continue_blob_upload',
  method: 'PATCH',
  path: '/v2/images/:package_id/:resource/blobs/uploads/:upload_id',
  since: 0,
  summary: 'Upload the next chunk of a blob.',
  access,
  consumes: 'application/octet-stream',
  errors: 'registry',
  prefixed: false,
  status: 202,
  headers: ['location', 'range', 'docker-upload-uuid'],
  refuses: [
    'blob-upload-invalid',
    'blob-upload-unknown',
    'conflict',
    'forbidden',
    'range-invalid',
    'insufficient-storage',
  ],

  async handle(call) {
    const upload = await find(call, call.params.upload_id);
    mustContinue(call, upload);
    await append(call, upload, {});
    return state(call, upload, 202);
  },
});

export const finishBlobUpload = operation({
  name: 'finish_blob_upload',
  method: 'PUT',
  path: '/v2/images/:package_id/:resource/blobs/uploads/:upload_id',
  since: 0,
  summary: 'Upload the rest of a blob, and store the blob if it matches the given digest.',
  access,
  query: 'FinishBlobUploadQuery',
  consumes: 'application/octet-stream',
  errors: 'registry',
  prefixed: false,
  status: 201,
  headers: ['location', 'range', 'docker-upload-uuid', 'docker-content-digest'],
  refuses: [
    'blob-upload-invalid',
    'blob-upload-unknown',
    'conflict',
    'digest-invalid',
    'forbidden',
    'range-invalid',
    'insufficient-storage',
  ],

  async handle(call) {
    const upload = await find(call, call.params.upload_id);
    // A missing digest is refused here and not by the shape, so that the upload is abandoned first.
    const digest = readDigest(call.query.digest ?? '');
    if (digest === undefined) {
      // Like an upload with a wrong digest it has ended; it would only occupy an upload place.
      await upload.abandon();
      throw noDigest();
    }
    mustContinue(call, upload);
    await append(call, upload, { isWhole: upload.size === 0, isLast: true });
    return finish(call, upload, digest);
  },
});

export const cancelBlobUpload = operation({
  name: 'cancel_blob_upload',
  method: 'DELETE',
  path: '/v2/images/:package_id/:resource/blobs/uploads/:upload_id',
  since: 0,
  summary: 'Cancel the upload of a blob.',
  access,
  errors: 'registry',
  prefixed: false,
  status: 204,
  refuses: ['blob-upload-unknown'],

  async handle(call) {
    await (await find(call, call.params.upload_id)).abandon();
    return new OperationResponse({ status: 204, headers: apiVersion });
  },
});

async function find({ registry, repository }: RegistryUploadCall, id: string): Promise<BlobUpload> {
  const upload = await registry.uploads.find(repository, id);
  if (upload !== undefined) return upload;
  throw new Refusal('blob-upload-unknown', 'There is no such upload in progress. Start a new one.');
}

/** Headers with the state of an upload. Clients use the URL unchanged, and some append `&digest=…` to it. */
function whereabouts(
  { repositoryName: name, request, config }: RegistryUploadCall,
  { id, size }: BlobUpload,
): Record<string, string> {
  return {
    ...apiVersion,
    location: locationFor(request, config, `/v2/${name}/blobs/uploads/${id}?from=${size}`),
    // An empty upload has the same range as one byte; registries have always reported it that way.
    range: `0-${Math.max(0, size - 1)}`,
    'docker-upload-uuid': id,
  };
}

const state = (call: RegistryUploadCall, upload: BlobUpload, status: number): OperationResponse =>
  new OperationResponse({
    status,
    headers: { ...whereabouts(call, upload), ...(status === 202 && { 'content-length': '0' }) },
  });

/** A chunk with a Content-Range must start at the end of the received bytes. */
function mustContinue(call: RegistryUploadCall, upload: BlobUpload): void {
  const { 'content-range': range, 'content-length': length } = call.request.headers;
  if (range === undefined) return mustBeAtOffset(call, upload);
  const [, first = '', last = ''] = /^(?:bytes[ =])?(\d{1,15})-(\d{1,15})(?:\/(?:\d{1,15}|\*))?$/.exec(range) ?? [];
  const announced = Number(last) - Number(first) + 1;
  // charmcraft uses the start of the next chunk as the end of a chunk.
  if (first === '' || (length !== undefined && ![announced, announced - 1].includes(Number(length)))) {
    throw new Refusal(
      'blob-upload-invalid',
      'The Content-Range does not match the body.',
      undefined,
      whereabouts(call, upload),
    );
  }
  if (Number(first) !== upload.size) throw wrongOffset(call, upload);
}

/**
 * A chunk without Content-Range belongs at the offset in its URL: a client that lost the response sends the chunk to the same URL
 * again, and it must not be appended twice. A request without content can use any URL of the upload.
 */
function mustBeAtOffset(call: RegistryUploadCall, upload: BlobUpload): void {
  const { url = '', headers } = call.request;
  const offset = new URLSearchParams(url.split('?')[1] ?? '').get('from');
  const isEmpty =
    headers['content-length'] === '0' || (headers['content-length'] ?? headers['transfer-encoding']) === undefined;
  // If another request is sending, `append` refuses this one for that reason.
  if (offset === null || isEmpty || upload.isBusy || Number(offset) === upload.size) return;
  throw wrongOffset(call, upload);
}

const wrongOffset = (call: RegistryUploadCall, upload: BlobUpload): Refusal =>
  new Refusal(
    'range-invalid',
    `The next chunk of this upload must begin at ${upload.size}.`,
    undefined,
    whereabouts(call, upload),
  );

interface RegistryAppendRequest {
  /** Whether this request contains the whole blob. */
  isWhole?: boolean;
  /** Whether the same request finishes the upload. */
  isLast?: boolean;
}

async function append(
  call: RegistryUploadCall,
  upload: BlobUpload,
  { isWhole = false, isLast = false }: RegistryAppendRequest,
): Promise<void> {
  const { request, registry, repository, records, config, now } = call;
  const length = request.headers['content-length'];
  const limit = config.uploads.max_size;
  if (length !== undefined && upload.size + Number(length) > limit) {
    throw new Refusal('request-too-large', `The blob is larger than the ${limit} bytes this store accepts.`);
  }
  const end = registry.credentials.end(repository);
  let size = upload.size;
  try {
    // Refuse a blob beyond the quota as soon as its size is known; `pushImageBlob` decides at the end.
    const refuseBeyond = await createSizeCheck(records, {
      ...repository,
      defaultQuota: readDefaultQuota(config.quotas),
    });
    refuseBeyond(size + Number(length ?? 0));
    const chunks = readChunks(request, (more) => {
      registry.credentials.recordProgress(repository.id);
      if (end !== undefined && now() >= end)
        throw new Refusal('unauthorized', 'The credentials of this upload have expired or were revoked.');
      refuseBeyond((size += more));
    });
    await upload.append(chunks, {
      limit,
      isLast,
      ...(isWhole && length !== undefined && { totalBytes: Number(length) }),
    });
  } catch (error) {
    // No client continues this upload; its bytes would only occupy space.
    if (error instanceof Refusal && error.code === 'forbidden') await upload.abandon();
    throw error;
  }
}

async function finish(call: RegistryUploadCall, upload: BlobUpload, digest: Digest): Promise<OperationResponse> {
  const { sha256, sha512 = null, sha3_384, size } = await upload.finish(digest, call.config.uploads.max_size);
  const { acts, repository, requestId, config } = call;
  const blob = { sha256, sha512, sha3_384, size };
  const defaultQuota = readDefaultQuota(config.quotas);
  await acts.do(pushImageBlob, pusher(repository, requestId), { credential: repository, blob, defaultQuota });
  return stored(call, digest);
}

/**
 * Mounts a blob from a repository that this token may read; if false, the client sends the blob, whether it exists or not. A token
 * reads only the repository of its credentials, so the blob must already be there.
 */
async function mounts(
  { token, records, repository, repositoryName: ownRepository }: RegistryUploadCall,
  digest: Digest,
  from: string,
): Promise<boolean> {
  if (from !== ownRepository || !isGranted(token, from, 'pull')) return false;
  return (await records.images.blob(repository, digest.digits)) !== undefined;
}

const stored = ({ repositoryName: name, request, config }: RegistryUploadCall, digest: Digest): OperationResponse =>
  new OperationResponse({
    status: 201,
    headers: {
      ...apiVersion,
      location: locationFor(request, config, `/v2/${name}/blobs/${digestText(digest)}`),
      'docker-content-digest': digestText(digest),
      'content-length': '0',
    },
  });

export function parseRequiredDigest(text: string): Digest {
  const digest = readDigest(text);
  if (digest === undefined) throw noDigest();
  return digest;
}

const noDigest = (): Refusal =>
  new Refusal(
    'digest-invalid',
    'A digest is written as sha256: and 64 lower-case hexadecimal digits, or sha512: and 128 of them.',
  );
