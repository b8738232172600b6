// What `token issue --for` prints, pasted into a shell and read as the tools' own sources read it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { readToken } from '#macaroons/codec/text.ts';
import { changeConfig } from '#configuration/config.ts';
import { newStore } from '#test/cli/process.ts';

t.test('with a registry of the site charmcraft is sent there, and another tool is none', async (t) => {
  const store = await newStore(t, '--base-url https://store.internal');
  const file = join(store.data, 'larder.toml');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^# external = /m, 'external = '));
  const { environment } = await store.json('token issue --account larder-admin --for charmcraft');
  t.match(environment, {
    CHARMCRAFT_REGISTRY_URL: 'https://registry.internal:5000',
    CHARMCRAFT_STORE_API_URL: 'https://store.internal/publishergw',
  });
  t.match(await store.larder('token issue --account larder-admin --for snapcrat'), {
    code: 2,
    err: /--for cannot be 'snapcrat'; did you mean 'snapcraft'\?/,
  });
});

t.test(
  'for images the login has the form that snapd sends as it is, and fetches without changing anything',
  async (t) => {
    const store = await newStore(t, '--base-url https://store.internal');
    changeConfig(join(store.data, 'larder.toml'), { 'store.id': 'site-a' });
    const issued = await store.json('token issue --account larder-admin --for images');
    const { UBUNTU_STORE_AUTH: login, ...others } = issued.environment;
    t.same(others, { UBUNTU_STORE_URL: 'https://store.internal', UBUNTU_STORE_ID: 'site-a' });
    t.same(JSON.parse(Buffer.from(login, 'base64').toString()), { t: 'macaroon', v: issued.macaroon });
    const permissionsOf = (token: string): string[] =>
      readToken(token)!
        .caveats.map(({ identifier }) => identifier.toString())
        .filter((caveat) => caveat.startsWith('permissions'));
    t.same(permissionsOf(issued.macaroon), ['permissions ["package-view-revisions"]']);
    const more = await store.json('token issue --account larder-admin --for images --permission package-manage');
    t.same(permissionsOf(more.macaroon), ['permissions ["package-manage"]']);
    const { out } = await store.larder('token issue --account larder-admin --for images');
    t.match(out, /^printf '%s\\n' '[\w+/=]+' \| install --mode=600 \/dev\/stdin larder-images\.login &&$/m);
  },
);
