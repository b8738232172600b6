// larder doctor --bundle: shows the content of a support bundle, and writes it.
import { lstatSync } from 'node:fs';
import { resolve } from 'node:path';

import { formatBytes } from '#domain/byte-size.ts';
import { formatCount } from '#domain/quantities.ts';
import { examineEach, type ExaminationFinding } from '#examinations/examination.ts';
import { examinations } from '#examinations/index.ts';
import { Failure, type CommandCall } from '../../frame/command.ts';
import { writeNew, toReadFailure } from '../../frame/outside-files.ts';
import { suspendRoot, type AsCaller } from '../../frame/owner.ts';
import { columns } from '../../frame/terminal.ts';
import { archiveOf, collectBundle, type BundleMember } from './bundle.ts';
import { endOfLog, maxLines } from './log.ts';
import { openExaminedStore } from '../examined-store.ts';
import { readJournal, readUnitState } from '../service.ts';

export interface PreparedBundle {
  file: string;
  archive: Buffer;
  members: readonly BundleMember[];
  findings: (ExaminationFinding & { what: string })[];
  asCaller: AsCaller;
}

interface BundleOptions {
  bundle: string;
  log: string | undefined;
}

/** The bundle of each call, prepared only once, so that the file holds exactly the data shown. */
const prepared = new WeakMap<object, Promise<PreparedBundle>>();

export function prepareBundle(
  call: Pick<CommandCall, 'data' | 'world'>,
  options: BundleOptions,
): Promise<PreparedBundle> {
  const pending = prepared.get(call.world) ?? prepare(call, options);
  prepared.set(call.world, pending);
  return pending;
}

async function prepare(
  { data, world }: Pick<CommandCall, 'data' | 'world'>,
  { bundle, log }: BundleOptions,
): Promise<PreparedBundle> {
  const file = resolve(bundle);
  // Root may read the journal; the owner of the store may not.
  const unit = readUnitState(data);
  const journal = log === undefined ? readJournal(data, maxLines) : undefined;
  const asCaller = suspendRoot(data);
  await asCaller(() => refuseExisting(file));
  const logText = log === undefined ? undefined : await asCaller(() => readLog(resolve(log)));
  const patient = openExaminedStore(data, world, unit);
  try {
    const findings = await examineEach(examinations, patient);
    const now = new Date();
    const members = await collectBundle({ data, patient, findings, unit, log: logText ?? journal, now });
    return { file, archive: archiveOf(members, now), members, findings, asCaller };
  } finally {
    await patient.close();
  }
}

/** Refuses an existing file early; the file is also created exclusively. */
function refuseExisting(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return;
  throw new Failure(`${file} is there already; name a file that is not there yet`, { code: 'cannot-write' });
}

function readLog(file: string): string {
  try {
    return endOfLog(file);
  } catch (error) {
    throw toReadFailure(file, error);
  }
}

/** Lists the files of a bundle with their sizes, and the data that it leaves out. */
export function bundleList({ members, archive }: Pick<PreparedBundle, 'members' | 'archive'>): string {
  const rows = members.map(({ name, holds, bytes: { length } }): [string, string] => [
    name,
    `${formatBytes(length)}: ${holds}`,
  ]);
  return [
    `The support bundle has ${formatCount(members.length, 'file')}, ${formatBytes(archive.length)} together:`,
    columns(rows, 120).trimEnd(),
    'It holds no names, addresses, texts, keys, tokens or passwords.',
  ].join('\n');
}

export async function writeBundle({
  file,
  archive,
  asCaller,
}: PreparedBundle): Promise<{ sha256: string; bytes: number }> {
  return writeNew(file, asCaller, (append) => append(archive));
}
