// larder site init
import { check } from '#api/schema.ts';
import { fingerprintOf, identityOf, makeSite } from '#transfers/site.ts';
import { Refusal } from '#domain/refusal.ts';
import { command, UsageError } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';

export const siteInit = command({
  name: 'site init',
  summary: 'Give this site a name and a key, so that other sites can believe the transfers that are made here.',
  description:
    'The name stands in everything that the site signs, and stays. The key is kept in the records under the site key, and is in ' +
    "every backup of them. What others are given to believe it is written by 'larder site show --export FILE'.",
  positionals: [{ name: 'name', summary: 'Lower-case letters, digits and hyphens, such as depot-north.' }],
  examples: ['larder site init depot-north'],

  run: ({ positionals: { name }, data, world }) => {
    refuseName(name);
    return withStore({ data, world }, async ({ acts, person, siteKey }) => {
      const site = await makeSite(name, siteKey, acts, person);
      const [fingerprint = ''] = fingerprintOf([site.seed.publicKey]);
      return {
        text: `This site is called ${name} now. Its key has the fingerprint ${fingerprint}.`,
        json: { ...identityOf(site), fingerprints: [fingerprint] },
      };
    });
  },
});

/** Refuses what is no name of a site. */
export function refuseName(name: string): void {
  try {
    check('SiteName', name);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new UsageError(`'${name}' is no name of a site: it has lower-case letters, digits and hyphens, 63 at most`);
  }
}
