// larder site show
import { resolve } from 'node:path';

import { createFile } from '#files/durable.ts';
import { fingerprintOf, identityOf, siteOf } from '#transfers/site.ts';
import { command } from '../frame/command.ts';
import { writing } from '../frame/outside.ts';
import { withStore } from '../frame/store.ts';

export const siteShow = command({
  name: 'site show',
  summary: 'Show what this site is called, its key, and the sources that it believes.',
  options: {
    export: { type: 'string', value: 'FILE', summary: 'Write there what other sites are given to believe this one.' },
  },
  examples: ['larder site show', 'larder site show --export depot-north.json'],

  run: (call) =>
    withStore(
      call,
      async ({ records, siteKey, asCaller }) => {
        const site = await siteOf(records, siteKey);
        const sources = await records.transferSources.list();
        const file = call.options.export;
        const own =
          site === undefined
            ? "This site has no name; 'larder site init NAME' gives it one."
            : `This site is called ${site.name}. Its key has the fingerprint ${fingerprintOf([site.seed.publicKey]).join()}.`;
        if (file !== undefined && site !== undefined) {
          const text = `${JSON.stringify(identityOf(site), null, 2)}\n`;
          await writing(resolve(file), () =>
            asCaller(async () => {
              createFile(resolve(file), text, 0o644);
            }),
          );
        }
        const told = sources.map(
          ({ name, keys, threshold, packages, mayRelease, floor }) =>
            `${name}: ${String(threshold)} of ${fingerprintOf(keys).join(', ')}; may bring ${packages.join(', ')}` +
            `${mayRelease ? '' : ', and release nothing'}; the last that was let in is number ${String(floor)}`,
        );
        const believes =
          told.length === 0 ? ['It believes no source.'] : ['It believes:', ...told.map((one) => `  ${one}`)];
        return {
          text: [own, ...believes].join('\n'),
          json: {
            site:
              site === undefined ? null : { ...identityOf(site), fingerprints: fingerprintOf([site.seed.publicKey]) },
            sources: sources.map(({ addedAt, addedBy, mayRelease, ...one }) => ({
              ...one,
              fingerprints: fingerprintOf(one.keys),
              'may-release': mayRelease,
              'added-at': addedAt,
              'added-by': addedBy,
            })),
          },
        };
      },
      { writesOutside: true },
    ),
});
