// Receives transfers and makes requests for people at pages, with the commands of the host.
import { randomUUID } from '#domain/cryptography.ts';
import { statSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { hours, type Now } from '#domain/clock.ts';
import { makeFolder } from '#files/durable.ts';
import { listNames } from '#files/read.ts';
import type { Actor } from '#acts/act.ts';
import type { ReceivedTransferPart, TransferCommands, TransferReport } from '#http/transfer-desk.ts';
import type { StoreRecords } from '#records/index.ts';
import { scriptDigest } from '#transfers/request/fetch-table.ts';
import type { SiteRequestContent } from '#transfers/request/request-content.ts';
import { toRequestReport } from '#transfers/request/request-report.ts';
import type { PageCommands } from './page-commands.ts';
import { withinWait } from './within-wait.ts';

interface TransferCommandParts {
  directory: string;
  now: Now;
  records: Pick<StoreRecords, 'audit'>;
}

export const createTransferCommands = (
  { runOnce, runShared }: PageCommands,
  { directory, now, records }: TransferCommandParts,
): TransferCommands => ({
  receiveUploads: (uploads, actor) =>
    runShared<ReceivedTransferPart>(['transfer', 'receive', ...uploads.flatMap((id) => ['--upload', id])], actor),
  previewRequest: createRequestPreview(async (actor) => {
    const argv = ['transfer', 'request', '.', '--dry-run'];
    const { request } = await runShared<{ request: SiteRequestContent }>(argv, actor);
    return toRequestReport(request, scriptDigest());
  }, records),
  makeRequest: (actor) =>
    withRequestFolder({ directory, now }, async (folder) => {
      const { file } = await runOnce<{ file: string }>(['transfer', 'request', folder, '--yes'], actor);
      return { name: basename(file), bytes: await readFile(file) };
    }),
});

/** A page shows itself within this time, and the preview as soon as it is ready. */
const previewWaitMs = 100;

/** Keeps the last preview until the store changes, because it takes a scan of all released packages. */
function createRequestPreview(
  prepare: (actor: Actor) => Promise<TransferReport>,
  { audit }: Pick<StoreRecords, 'audit'>,
): TransferCommands['previewRequest'] {
  let last: { seq: number | undefined; report: Promise<TransferReport> } | undefined;
  return async (actor, { continues }) => {
    const seq = (await audit.head())?.seq;
    // A page that waits gets the preview for which it waits, even if the store changes all the time.
    if (last === undefined || (last.seq !== seq && !continues)) {
      last = { seq, report: prepare(actor) };
      last.report.catch(() => undefined);
    }
    try {
      return await withinWait(last.report, previewWaitMs);
    } catch (error) {
      last = undefined;
      throw error;
    }
  };
}

/** Gives a folder for the file of a request, and removes it afterwards. */
async function withRequestFolder<Result>(
  { directory, now }: { directory: string; now: Now },
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const all = join(directory, 'transfers', 'requests');
  // A killed process may have left its folder.
  for (const name of listNames(all)) await removeOld(join(all, name), now);
  const folder = join(all, randomUUID());
  makeFolder(folder);
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes a folder that is older than an hour. Another process of the store may use a newer one. */
async function removeOld(folder: string, now: Now): Promise<void> {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats !== undefined && now().getTime() - stats.mtimeMs > hours(1))
    await rm(folder, { recursive: true, force: true });
}
