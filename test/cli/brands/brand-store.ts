// A store with the vectors' brand, its two keys, and the vectors' root to trust; for commands.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { seal } from '#assertions/keys/sealed-keys.ts';
import { fingerprint } from '#assertions/format/openpgp.ts';
import { openStore } from '#test/fixtures/records/writable.ts';
import { changeConfig } from '#configuration/config.ts';
import { readMasterKey } from '#data/secrets.ts';
import { chain, vectorKey } from '#test/assertions/vectors.ts';
import { folder, newStore, type NewStore } from '#test/cli/process.ts';

export interface BrandStore extends NewStore {
  /** A folder for files of this test. */
  files: string;
  /** Writes a file there and gives its path. */
  file(name: string, text: string): string;
}

export async function newBrandStore(t: { teardown(work: () => unknown): void }): Promise<BrandStore> {
  const store = await newStore(t);
  const files = folder(t);
  const file = (name: string, text: string): string => {
    const path = join(files, name);
    writeFileSync(path, text);
    return path;
  };
  changeConfig(join(store.data, 'larder.toml'), {
    'assertions.trusted': [file('roots.assert', chain.trusted.join('\n'))],
  });
  await store.json('account create --email brand@example.org --username brand --display-name Brand --id my-brand');
  await store.json('brand create --account my-brand --name Brand');
  const opened = await openStore({ directory: store.data });
  const master = readMasterKey({ directory: store.data, credentials: undefined, masterKeyFile: undefined });
  if (master === undefined) throw new Error('cannot seal keys: the store has no master key');
  const at = new Date().toISOString();
  for (const [vector, name] of [
    ['rsa4096-a', 'default'],
    ['rsa4096-b', 'second'],
  ] as const) {
    const { id, privateKey, publicKey, encoded } = vectorKey(vector);
    await opened.records.change({ at, actor: 'test', action: 'key add', object: id }, (tx) =>
      tx.signingKeys.claim({
        sha3_384: id,
        brandAccountId: 'my-brand',
        name,
        fingerprint: fingerprint(publicKey),
        publicKey: encoded,
        sealed: seal(master, { brandAccountId: 'my-brand', keyId: id }, privateKey),
        createdAt: at,
        createdBy: 'my-brand',
        modifiedAt: null,
        modifiedBy: null,
        requestedAt: null,
      }),
    );
  }
  await opened.close();
  return { ...store, files, file };
}

/** Some of the vectors' assertions as one stream. */
export const several = (...names: string[]): string => names.map((name) => chain.assertions[name] ?? '').join('\n');
