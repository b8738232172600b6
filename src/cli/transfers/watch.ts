// larder transfer watch
import { dirname, resolve } from 'node:path';

import { itself } from '#acts/act.ts';
import { toChunks } from '#blobs/blobs.ts';
import { withBlobs } from '#data/blobs.ts';
import { importStoredFeed, receiveFeed, type FeedImportContext } from '#jobs/vulnerabilities/import-feed.ts';
import { keepHeapSmall } from '#platform/small-heap.ts';
import type { OpenPart } from '#transfers/parts/open-part.ts';
import { receive } from '#transfers/receive/receive.ts';
import { receiveComplete, type WatchedFilesResult } from '#transfers/receive/watched-files.ts';
import { filesIn } from '#transfers/receive/watch-folder.ts';
import { command, Failure, UsageError } from '../frame/command.ts';
import { interruptible } from '../frame/interruption.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { visible } from '../frame/terminal.ts';
import { withReviewer } from '../uploads/reviewer.ts';
import { piecesOf, withSentFile } from '../uploads/sent-file.ts';
import { acceptIfAutomatic, receptionContextOf, type ReceptionMeans } from './reception.ts';

export const transferWatch = command({
  name: 'transfer watch',
  summary: 'Receive the complete transfers and the feeds in the watched folder, once.',
  description:
    'If [transfers] watch in larder.toml names a folder, the server does this by itself every half minute. ' +
    'Transfers that need no decision are accepted, and feeds of advisories are imported; the audit log names the ' +
    'store itself as the actor. The files stay.',
  positionals: [{ name: 'files', value: 'FILE', summary: 'Files in that folder. Default: all.', repeated: true }],
  options: {},
  examples: ['larder transfer watch', 'larder transfer watch /srv/transfers/in.1of2.tar /srv/transfers/in.2of2.tar'],

  run: ({ positionals: { files: paths }, data, world }) =>
    withStore({ data, world }, async (store) => {
      const { watch: folder } = store.config.transfers;
      if (folder === undefined)
        throw new Failure('no folder is watched; [transfers] watch in larder.toml names one', { code: 'not-watched' });
      const strange = paths.find((file) => dirname(resolve(file)) !== resolve(folder));
      if (strange !== undefined) throw new UsageError(`${strange} does not lie in ${folder}, which is watched`);
      const files = paths.length > 0 ? paths.map((file) => resolve(file)) : [...(await filesIn(folder)).keys()];
      keepHeapSmall();
      const outcome = await interruptible((signal) =>
        withReviewer((reviewer) =>
          withBlobs(store, (blobAccess) =>
            receiveComplete(files, {
              take: (parts) => receiveWatched(parts, store, { ...blobAccess, reviewer, signal }),
              takeFeed: (file) => importWatched(file, { ...store, blobs: blobAccess.blobs, signal }),
              signal,
            }),
          ),
        ),
      );
      return { text: inWords(outcome), json: outcome, exitCode: outcome.fault === null ? 0 : 1 };
    }),
});

/** Receives the parts of one transfer, and accepts it if no approval is needed. */
async function receiveWatched(parts: readonly OpenPart[], store: OpenStore, means: ReceptionMeans): Promise<void> {
  const context = await receptionContextOf(store, means);
  const { id } = await receive(parts, { ...context, actor: itself, media: undefined, progress: () => undefined });
  await acceptIfAutomatic(id, { store, blobs: means.blobs, actor: itself });
}

/**
 * Imports a feed. The folder proves nothing about its sender: advisories may come from it, as far as the approval policy
 * allows, but statements that end findings need a person.
 */
const importWatched = (name: string, means: FeedImportContext): Promise<void> =>
  withSentFile(name, async (file) => {
    const content = toChunks(piecesOf(file, means.signal));
    const choices = { mayBeSmaller: false, skipsInvalid: false, acceptsStatements: false };
    const stored = await receiveFeed(means, { content, size: file.size });
    await importStoredFeed(means, stored, { actor: itself, ...choices });
  });

function inWords({ taken, feeds, files, fault }: WatchedFilesResult): string {
  const refused = files.flatMap(({ file, why: reason }) =>
    reason === null ? [] : `${visible(file)} was not received: ${visible(reason)}`,
  );
  return [
    `${String(taken)} ${taken === 1 ? 'transfer was' : 'transfers were'} received.`,
    ...(feeds === 0 ? [] : [`${String(feeds)} ${feeds === 1 ? 'feed was' : 'feeds were'} imported.`]),
    ...refused,
    ...(fault === null ? [] : [`It stopped: ${visible(fault)}`]),
  ].join('\n');
}
