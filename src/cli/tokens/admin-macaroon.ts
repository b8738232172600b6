// larder admin-macaroon
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { changeCredential } from '#acts/accounts/credentials.ts';
import { administratorDigest, newAdministratorCredential } from '#macaroons/administrator-credential.ts';
import { prepareConfig, type Config } from '#configuration/config.ts';
import { prepareFile, type PreparedFile } from '#files/durable.ts';
import { command, Failure, type CommandResult } from '../frame/command.ts';
import { withWriteErrors } from '../frame/outside-files.ts';
import { reloadServing } from '../frame/reload.ts';
import type { AsCaller } from '../frame/owner.ts';
import { findAccount, withStore, type OpenStore } from '../frame/store.ts';

export const adminMacaroon = command({
  name: 'admin-macaroon',
  summary: 'Make a new credential for the store administrator, instead of the old one or in addition.',
  description:
    'Clients such as snapcraft exchange the credential for a token (SNAPCRAFT_ADMIN_MACAROON). The store keeps only ' +
    'its digest, in the configuration, and a serving store notices a new one at the next request. Tokens that were ' +
    'issued before stay valid.',
  options: {
    account: {
      type: 'string',
      value: 'ID',
      summary: 'The account of the store administrator. Default: auth.store_admin_id of the configuration.',
    },
    add: { type: 'boolean', summary: 'Keep the existing credentials valid.' },
    file: {
      type: 'string',
      value: 'FILE',
      summary: 'The new file for the credential. Default: admin.macaroon in the data directory.',
    },
  },
  examples: ['larder admin-macaroon --json', 'larder admin-macaroon --add --file ./second.macaroon'],
  confirm: {
    question: ({ options: { add } }) =>
      add ? undefined : 'The present credentials of the store administrator become invalid; --add keeps them.',
    unattended: 'goes on',
  },

  run({ options, data, world }) {
    const configuration = join(data, 'larder.toml');
    const file = resolve(options.file ?? join(data, 'admin.macaroon'));
    if (options.file !== undefined && existsSync(file)) throw new Failure(`${file} is there already`);

    const work = async ({ directory, config, records, acts, person, asCaller }: OpenStore): Promise<CommandResult> => {
      const { store_admin_id: before, store_admin_macaroon_sha3_384: digests } = config.auth;
      const account = options.account ?? before ?? 'larder-admin';
      await findAccount(records, account);
      if (!(await records.accounts.isStoreAdministrator(account))) {
        throw new Failure(
          `${account} is not a store administrator; make it one with 'larder account role ${account} store-admin'`,
        );
      }
      const keptDigests = options.add ? [digests ?? []].flat() : [];
      if (keptDigests.length > 0 && account !== before) {
        throw new Failure(
          `with --add the old credentials, which are those of ${String(before)}, would be ${account}'s too`,
        );
      }

      const credential = newAdministratorCredential();
      const digest = administratorDigest(credential);
      const settings = prepareConfig(configuration, {
        'auth.store_admin_id': account,
        'auth.store_admin_macaroon_sha3_384': keptDigests.length === 0 ? digest : [...keptDigests, digest],
      });
      // The default file is in the data directory and gets its owner. A file given with --file belongs to the user who runs the command.
      const writeAs: AsCaller = options.file === undefined ? async (work) => work() : asCaller;
      let written: PreparedFile | undefined;
      try {
        written = await withWriteErrors(file, () => writeAs(() => prepareFile(file, `${credential}\n`, 0o600)));
        const fresh = written;
        // The records hold only the entry in the audit log, not the credential.
        await acts.do(changeCredential, person, { id: account, digest, added: options.add });
        settings.place();
        await writeAs(() => {
          fresh.place();
        });
      } finally {
        settings.discard();
        await writeAs(() => written?.discard());
      }
      const reload = await reloadServing(directory);
      return {
        text: [
          `The new credential of ${account} is in ${file}${options.add ? '' : '; every earlier one is void'}.`,
          'The store accepts it from the next request on.',
          ...notesOn(config, reload),
        ].join('\n'),
        json: {
          'account-id': account,
          'admin-macaroon-file': file,
          config: configuration,
          'credentials-in-force': keptDigests.length + 1,
          'reload-needed': false,
        },
      };
    };
    return withStore({ data, world }, work, { writesOutside: options.file !== undefined });
  },
});

/** Further sentences for the administrator: which hosts and settings the new credential does not reach. */
const notesOn = ({ store, records }: Config, reload: Awaited<ReturnType<typeof reloadServing>>): string[] => [
  ...(store.offline_mode ? [] : ['store.offline_mode is off: nothing is exchanged.']),
  ...(records.postgres === undefined
    ? []
    : ['Other hosts of this store read their own larder.toml: change the digest there too.']),
  ...(reload.state === 'refused' ? [`The serving process did not reload: ${reload.problem}`] : []),
];
