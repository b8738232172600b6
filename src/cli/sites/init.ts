// larder site init
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { checkShape } from '#contract/schema.ts';
import { makeCollector } from '#transfers/make/collector.ts';
import { fingerprintOf, identityOf, makeSite } from '#transfers/site.ts';
import { Refusal } from '#domain/refusal.ts';
import { describeKeyPlace, siteKeysOf } from '../keys/find-keys.ts';
import { command, Failure, UsageError, type CommandResult, type CommandCall } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { collectorFolder } from './collector.ts';

export const siteInit = command({
  name: 'site init',
  summary: 'Give this site a name and a key, so that other sites can trust the transfers that are made here.',
  description:
    'The name is part of everything that the site signs, and cannot be changed. The key is stored in the ' +
    "records, encrypted with the site key, and is part of every backup. 'larder site show --export FILE' writes " +
    'the file that other sites need to trust this one.',
  positionals: [{ name: 'name', summary: 'Lower-case letters, digits and hyphens, such as depot-north.' }],
  options: {
    collector: {
      type: 'boolean',
      summary:
        'Make a collector of this machine instead. A collector gathers packages for sites and has no store. Its ' +
        'folder is --data, or ~/.local/share/larder-collector.',
    },
    'in-manager': {
      type: 'string',
      value: 'KEY',
      summary: 'Use the ECDSA P-384 key that has this name in the key manager. Default: make a key in this store.',
    },
  },
  examples: [
    'larder site init depot-north',
    'larder site init online-desk --collector',
    'larder site init depot-north --in-manager site',
  ],

  run: ({ positionals: { name }, options, data, world }) => {
    refuseName(name);
    const managerKey = options['in-manager'];
    if (options.collector) {
      if (managerKey !== undefined) throw new UsageError('the key of a collector is a file: leave out --in-manager');
      return madeCollector(name, { data, world });
    }
    return withStore({ data, world }, async (store) => {
      const site = await makeSite(name, { ...siteKeysOf(store, world), managerKey }, store.acts, store.person);
      const [fingerprint = ''] = fingerprintOf([site.key.publicKey]);
      return {
        text: `This site is called ${name} now. Its key has the fingerprint ${fingerprint}${managerKey === undefined ? '' : `, and is ${describeKeyPlace(managerKey)}`}.`,
        json: { ...identityOf(site), fingerprints: [fingerprint] },
      };
    });
  },
});

/** Creates a collector. Its key is not encrypted, like the site key of a store: a user who can read the folder can sign. */
function madeCollector(name: string, where: Pick<CommandCall, 'data' | 'world'>): CommandResult {
  const folder = collectorFolder(where);
  if (existsSync(join(folder, 'larder.toml')))
    throw new Failure(`${folder} is the data directory of a store; name another folder for the collector, by --data`);
  const { site } = makeCollector(folder, name);
  const [fingerprint = ''] = fingerprintOf([site.key.publicKey]);
  return {
    text:
      `The collector ${name} is in ${folder}. Its key has the fingerprint ${fingerprint}; ` +
      'it is not encrypted: every user who can read that folder can sign as this collector.',
    json: { ...identityOf(site), fingerprints: [fingerprint], folder },
  };
}

/** Refuses an invalid site name. */
export function refuseName(name: string): void {
  try {
    checkShape('SiteName', name);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new UsageError(`'${name}' is not the name of a site: use at most 63 lower-case letters, digits and hyphens`);
  }
}
