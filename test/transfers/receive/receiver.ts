// Receives at a site within the process of the test, which controls the reads of the stick.
import type { Test } from 'tap';

import { withBlobs } from '#data/blobs.ts';
import { openStore } from '#data/store.ts';
import { openPart, type OpenPart } from '#transfers/parts/open-part.ts';
import { receive, type TransferReceiveContext } from '#transfers/receive/receive.ts';
import type { SiteUnderTest } from '#test/transfers/sites.ts';

/** Receives at a site within this process; returns the result. */
export async function receiver(
  t: Test,
  { data }: SiteUnderTest,
  findingsOf: TransferReceiveContext['findingsOf'] = () => Promise.resolve({ refused: 'It is not looked at here.' }),
) {
  const store = await openStore({ directory: data });
  t.teardown(store.close);
  const { records, acts, config, directory, newId, now } = store;
  const reviewed: Pick<TransferReceiveContext, 'findingsOf' | 'imageBillOf' | 'credentialFor'> = {
    findingsOf,
    imageBillOf: () => Promise.reject(new Error('nothing here has images')),
    credentialFor: () => Promise.reject(new Error('nothing here has images')),
  };
  const attempt = (
    files: readonly string[],
    pulled: (part: OpenPart) => OpenPart = (part) => part,
    watched: (blobs: TransferReceiveContext['blobs']) => Partial<TransferReceiveContext['blobs']> = () => ({}),
  ) =>
    withBlobs(store, async ({ blobs, digests }) => {
      const parts = [];
      try {
        for (const file of files) parts.push(pulled(await openPart(file)));
        const doing = {
          records,
          acts,
          actor: { actor: 'cli:ada' },
          blobs: { ...blobs, ...watched(blobs) },
          digests,
          newId,
          site: 'site-a',
          labels: config.site,
          directory,
          now,
        };
        return await receive(parts, {
          ...doing,
          ...reviewed,
          largest: config.uploads.max_size,
          signal: new AbortController().signal,
          media: undefined,
          progress: () => undefined,
        });
      } finally {
        await Promise.all(parts.map((part) => part.close()));
      }
    });
  return { store, attempt };
}
