// larder transfer watch
import { dirname, resolve } from 'node:path';

import { itself } from '#acts/act.ts';
import { credentialsOf, reviewsOf } from '#appliance/taking-in.ts';
import { readTrusted } from '#assertions/trusted.ts';
import { withBlobs, type Kept } from '#data/blobs.ts';
import type { Reviewer } from '#review/reviewer.ts';
import { keepHeapSmall } from '#src/small-heap.ts';
import { acceptAutomatically } from '#transfers/automatic.ts';
import type { OpenPart } from '#transfers/form/read.ts';
import { receive } from '#transfers/receive.ts';
import { siteOf } from '#transfers/site.ts';
import { takeWhole, type TakenFiles } from '#transfers/watched.ts';
import { filesIn } from '#transfers/watching.ts';
import { command, Failure, UsageError } from '../frame/command.ts';
import { interruptible } from '../frame/interruption.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { visible } from '../frame/terminal.ts';
import { withReviewer } from '../package/reviewer.ts';

export const transferWatch = command({
  name: 'transfer watch',
  summary: 'Take in what lies in the watched folder as a whole, once.',
  description:
    'The store that serves does so by itself every half minute, with this command, where [transfers] watch in larder.toml names a ' +
    'folder. What may come in without people is let in; the audit log names the store itself, as for everything that comes by ' +
    'that folder. The files stay.',
  positionals: [
    { name: 'files', value: 'FILE', summary: 'Files of that folder; otherwise all that are there.', repeated: true },
  ],
  options: {},
  examples: ['larder transfer watch', 'larder transfer watch /srv/transfers/in.1of2.tar /srv/transfers/in.2of2.tar'],

  run: ({ positionals: { files: named }, data, world }) =>
    withStore({ data, world }, async (store) => {
      const { watch: folder } = store.config.transfers;
      if (folder === undefined)
        throw new Failure('no folder is watched; [transfers] watch in larder.toml names one', { code: 'not-watched' });
      const strange = named.find((file) => dirname(resolve(file)) !== resolve(folder));
      if (strange !== undefined) throw new UsageError(`${strange} does not lie in ${folder}, which is watched`);
      const files = named.length > 0 ? named.map((file) => resolve(file)) : [...(await filesIn(folder)).keys()];
      keepHeapSmall();
      const found = await interruptible((signal) =>
        withReviewer((reviewer) =>
          withBlobs(store, (kept) =>
            takeWhole(files, { take: (parts) => takeIn(parts, store, { ...kept, reviewer, signal }), signal }),
          ),
        ),
      );
      return { text: inWords(found), json: found, exitCode: found.fault === null ? 0 : 1 };
    }),
});

/** Receives the parts of one transfer, and accepts it if no approval is needed. */
async function takeIn(
  parts: readonly OpenPart[],
  store: OpenStore,
  { blobs, digests, reviewer, signal }: Pick<Kept, 'blobs' | 'digests'> & { reviewer: Reviewer; signal: AbortSignal },
): Promise<void> {
  const { records, acts, newId, directory, siteKey, now, config } = store;
  const here = { site: (await siteOf(records, siteKey))?.name, labels: config.site };
  const doing = { records, acts, by: itself, blobs, now, directory, ...here };
  const { id } = await receive(parts, {
    ...doing,
    ...{ digests, newId, signal, media: undefined, largest: config.uploads.max_size },
    credentialFor: credentialsOf(store),
    findingsOf: reviewsOf({ blobs, digests, reviewer, newId }),
    progress: () => undefined,
  });
  await acceptAutomatically(id, { ...doing, roots: readTrusted(config.assertions.trusted) });
}

function inWords({ taken, files, fault }: TakenFiles): string {
  const refused = files.flatMap(({ file, why }) =>
    why === null ? [] : `${visible(file)} was not taken in: ${visible(why)}`,
  );
  return [
    `${String(taken)} ${taken === 1 ? 'transfer was' : 'transfers were'} taken in.`,
    ...refused,
    ...(fault === null ? [] : [`It did not go on: ${visible(fault)}`]),
  ].join('\n');
}
