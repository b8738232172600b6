// Receives transfers and makes requests for people at pages, with the commands of the host.
import { randomUUID } from '#domain/cryptography.ts';
import { statSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { hours, type Now } from '#domain/clock.ts';
import { makeFolder } from '#files/durable.ts';
import { listNames } from '#files/read.ts';
import type { ReceivedTransferPart, TransferCommands } from '#http/transfer-desk.ts';
import { scriptDigest } from '#transfers/request/fetch-table.ts';
import type { SiteRequestContent } from '#transfers/request/request-content.ts';
import { toRequestReport } from '#transfers/request/request-report.ts';
import type { PageCommands } from './page-commands.ts';

export const createTransferCommands = (
  { runOnce, runShared }: PageCommands,
  { directory, now }: { directory: string; now: Now },
): TransferCommands => ({
  receiveUploads: (uploads, actor) =>
    runShared<ReceivedTransferPart>(['transfer', 'receive', ...uploads.flatMap((id) => ['--upload', id])], actor),
  async previewRequest(actor) {
    const argv = ['transfer', 'request', '.', '--dry-run'];
    const { request } = await runShared<{ request: SiteRequestContent }>(argv, actor);
    return toRequestReport(request, scriptDigest());
  },
  makeRequest: (actor) =>
    withRequestFolder({ directory, now }, async (folder) => {
      const { file } = await runOnce<{ file: string }>(['transfer', 'request', folder, '--yes'], actor);
      return { name: basename(file), bytes: await readFile(file) };
    }),
});

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
