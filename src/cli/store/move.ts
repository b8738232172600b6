// larder move
import { formatCount } from '#domain/quantities.ts';
import { readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { move as enterMove } from '#acts/store/appliance.ts';
import { abandon, endMove, hasSwitched, moveRecords, nameOf, planIn, type RecordsMovePlan } from '#data/move.ts';
import { CorruptBlobError, moveBlobs, nameOfBlobs } from '#data/move-blobs.ts';
import { DataDirectoryInUse, lockDirectory } from '#data/lock.ts';
import { recordsPlace } from '#data/records-place.ts';
import { openStore, type StoreHandle } from '#data/store.ts';
import { randomIds } from '#domain/ids.ts';
import { inspectDatabase } from '#engine/place.ts';
import { prepareFile } from '#files/durable.ts';
import { verifyAudit } from '#records/audit/audit-verdict.ts';
import { createLivenessCheck, processName } from '#shared/processes.ts';
import { parseConfig, readConfig, type Config } from '#configuration/config.ts';
import { nativeBinding } from '#platform/native.ts';
import { keepHeapSmall } from '#platform/small-heap.ts';
import { command, dataInUse, Failure, type CommandResult, type World } from '../frame/command.ts';
import { interruptible } from '../frame/interruption.ts';
import { becomeOwner, howToServe } from '../frame/owner.ts';
import { toReadFailure } from '../frame/outside-files.ts';
import { createProgress, type ProgressReporter } from '../frame/progress.ts';
import { actorOf, reportWaiting } from '../frame/store.ts';
import { requireEmpty, explainNotEmpty } from '../backups/records-server.ts';
import { requireRoomFor } from '../backups/workspace.ts';

export const move = command({
  name: 'move',
  summary: 'Move a stopped store to a PostgreSQL server or a bucket, or back to one host.',
  description:
    'FILE is the new configuration of the store: a copy of larder.toml with another [records] or [blobs], or ' +
    'without them. The command copies all blobs and verifies them against their digests, copies those in ' +
    'quarantine as they are, copies all records, reads them back and counts them, and verifies the audit log at ' +
    'its new place. Only then FILE replaces larder.toml. Until then the store does not change, and you can run ' +
    'the command again. The old records are moved aside. Old blobs and keys stay where they are. First stop ' +
    'every larder that serves the store.',
  options: {
    to: { type: 'string', value: 'FILE', required: true, summary: 'The new configuration of the store.' },
  },
  examples: ['larder move --to /etc/larder/on-postgres.toml', 'larder move --to ./in-a-file.toml --data ./data'],

  async run(call) {
    const { data, world } = call;
    const actor = actorOf(world);
    const file = resolve(call.options.to);
    const text = textOf(file);
    const target = parseConfig(file, text);
    becomeOwner(data);
    keepHeapSmall();
    const lock = lockOf(data);
    const progress = createProgress(call);
    try {
      const context: StoreMoveContext = {
        data,
        actor,
        world,
        credentials: world.env['CREDENTIALS_DIRECTORY'],
        progress,
      };
      await finishEarlierMove(context);
      const current = readConfig(join(data, 'larder.toml'));
      refuseOthers(file, current, target);
      const [records, blobs] = (['records', 'blobs'] as const).map((of) => !isDeepStrictEqual(current[of], target[of]));
      if (!records && !blobs) return alreadyMovedResult(nameOf(target.records));
      return await interruptible(async (signal) => {
        const moving: StoreMoveTarget = { current, target, text, signal };
        const carried = blobs ? await copyBlobs(context, moving, !records) : undefined;
        const answer = records ? await moveRecordsTo(context, moving) : undefined;
        return together(carried, answer);
      });
    } finally {
      progress.end();
      lock.close();
    }
  },
});

interface StoreMoveContext {
  data: string;
  actor: string;
  world: World;
  credentials: string | undefined;
  progress: ProgressReporter;
}

interface StoreMoveTarget {
  current: Config;
  target: Config;
  text: string;
  signal: AbortSignal;
}

/** Copies the blobs; if the records stay, also replaces the configuration. */
async function copyBlobs(
  { data, actor, world, credentials, progress }: StoreMoveContext,
  { current, target, text, signal }: StoreMoveTarget,
  alone: boolean,
): Promise<CommandResult> {
  const [from, to] = [nameOfBlobs(current.blobs), nameOfBlobs(target.blobs)];
  const store = await openStore({ directory: data, credentials, held: true, waits: reportWaiting(world) });
  try {
    await refuseServed(store);
    const {
      blobs,
      bytes,
      alreadyPresent: presentCount,
      quarantined,
      unread,
    } = await moveBlobs(store, target.blobs, (done, total) => {
      progress.at('blobs', done, total);
      signal.throwIfAborted();
    });
    if (alone) {
      await store.acts.do(enterMove, { actor }, { from, to, blobs, bytes });
      prepareFile(realpathSync(join(data, 'larder.toml')), text, 0o600).place();
    }
    progress.end();
    return {
      text:
        `The blobs are in ${to}: ${String(blobs)} of ${String(bytes)} bytes, each held against its digest, ${String(presentCount)} of them there before.\n` +
        (quarantined > 0 ? `Blobs in quarantine were copied as they are: ${formatCount(quarantined, 'blob')}.\n` : '') +
        (unread > 0 ? `${formatCount(unread, 'blob', 'blobs')} in quarantine cannot be read, and stayed.\n` : '') +
        `Those in ${from} are still there; remove them when the store has served for a while and 'larder verify' is content.`,
      json: { 'blobs-from': from, 'blobs-to': to, blobs, bytes, quarantined, unread },
    };
  } catch (error) {
    throw error instanceof CorruptBlobError
      ? new Failure(`${error.message}. Nothing was moved`, { code: 'blob-damaged' })
      : error;
  } finally {
    await store.close();
  }
}

const together = (first: CommandResult | undefined, second: CommandResult | undefined): CommandResult => {
  const both = [first, second].filter((answer) => answer !== undefined);
  return {
    text: both.map(({ text }) => text).join('\n'),
    json: Object.assign({}, ...both.map(({ json }) => json)) as object,
  };
};

async function moveRecordsTo(
  context: StoreMoveContext,
  { current, target, text, signal }: StoreMoveTarget,
): Promise<CommandResult> {
  const { data, actor, credentials, progress } = context;
  const plan = await planFor(context, current, target);
  const to = recordsPlace(data, target, credentials, reportWaiting(context.world));
  if (!('file' in to)) await requireEmpty(to, plan.attempt);
  const { siteKey, size } = await verifyRecords(context);
  // The file also needs room for the digests of all rows.
  if ('file' in to) requireRoomFor(data, 2 * size);
  const moved = await moveRecords({
    directory: data,
    plan,
    configuration: text,
    credentials,
    siteKey,
    actor: { actor },
    now: () => new Date(),
    progress: (rows) => {
      progress.at('records', rows, 0);
      signal.throwIfAborted();
    },
  }).catch((error: unknown) => {
    throw explainNotEmpty(error);
  });
  progress.end();
  const place = nameOf(target.records);
  return {
    text:
      `The records are in ${place}: ${formatCount(moved.rows, 'row')}, each read back as it was written, and the audit log is intact.\n` +
      `${howToServe(data)} serves the store from there. As they were before they are in ${moved.aside}; remove that when the ` +
      'store has served for a while and a backup of it is made.',
    json: { data, from: nameOf(current.records), to: place, rows: moved.rows, 'kept-aside': moved.aside },
  };
}

/** The unfinished plan of an earlier call for the same move; removes the remains of a different move. */
async function planFor(
  { data, credentials }: StoreMoveContext,
  { records: from }: Config,
  { records: to }: Config,
): Promise<RecordsMovePlan> {
  const left = planIn(data);
  if (left !== undefined && isDeepStrictEqual([left.from, left.to], [{ ...from }, { ...to }])) return left;
  if (left !== undefined) await abandon(data, left, credentials);
  return { attempt: randomIds.uuid(), from: { ...from }, to: { ...to } };
}

/** Finishes an earlier move, if the configuration already names the new place. */
async function finishEarlierMove({ data, credentials }: StoreMoveContext): Promise<void> {
  const plan = planIn(data);
  if (plan === undefined) return;
  const current = readConfig(join(data, 'larder.toml'));
  if (hasSwitched(plan, current)) await endMove({ directory: data, plan, credentials, now: () => new Date() });
}

/** Checks that the records are intact and that no process serves them, so that no corruption is moved; returns their size. */
async function verifyRecords({
  data,
  world,
  credentials,
}: StoreMoveContext): Promise<{ siteKey: Buffer; size: number }> {
  const store = await openStore({ directory: data, credentials, held: true, waits: reportWaiting(world) });
  try {
    await refuseServed(store);
    const { problems } = await verifyAudit(store.records, { siteKey: store.siteKey, file: store.sealing.file });
    const { pages, rows } = await inspectDatabase(store.database.place, { nativeBinding: nativeBinding() });
    const allProblems = [...pages, ...rows, ...problems];
    if (allProblems.length === 0) return { siteKey: store.siteKey, size: (await store.database.size()).bytes };
    throw new Failure(`the records are not whole: ${allProblems[0]!}; 'larder verify' tells more. Nothing was moved`, {
      code: 'database-damaged',
    });
  } finally {
    await store.close();
  }
}

async function refuseServed({ records, now }: StoreHandle): Promise<void> {
  const own = processName();
  const holders = (await records.leases.holders()).filter((holder) => !holder.startsWith(own));
  const goesOn = await createLivenessCheck(records, holders, now);
  if (!holders.some(goesOn)) return;
  throw new Failure('another larder serves the store; stop it on every host first', {
    exitCode: 3,
    code: 'data-in-use',
  });
}

/** Refuses changes of other sections: a move changes only where the store is. */
function refuseOthers(file: string, current: Config, target: Config): void {
  for (const section of Object.keys(current) as (keyof Config)[]) {
    if (section === 'records' || section === 'blobs' || isDeepStrictEqual(current[section], target[section])) continue;
    throw new Failure(
      `${file} says something else in [${section}] than larder.toml; a move changes [records] and [blobs] alone, so change the rest before or afterwards`,
      { code: 'other-changes' },
    );
  }
}

const alreadyMovedResult = (place: string): CommandResult => ({
  text: `The records are in ${place} already; nothing is to be moved.`,
  json: { to: place, rows: 0 },
});

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw toReadFailure(file, error);
  }
}

function lockOf(data: string): { close(): unknown } {
  try {
    return lockDirectory(data);
  } catch (error) {
    throw error instanceof DataDirectoryInUse ? dataInUse(data) : error;
  }
}
