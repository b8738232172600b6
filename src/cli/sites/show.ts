// larder site show
import { resolve } from 'node:path';

import { createFile } from '#files/durable.ts';
import { nextSequence, type Collector } from '#transfers/make/collector.ts';
import { fingerprintOf, identityOf, ownSite, siteOf, type Site } from '#transfers/site.ts';
import { formatCount } from '#domain/quantities.ts';
import { command, type CommandResult, type World } from '../frame/command.ts';
import { withWriteErrors } from '../frame/outside-files.ts';
import type { AsCaller } from '../frame/owner.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { describeKeyPlace, siteKeysOf } from '../keys/find-keys.ts';
import { findCollector } from './collector.ts';

export const siteShow = command({
  name: 'site show',
  summary: 'Show the name and key of this site, and the sources that it trusts.',
  options: {
    export: { type: 'string', value: 'FILE', summary: 'Write the file that other sites need to trust this one.' },
  },
  examples: ['larder site show', 'larder site show --export depot-north.json'],

  run(call) {
    const collector = findCollector(call);
    return collector === undefined
      ? withStore(call, (store) => showSite(store, call.options.export, call.world), { writesOutside: true })
      : showCollector(collector, call.options.export);
  },
});

async function showSite(store: OpenStore, file: string | undefined, world: World): Promise<CommandResult> {
  const { records, asCaller } = store;
  const keys = siteKeysOf(store, world);
  const site = file === undefined ? await siteOf(records, keys) : await ownSite(records, keys);
  const sources = await records.transferSources.list();
  const own =
    site === undefined
      ? "This site has no name; 'larder site init NAME' gives it one."
      : `This site is called ${aboutSite(site)}`;
  if (file !== undefined && site !== undefined) await exportIdentity(site, file, asCaller);
  const descriptions = sources.map(
    ({ name, keys, threshold, packages, mayRelease, floor, accept }) =>
      `${name}: ${String(threshold)} of ${fingerprintOf(keys).join(', ')}; may send ${packages.join(', ')}` +
      `${mayRelease ? '' : ', without releases'}${accept === 'automatic' ? '; its transfers are accepted automatically' : ''}; the last accepted transfer is number ${String(floor)}`,
  );
  const believes =
    descriptions.length === 0
      ? ['It trusts no source.']
      : ['It trusts:', ...descriptions.map((description) => `  ${description}`)];
  return {
    text: [own, ...believes].join('\n'),
    json: {
      site: site === undefined ? null : presentSite(site),
      sources: sources.map(({ addedAt, addedBy, mayRelease, ...source }) => ({
        ...source,
        fingerprints: fingerprintOf(source.keys),
        'may-release': mayRelease,
        'added-at': addedAt,
        'added-by': addedBy,
      })),
    },
  };
}

async function showCollector(collector: Collector, file: string | undefined): Promise<CommandResult> {
  const { site, folder } = collector;
  if (file !== undefined) await exportIdentity(site, file, async (work) => work());
  const made = nextSequence(collector) - 1;
  return {
    text: `This is a collector, called ${aboutSite(site)}\nIt is in ${folder}, and has made ${formatCount(made, 'transfer')}.`,
    json: { site: presentSite(site), sources: [], collector: { folder, 'last-made': made } },
  };
}

const aboutSite = ({ name, key, managerKey }: Site): string =>
  `${name}. Its key has the fingerprint ${fingerprintOf([key.publicKey]).join()}` +
  `${managerKey === undefined ? '' : `, and is ${describeKeyPlace(managerKey)}`}.`;

const presentSite = (site: Site) => ({
  ...identityOf(site),
  fingerprints: fingerprintOf([site.key.publicKey]),
  'manager-key': site.managerKey ?? null,
});

async function exportIdentity(site: Site, path: string, asCaller: AsCaller): Promise<void> {
  const file = resolve(path);
  const text = `${JSON.stringify(identityOf(site), null, 2)}\n`;
  await withWriteErrors(file, () =>
    asCaller(async () => {
      createFile(file, text, 0o644);
    }),
  );
}
