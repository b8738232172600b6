// The trials on a served store: kills, flipped bits in blobs, and backups.
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { callStore, ConnectionCut, downloadSnap, uploadContent } from './client.ts';
import { findLost, type Choose } from './publisher.ts';
import { countAttempt, countControl, type TrialTally } from './tally.ts';
import {
  examine,
  readVerdict,
  requireRunning,
  restart,
  takeServerErrors,
  underLoad,
  verifyData,
  type ProofContext,
  type TrialStore,
} from './trial-store.ts';

/** Kills the server while publishers work, and looks for each acknowledged change afterwards. */
export async function tryKill(context: ProofContext, store: TrialStore, tally: TrialTally): Promise<void> {
  const before = store.ledgers.map(({ acknowledged }) => acknowledged);
  await underLoad(context, store, async () => {
    // Each publisher has something to lose.
    while (store.ledgers.some(({ acknowledged }, at) => acknowledged < before[at]! + 3)) {
      context.signal.throwIfAborted();
      requireRunning(store);
      await sleep(5);
    }
    await sleep(context.choose(800));
    await store.server.kill();
  });
  const errors = takeServerErrors(store.ledgers).map((response) => `the store answered ${response}`);
  await restart(context, store);
  context.figures.readyMs.push(store.server.readyMs);
  countAttempt(tally, 'SIGKILL', [...errors, ...(await examine(context, store))]);
  await controlLoss(store, tally);
}

/** Deletes an acknowledged record: the check of the trial must report exactly this one. */
async function controlLoss({ client, ledgers }: TrialStore, tally: TrialTally): Promise<void> {
  const ledger = ledgers.find(({ names }) => names.size > 0);
  const name = ledger?.names.keys().next().value;
  if (ledger === undefined || name === undefined) return;
  const { status } = await callStore(client, 'DELETE', `/v1/bin/${name}`);
  const lost = await findLost(ledger, client);
  const isNoticed = status === 200 && lost.length === 1 && lost[0]!.includes(name);
  countControl(
    tally,
    `a name was deleted with status ${String(status)}, and the check reported: ${lost.join('; ')}`,
    isNoticed,
  );
  ledger.names.delete(name);
}

/** Returns a copy of bytes with a random bit flipped. */
export function flipBit(bytes: Buffer, choose: Choose): Buffer {
  const flipped = Buffer.from(bytes);
  const at = choose(bytes.length);
  flipped[at]! ^= 1 << choose(8);
  return flipped;
}

/** Flips a random bit of a file as a failing disk does, without a moment when the file is shorter. */
function flipBitInPlace(file: string, bytes: Buffer, choose: Choose): void {
  const handle = openSync(file, 'r+');
  const flipped = flipBit(bytes, choose);
  writeSync(handle, flipped, 0, flipped.length, 0);
  closeSync(handle);
}

/** Flips a bit in the blob of a released snap: its download must fail, and the examination must name it. */
export async function tryFlippedBlob(context: ProofContext, store: TrialStore, tally: TrialTally): Promise<void> {
  const { client, ledgers, data } = store;
  const snap = ledgers[0]!;
  const { body } = await callStore(client, 'GET', `/v1/snap/${snap.name}?fields=id`);
  const { id } = (body as { metadata: { id: string } }).metadata;
  const released = [...new Set(snap.channels.values())];
  const revision = released[context.choose(released.length)]!;
  const digest = snap.revisions.get(revision)!;
  const download = () => downloadSnap(client, `${id}_${String(revision)}.snap`);

  const intact = await download();
  const isIntact = intact.status === 200 && intact.digest === digest && (await readVerdict(context, data)).good;
  countControl(tally, `an intact blob was downloaded with status ${String(intact.status)} and found damaged`, isIntact);

  const file = join(data, 'blobs/sha3', digest.slice(0, 2), digest);
  const bytes = readFileSync(file);
  flipBitInPlace(file, bytes, context.choose);
  const problems: string[] = [];
  const served = await download().catch((error: unknown) => {
    if (error instanceof ConnectionCut) return undefined;
    throw error;
  });
  if (served !== undefined && served.status < 300) problems.push('the damaged file was served as a whole');
  const { blobs } = await readVerdict(context, data);
  const isNamed = blobs !== undefined && [...blobs.damaged, ...blobs.missing].includes(digest);
  if (!isNamed) problems.push(`verify does not name the blob ${digest}`);
  // The remedy: the same file is uploaded again.
  const { status } = await uploadContent(client, new Uint8Array(bytes));
  if (status !== 200) problems.push(`the intact file was refused with ${String(status)}`);
  const repaired = await download();
  if (repaired.digest !== digest) problems.push('the file is not repaired by uploading it again');
  problems.push(...(await verifyData(context, data)));
  countAttempt(tally, 'bit of a blob', problems);
}

export const removeFiles = (files: readonly string[]): void => {
  for (const file of files) rmSync(file, { force: true });
};
