// larder key request
import { resolve } from 'node:path';

import { requestRegistration } from '#acts/keys/signing-keys.ts';
import { accountKeyRequest } from '#assertions/keys/account-key-request.ts';
import { Refusal } from '#domain/refusal.ts';
import type { SigningKey } from '#records/keys/signing-keys.ts';
import { command, type CommandResult, type World } from '../frame/command.ts';
import { writeRequestFolder } from './request-folder.ts';
import { custodyOf, findSigningKey, noteUnknownOnline } from './find-keys.ts';
import { parseTimeOption } from '../frame/time-option.ts';
import { withWriteErrors } from '../frame/outside-files.ts';
import { withStore, type OpenStore } from '../frame/store.ts';

interface KeyRequestOptions {
  since?: Date | undefined;
  until?: Date | undefined;
  folder: string | undefined;
}

/** Refuses a brand that the online store cannot know. */
export async function refuseUnknownOnline(store: Pick<OpenStore, 'records'>, brand: string): Promise<void> {
  const note = await noteUnknownOnline(store, brand);
  if (note !== undefined) throw new Refusal('conflict', `${note} To write the request anyway, add --local.`);
}

/** Creates the request for a key, writes the folder for it, and records both in the audit log; returns the request. */
export async function writeKeyRequest(
  store: OpenStore,
  world: World,
  { brandAccountId: brand, name, sha3_384: keyId }: Pick<SigningKey, 'brandAccountId' | 'name' | 'sha3_384'>,
  { since, until, folder }: KeyRequestOptions,
): Promise<string> {
  const now = store.now();
  const text = await accountKeyRequest({
    signer: custodyOf(store, world),
    keyId,
    accountId: brand,
    name,
    since: since ?? now,
    until,
    signedAt: now,
  });
  if (folder !== undefined) {
    const carried = { text, brand, name, keyId };
    await withWriteErrors(folder, () => store.asCaller(() => writeRequestFolder(folder, carried)));
  }
  const details = { since: written(since), until: written(until), text };
  await store.acts.do(requestRegistration, store.person, { brandAccountId: brand, sha3_384: keyId, ...details });
  return text;
}

const written = (moment: Date | undefined): string | null => moment?.toISOString().replace('.000Z', 'Z') ?? null;

export const keyRequest = command({
  name: 'key request',
  summary: 'Write the request that registers a signing key with the online store.',
  description:
    'The request holds the public key alone. With --folder it is written to a new folder, with a script that ' +
    'registers the key and instructions for the person who carries the folder to a machine with internet. Import ' +
    "the result with 'larder assertion import'.",
  positionals: [{ name: 'key', summary: 'The name of the key, or its id.' }],
  options: {
    brand: { type: 'string', value: 'ID', summary: 'The brand of the key, if several brands have a key of this name.' },
    since: { type: 'string', value: 'TIME', summary: 'The start of validity. Default: now.' },
    until: { type: 'string', value: 'TIME', summary: 'The end of validity. Default: none.' },
    folder: { type: 'string', value: 'DIR', summary: 'The new folder to carry to a machine with internet.' },
    local: { type: 'boolean', summary: 'Write the request also if the online store cannot know the account id.' },
  },
  examples: [
    'larder key request default --brand acme',
    'larder key request default --brand acme --until 2030-01-01T00:00:00Z --folder ./to-the-internet --json',
  ],

  run({ positionals, options, data, world }) {
    const moment = (option: 'since' | 'until'): Date | undefined => {
      const text = options[option];
      return text === undefined ? undefined : parseTimeOption(option, text);
    };
    const [since, until] = [moment('since'), moment('until')];
    const folder = options.folder === undefined ? undefined : resolve(options.folder);
    const work = async (store: OpenStore): Promise<CommandResult> => {
      const key = await findSigningKey(store, positionals.key, options.brand);
      const { brandAccountId: brand, name, sha3_384: keyId } = key;
      if (!options.local) await refuseUnknownOnline(store, brand);
      const text = await writeKeyRequest(store, world, key, { since, until, folder });
      return {
        text:
          options.folder === undefined
            ? text.trimEnd()
            : `The request for the key ${name} is in ${options.folder}; READ-ME-FIRST.txt in there says what to do with it.`,
        json: { 'sha3-384': keyId, 'account-key-request': text, folder: options.folder ?? null },
      };
    };
    return withStore({ data, world }, work, { writesOutside: true });
  },
});
