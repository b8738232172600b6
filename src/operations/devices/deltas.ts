// Finds and presents deltas, which a device downloads instead of the whole file if it has another revision of the snap.
import type { IncomingHttpHeaders } from 'node:http';

import type { HandlerRecords } from '#http/handler-records.ts';
import type { SnapDelta } from '#contract/wire.ts';
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import type { Delta } from '#records/devices/deltas.ts';

/** The only supported format: VCDIFF between the two unmodified files. Devices apply it with xdelta3. */
const format = 'xdelta3';

/** Whether the device accepts deltas in this format. */
export function acceptsDeltas(headers: IncomingHttpHeaders): boolean {
  const [accepted = ''] = [headers['snap-accept-delta-format'] ?? ''].flat();
  return accepted.split(/[ ,]+/).includes(format);
}

/** The delta from `source` to `target`, if the source revision is still available to devices. */
export const findDelta = (
  packageId: string,
  source: number,
  target: number,
  { deltas, revisions }: Pick<HandlerRecords, 'deltas' | 'revisions'>,
): MaybePromise<Delta | undefined> =>
  whenReady(
    deltas.find(packageId, source, target),
    (delta) => delta && whenReady(revisions.forDevices(packageId, source), (sourceRevision) => sourceRevision && delta),
  );

/** The URL contains a part of the digest, so a cache does not return the old bytes of a delta that was rebuilt. */
export const presentDelta = ({ packageId, source, target, size, sha3_384 }: Delta, baseUrl: string): SnapDelta => ({
  format,
  source,
  target,
  size,
  'sha3-384': sha3_384,
  url: `${baseUrl}/api/v1/snaps/download/${packageId}_${source}_${target}_${mark(sha3_384)}.${format}`,
});

/** The delta with this file name; undefined if the name is invalid or the digest differs. */
export async function findDeltaByFileName(
  name: string,
  records: Pick<HandlerRecords, 'deltas' | 'revisions'>,
): Promise<Delta | undefined> {
  const [, id = '', source, target, marked] =
    /^([A-Za-z0-9]{1,64})_([1-9]\d{0,9})_([1-9]\d{0,9})_([0-9a-f]{16})\.xdelta3$/.exec(name) ?? [];
  if (marked === undefined) return undefined;
  const delta = await findDelta(id, Number(source), Number(target), records);
  return delta !== undefined && mark(delta.sha3_384) === marked ? delta : undefined;
}

const mark = (sha3_384: string): string => sha3_384.slice(0, 16);
