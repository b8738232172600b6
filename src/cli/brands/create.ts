// larder brand create
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createBrand } from '#acts/brands/brands.ts';
import { makeSigningKey } from '#acts/keys/signing-keys.ts';
import { isKeyName } from '#assertions/format/types.ts';
import { brandNameProblem } from '#domain/accounts/account.ts';
import { Refusal } from '#domain/refusal.ts';
import type { SigningKey } from '#records/keys/signing-keys.ts';
import { command, Failure, UsageError, type CommandResult, type CommandCall } from '../frame/command.ts';
import { custodyOf, masterKeyOf, noteUnknownOnline } from '../keys/find-keys.ts';
import { refuseUnknownOnline, writeKeyRequest } from '../keys/request.ts';
import { findAccount, withStore, type OpenStore } from '../frame/store.ts';

const options = {
  account: { type: 'string', value: 'ID', summary: 'The account of the brand.', required: true },
  name: { type: 'string', value: 'NAME', summary: 'The name of the brand.', required: true },
  key: { type: 'string', value: 'NAME', summary: 'Create a signing key with this name for it, too.' },
  request: {
    type: 'string',
    value: 'DIR',
    summary:
      'Write the request that registers this key with the online store to this new folder, to carry to a machine ' +
      'with internet.',
  },
  local: { type: 'boolean', summary: 'Write the request also if the online store cannot know the account id.' },
} as const;

type BrandCall = CommandCall<typeof options, readonly []>;

export const brandCreate = command({
  name: 'brand create',
  summary: 'Make an account a brand, which has models and signing keys.',
  description:
    "With --key and --request this is also 'larder key create' and 'larder key request'. If it is refused, nothing is made.",
  options,
  examples: [
    "larder brand create --account acme --name 'Acme Devices' --json",
    "larder brand create --account acme --name 'Acme Devices' --key serials --request ./to-the-internet",
  ],

  run(call) {
    const { account, key, request } = call.options;
    const name = call.options.name.trim();
    const problem = brandNameProblem(name);
    if (problem !== undefined) throw new UsageError(problem);
    if (request !== undefined && key === undefined)
      throw new UsageError('--request needs --key NAME, the key to register');
    const folder = request === undefined ? undefined : resolve(request);

    const work = async (store: OpenStore): Promise<CommandResult> => {
      await findAccount(store.records, account);
      if (key !== undefined) refuseKey(store, call, key);
      if (folder !== undefined) await refuseRequest(store, call, folder);
      await store.acts.do(createBrand, store.person, { accountId: account, name });
      const made = key === undefined ? undefined : await keyFor(store, call, key);
      const text =
        made === undefined || folder === undefined
          ? undefined
          : await writeKeyRequest(store, call.world, made, { folder });
      const note = await noteUnknownOnline(store, account);
      return answered(call, { name, keyId: made?.sha3_384, text, note });
    };
    return withStore(call, work, { writesOutside: folder !== undefined });
  },
});

/** Refuses an invalid key name, and a sealed store, which cannot make a key. Called before the account becomes a brand. */
function refuseKey(store: OpenStore, { world }: BrandCall, key: string): void {
  if (!isKeyName(key)) {
    throw new UsageError(`--key is of lower-case letters, digits and single inner dashes, not '${key}'`);
  }
  if (masterKeyOf(store, world) === undefined) {
    throw new Refusal('sealed', 'The store is sealed: give it the signing master key, or leave out --key.');
  }
}

async function refuseRequest(store: OpenStore, { options }: BrandCall, folder: string): Promise<void> {
  if (!options.local) await refuseUnknownOnline(store, options.account);
  const [isThere, hasParent] = await store.asCaller(() => [existsSync(folder), existsSync(dirname(folder))]);
  if (isThere) throw new Failure(`${folder} is there already; name a new folder`);
  if (!hasParent) throw new Failure(`there is no folder ${dirname(folder)} to make ${folder} in; make it first`);
}

const keyFor = (store: OpenStore, { world, options: { account } }: BrandCall, name: string): Promise<SigningKey> =>
  makeSigningKey({ ...store, custody: custodyOf(store, world) }, store.person, {
    brandAccountId: account,
    name,
    createdBy: account,
  });

interface Created {
  name: string;
  keyId: string | undefined;
  text: string | undefined;
  note: string | undefined;
}

function answered({ options }: BrandCall, { name, keyId, text, note }: Created): CommandResult {
  const { account, key, request } = options;
  return {
    text: [
      `The account ${account} is now the brand ${name}, and administers it.`,
      ...(keyId === undefined ? [] : [`It has the key ${String(key)}, with the id ${keyId}.`]),
      ...(text === undefined
        ? []
        : [`The request for that key is in ${String(request)}; READ-ME-FIRST.txt in there says what to do with it.`]),
      ...(note === undefined ? [] : [note]),
    ].join('\n'),
    json: {
      'account-id': account,
      name,
      ...(keyId !== undefined && { key: { name: key, 'sha3-384': keyId } }),
      ...(text !== undefined && { 'account-key-request': text, folder: request }),
    },
  };
}
