import { snapsForDevice } from '#api/device-snaps.ts';
import { operation } from '#api/operation.ts';
import { answerWithFile } from '#api/ranges.ts';
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
    const answer = await answerWithFile({ ...revision, private: snap.private }, request, blobs);
    if (answer.status === 200) noteDownload(records, snap.id, now());
    return answer;
  },
});
