// The world that the tests of validation sets and of confdb-schemas share.
import { join } from 'node:path';
import type { Test } from 'tap';

import { accountKeyRequest } from '#assertions/keys/account-key-request.ts';
import { mediaType, stream, type Headers } from '#assertions/format/assertion.ts';
import { signAssertion } from '#assertions/keys/signer.ts';
import { vectorSigner } from '#test/assertions/vectors.ts';
import * as world from '#test/assertions/world.ts';
import { startStore, type Client, type Reply } from '#test/fixtures/appliance.ts';

export const { now, keys } = world;
export const at = '/api/v2/validation-sets';
export const build = `${at}/build-assertion`;

/** A store with a key request of ada, as `snapcraft register-key` makes it. */
export async function withKey(t: Test) {
  const roots = join(t.testdir({ 'roots.assert': stream(world.roots.assertions) }), 'roots.assert');
  const store = await startStore(t, (text) => text.replace(/^# trusted = .*$/m, `trusted = ["${roots}"]`));
  store.clock.now = now;
  const register = async (client: Client, accountId: string, keyId: string): Promise<Reply> =>
    client.post('/dev/api/account/account-key', {
      account_key_request: await accountKeyRequest({
        signer: vectorSigner(),
        keyId,
        accountId,
        name: 'default',
        since: new Date('2026-03-01T12:00:00Z'),
        revision: 0,
        signedAt: new Date('2026-03-01T12:00:00Z'),
      }),
    });
  const ada = await store.as('ada');
  t.match(await register(ada, store.ids.ada, keys.device.id), { status: 202 });
  const { id } = (await ada.post('/v1/snap', { name: 'pcx' })).body as { id: string };
  return { store, ada, id, roots, register };
}

/** What `snap sign` makes of the headers it is given; the body is one of them. */
export const sign = (headers: Headers, key: world.KeyName = 'device'): Promise<string> => {
  const { type, body = '', ...others } = headers as Headers & { type: string; body?: string };
  // It leaves out the revision 0, as the library does.
  const written = Object.fromEntries(
    Object.entries(others).filter(([name, value]) => name !== 'revision' || value !== '0'),
  );
  return signAssertion(vectorSigner(), keys[key].id, { type, headers: written, body, signedAt: now });
};
export const post = (client: Client, text: string, path = at): Promise<Reply> =>
  client.post(path, text, { 'content-type': mediaType });
