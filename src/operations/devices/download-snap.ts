import type { IncomingMessage } from 'node:http';

import { snapsForDevice, type VisibleSnap, type SnapsForDevice } from '#access/device-snaps.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { operation } from '#http/operation.ts';
import { fileResponses, respondWithFile } from '#http/response/byte-ranges.ts';
import { Refusal } from '#domain/refusal.ts';
import { countDelta, countDownload } from '#records/packages/downloads.ts';
import { findVisibleComponent } from './components.ts';
import { findDeltaByFileName } from './deltas.ts';
import { findVisibleRevision } from './visible-revisions.ts';

export const downloadSnap = operation({
  name: 'download_snap',
  method: 'GET',
  path: '/api/v1/snaps/download/:file',
  since: 0,
  summary:
    'Download the file of a revision of a snap, a delta between two revisions, or the file of a component, in full or as a range of bytes.',
  access: snapsForDevice,
  enabledBy: 'devices.snap',
  errors: 'snapd',
  prefixed: false,
  ...fileResponses,
  also: { ...fileResponses.also, 302: 'The address of the file on the S3 server, valid for five minutes.' },
  headers: [...fileResponses.headers, 'location'],

  async handle(call) {
    const { params, request, snaps, records, now } = call;
    const file = await fileOf(params.file, snaps, records);
    if (file === undefined) throw new Refusal('resource-not-found', 'There is no such file.');
    const answer = await respondWithFile({ ...file, name: params.file }, call, { mayLeave: showsNothing(request) });
    const isWhole = answer.status === 200 || (answer.status === 302 && request.headers.range === undefined);
    if (isWhole && file.kind !== 'component') {
      countDownload(records, file.packageId, now());
      countDelta(records, file.packageId, file.kind === 'delta' ? 'served' : 'whole', now());
    }
    return answer;
  },
});

/** Whether the request carries no credentials. Older releases of snapd also send them to the address of a redirect. */
const showsNothing = ({ headers }: IncomingMessage): boolean =>
  headers.authorization === undefined && headers['snap-device-authorization'] === undefined;

interface SnapDownloadFile {
  packageId: string;
  sha3_384: string;
  size: number;
  private: boolean;
  kind: 'snap' | 'component' | 'delta';
}

/** The file of this name, if it exists for the caller. */
async function fileOf(
  name: string,
  snaps: SnapsForDevice,
  records: HandlerRecords,
): Promise<SnapDownloadFile | undefined> {
  if (name.endsWith('.xdelta3')) return deltaFile(name, snaps, records);
  const [, id = '', component, number = '', kind] =
    /^([A-Za-z0-9]{1,64})_(?:([a-z0-9-]{1,64})_)?([1-9]\d{0,9})\.(snap|comp)$/.exec(name) ?? [];
  const isSnap = component === undefined;
  const visibleSnap = isSnap === (kind === 'snap') ? await snaps.findById(id, true) : undefined;
  if (visibleSnap === undefined) return undefined;
  const content = isSnap
    ? await findVisibleRevision(visibleSnap, Number(number), records)
    : await findVisibleComponent(visibleSnap, component, Number(number), records);
  return (
    content && {
      packageId: id,
      sha3_384: content.sha3_384,
      size: content.size,
      private: visibleSnap.snap.private,
      kind: isSnap ? 'snap' : 'component',
    }
  );
}

/** The delta of this name, if both of its revisions exist for the caller. */
async function deltaFile(
  name: string,
  snaps: SnapsForDevice,
  records: HandlerRecords,
): Promise<SnapDownloadFile | undefined> {
  const visibleSnap = await snaps.findById(name.slice(0, name.indexOf('_')), true);
  const delta = visibleSnap && (await findDeltaByFileName(name, records));
  if (delta === undefined) return undefined;
  const { packageId, source, target, sha3_384, size } = delta;
  const isVisible = (number: number) => findVisibleRevision(visibleSnap as VisibleSnap, number, records);
  return (await isVisible(source)) && (await isVisible(target))
    ? { packageId, sha3_384, size, private: (visibleSnap as VisibleSnap).snap.private, kind: 'delta' }
    : undefined;
}
