import type { IncomingMessage } from 'node:http';

import { snapsForDevice } from '#api/device-snaps.ts';
import { Answer, operation } from '#api/operation.ts';
import { answerWith, hasAlready, rangeOf, stillHolds } from '#api/ranges.ts';
import type { Blobs } from '#blobs/blobs.ts';
import { Refusal } from '#domain/refusal.ts';
import { noteDownload } from '#records/downloads.ts';
import { isPinned } from './pinned.ts';

export const downloadSnap = operation({
  name: 'download_snap',
  method: 'GET',
  path: '/api/v1/snaps/download/:file',
  since: 0,
  summary: 'Fetch the file of a revision of a snap, or a range of its bytes.',
  access: snapsForDevice,
  enabledBy: 'devices.snap',
  errors: 'snapd',
  prefixed: false,
  produces: ['application/octet-stream'],
  also: { 206: 'The range of bytes that was asked for.', 304: 'The client has it already.' },
  headers: ['etag', 'content-range'],
  refuses: ['range-invalid'],

  async handle({ params, request, snaps, records, blobs, now }) {
    const [, id = '', number = ''] = /^([A-Za-z0-9]{1,64})_([1-9]\d{0,9})\.snap$/.exec(params.file) ?? [];
    const snap = await snaps.ofId(id);
    const revision = snap && (await records.revisions.forDevices(snap.id, Number(number)));
    // What was never released is told to nobody, also not by guessing, unless a set names it. Who was told before may go on.
    const isTold =
      revision !== undefined && (revision.status === 'released' || (await isPinned(id, revision.revision, records)));
    if (snap === undefined || !isTold) {
      throw new Refusal('resource-not-found', 'There is no such file.');
    }
    const answer = await contentOf({ ...revision, private: snap.private }, request, blobs);
    if (answer.status === 200) noteDownload(records, snap.id, now());
    return answer;
  },
});

interface File {
  sha3_384: string;
  size: number;
  private: boolean;
}

/** The whole, the range that was asked for, or nothing where the client has it: its bytes are the same for ever. */
async function contentOf(
  { sha3_384, size, private: only }: File,
  request: IncomingMessage,
  blobs: Blobs,
): Promise<Answer> {
  const etag = `"${sha3_384}"`;
  const kept = {
    etag,
    'accept-ranges': 'bytes',
    'cache-control': `${only ? 'private' : 'public'}, max-age=31536000, immutable`,
  };
  if (hasAlready(request, etag)) return new Answer({ status: 304, headers: kept });
  const headers = { ...kept, 'content-type': 'application/octet-stream' };
  if (request.method === 'HEAD') {
    if ((await blobs.stat(sha3_384))?.size !== size) throw outOfService();
    return new Answer({ headers: { ...headers, 'content-length': String(size) } });
  }
  const range = stillHolds(request, etag) ? rangeOf(request.headers.range, size) : undefined;
  return answerWith({ sha3_384, size, range, headers }, blobs, outOfService);
}

/** It was damaged, and taken away until somebody brings it again: no answer to a device that would ask again and again. */
const outOfService = (): Refusal =>
  new Refusal('resource-not-found', 'The file was damaged and is out of service until its publisher sends it again.');
