// Examines the configuration, and settings that depend on each other.
import { join } from 'node:path';

import { ConfigError, missingForExchange, readConfig } from '#configuration/config.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import { describeFault } from '#platform/faults.ts';
import { findingOfFaults, well, wrong, type Examination } from './examination.ts';
import { accessTo, invalidConfiguration } from './opening-fault.ts';

export const configuration: Examination = {
  subject: 'Configuration',
  look({ data }) {
    try {
      const { http } = readConfig(join(data, 'larder.toml'));
      return well(`larder.toml is good; clients use ${http.base_url}`);
    } catch (error) {
      // Another examination reports the owner of an unreadable file.
      const isFault = error instanceof ConfigError && accessTo(join(data, 'larder.toml')) === 'given';
      return isFault ? findingOfFaults([invalidConfiguration(error)], '') : wrong(inOneSentence(error, { data }));
    }
  },
};

export const administrator: Examination = {
  subject: 'Administrator',
  async look({ config, store }) {
    const settings = config();
    const missing = missingForExchange(settings);
    if (missing === undefined) return well('store.offline_mode is off, so no credential is exchanged');
    if (missing.length > 0) {
      return findingOfFaults([describeFault('administrator-credential', { missing })], '');
    }
    const id = settings.auth.store_admin_id!;
    const account = await (await store()).records.accounts.find(id);
    return account === undefined
      ? wrong(
          `auth.store_admin_id names '${id}', and there is no such account`,
          "'larder account list' lists the accounts; 'larder admin-macaroon --account ID' makes a credential for one.",
        )
      : well(`the store administrator's credential is exchanged for ${account.username}`);
  },
};
