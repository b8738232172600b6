// What `token issue --for` prints, pasted into a shell and read as the tools' own sources read it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';
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
