// Moves the records of a stopped store to the place in another configuration. The old records stay complete until one rename replaces the
// configuration. Until then the next attempt removes the copy; from then on the new records count.
import { existsSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import type { Actor } from '#acts/act.ts';
import { move as enterMove } from '#acts/store/appliance.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import type { DatabasePlace } from '#engine/place.ts';
import { describeAddressText } from '#contract/postgres-address.ts';
import { checkpointLog } from '#engine/sqlite/check.ts';
import { createFile, makeFolder, prepareFile, renameFile, syncPath } from '#files/durable.ts';
import { readIfPresent } from '#files/read.ts';
import { verifyAudit } from '#records/audit/audit-verdict.ts';
import type { Config } from '#configuration/config.ts';
import { nativeBinding } from '#platform/native.ts';
import { copyRecords, moveTablesAside, confirmRecordsCopy, removeRecordsCopy } from './copies.ts';
import { databaseFile, recordsPlace } from './records-place.ts';
import { openRecords } from './records.ts';
import { sealFileIn } from './seal-file.ts';

/** Folder below the data directory for the new records until they count, and for the rest of an interrupted move. */
const work = '.moving';
const planName = 'plan.json';

type RecordsConfig = Config['records'];

/** A move that has started. */
export interface RecordsMovePlan {
  /** Names the new records on a database server until the move is complete. */
  attempt: string;
  from: RecordsConfig;
  to: RecordsConfig;
}

/** Returns the move that was started and has not ended; undefined if there is none. */
export function planIn(directory: string): RecordsMovePlan | undefined {
  const text = readIfPresent(join(directory, work, planName));
  return text === undefined || text === '' ? undefined : (JSON.parse(text) as RecordsMovePlan);
}

/** Returns whether a configuration is the target of a move, so that the move has taken effect. */
export const hasSwitched = ({ to }: RecordsMovePlan, { records }: Pick<Config, 'records'>): boolean =>
  isDeepStrictEqual({ ...records }, { ...to });

export interface RecordsMoveOptions {
  /** The data directory, locked by the caller. */
  directory: string;
  plan: RecordsMovePlan;
  /** The text of the new configuration. */
  configuration: string;
  credentials: string | undefined;
  siteKey: Buffer;
  actor: Actor;
  now: Now;
  /** Called with the number of rows copied so far. An error that it throws ends the move. */
  progress: (rows: number) => void;
}

export interface RecordsMoveResult {
  rows: number;
  /** Where the old records are now, in words for a person. */
  aside: string;
}

/** Tables that are not copied: their rows belong to processes, and none runs while a store is moved. */
const ofProcesses = new Set(['passing_leases', 'passing_shares']);

/** Moves the records. Throws DatabaseNotEmpty and CopyMismatch, and then leaves everything unchanged. */
export async function moveRecords(moving: RecordsMoveOptions): Promise<RecordsMoveResult> {
  const { directory, plan, configuration, credentials, progress } = moving;
  const at = (records: RecordsConfig): DatabasePlace => recordsPlace(directory, { records }, credentials);
  const [from, target] = [at(plan.from), at(plan.to)];
  const folder = join(directory, work);
  begin(directory, plan);
  const to = 'file' in target ? { file: databaseFile(folder) } : target;
  let rows = 0;
  try {
    const leave = (table: string): boolean => ofProcesses.has(table);
    const copied = await copyRecords({ from, to, attempt: plan.attempt, alone: true, leave, progress });
    for (const table of copied.values()) rows += table.rows;
    await prove(moving, folder, to, rows);
  } catch (error) {
    await abandon(directory, plan, credentials).catch(() => undefined);
    throw error;
  }
  if ('file' in to) placeFile(to.file, databaseFile(directory), moving.now);
  const file = realpathSync(join(directory, 'larder.toml'));
  prepareFile(file, configuration, 0o600).place();
  return { rows, aside: await endMove(moving) };
}

/** Makes an empty folder for a move, with its plan. */
function begin(directory: string, plan: RecordsMovePlan): void {
  const folder = join(directory, work);
  makeFolder(folder);
  const [existing, text] = [readIfPresent(join(folder, planName)), JSON.stringify(plan)];
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${databaseFile(folder)}${end}`, { force: true });
  if (existing !== text) prepareFile(join(folder, planName), text, 0o600).place();
  syncPath(directory);
}

/** Enters the move in the audit log at the new place, and verifies the whole log there. */
async function prove(
  { directory, plan, siteKey, actor, now }: RecordsMoveOptions,
  folder: string,
  place: DatabasePlace,
  rows: number,
): Promise<void> {
  // The new place has its own seal file, so that the old one stays valid if the move fails.
  rmSync(sealFileIn(folder).path, { force: true });
  const sealText = sealFileIn(directory).read();
  if (sealText !== undefined) createFile(sealFileIn(folder).path, sealText, 0o600);
  const { records, acts, sealing, close } = await openRecords(folder, { held: true, siteKey, now, place });
  try {
    await acts.do(enterMove, actor, { from: nameOf(plan.from), to: nameOf(plan.to), rows });
    const { problems } = await verifyAudit(records, { siteKey, file: sealing.file });
    if (problems.length > 0) throw new Error(`the audit log is not intact at its new place: ${problems[0]!}`);
  } finally {
    await close();
  }
  if ('file' in place) checkpointLog(place.file, { nativeBinding: nativeBinding() });
}

/** Puts the new database file into its place. A leftover file there is renamed, not removed. */
function placeFile(from: string, to: string, now: Now): void {
  if (existsSync(to)) {
    checkpointLog(to, { nativeBinding: nativeBinding() });
    renameFile(to, asideOf(to, 'left', now));
  }
  syncPath(from);
  renameFile(from, to);
}

/** Removes the copy of a failed move. */
export async function abandon(
  directory: string,
  plan: RecordsMovePlan,
  credentials: string | undefined,
): Promise<void> {
  const to = recordsPlace(directory, { records: plan.to }, credentials);
  if (!('file' in to)) await removeRecordsCopy(to, plan.attempt);
  rmSync(join(directory, work), { recursive: true, force: true });
}

/** Moves the old records out of the way when the new ones count, and ends the move. Returns where they are now. May be called again. */
export async function endMove({
  directory,
  plan,
  credentials,
  now,
}: Pick<RecordsMoveOptions, 'directory' | 'plan' | 'credentials' | 'now'>): Promise<string> {
  const at = (records: RecordsConfig): DatabasePlace => recordsPlace(directory, { records }, credentials);
  const [from, to] = [at(plan.from), at(plan.to)];
  const aside = 'file' in from ? putFileAside(from.file, now) : await putTablesAside(plan.from, from, now);
  if (!('file' in to)) await confirmRecordsCopy(to);
  rmSync(join(directory, work), { recursive: true, force: true });
  syncPath(directory);
  return aside;
}

function putFileAside(file: string, now: Now): string {
  const aside = asideOf(file, 'moved', now);
  if (!existsSync(file)) return `${file}.moved-*`;
  checkpointLog(file, { nativeBinding: nativeBinding() });
  renameFile(file, aside);
  return aside;
}

async function putTablesAside(
  records: RecordsConfig,
  place: Exclude<DatabasePlace, { file: string }>,
  now: Now,
): Promise<string> {
  const schema = `larder_moved_${stamp(now)}`.toLowerCase();
  const isDone = await moveTablesAside(place, schema);
  return isDone ? `the schema ${schema} of ${nameOf(records)}` : nameOf(records);
}

const asideOf = (file: string, state: 'left' | 'moved', now: Now): string => `${file}.${state}-${stamp(now)}`;

const stamp = (now: Now): string => timestamp(now()).replaceAll(/[-:]|\.\d+/g, '');

/** Returns where records are, in words for a person. */
export const nameOf = ({ postgres }: RecordsConfig): string =>
  postgres === undefined ? 'larder.db' : describeAddressText(postgres);
