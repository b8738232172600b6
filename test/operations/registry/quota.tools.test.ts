// skopeo shows the figures of a quota.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { reachable } from '#test/fixtures/free-port.ts';
import { footprint } from '#test/fixtures/footprint.ts';
import { writeLayout } from '#test/fixtures/packages/image-layout.ts';
import { declare, uploadLogin } from '#test/fixtures/packages/images.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';

const skip = withoutPrograms('skopeo');

t.test('skopeo shows the figures', { skip }, async (t) => {
  const store = await startStore(t, await reachable((text) => text.replace('[quotas]', '[quotas]\nbytes = 1200')));
  await declare(store, 'ada', 'hello');
  const folder = mkdtempSync(join(tmpdir(), 'larder-quota-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  writeLayout(join(folder, 'in'));
  const { username, password, image } = await uploadLogin(await store.as('ada'), 'hello');
  const copy = () =>
    promisify(execFile)('skopeo', [
      ...['--insecure-policy', 'copy', '--all', '--preserve-digests', '--dest-tls-verify=false'],
      ...['--dest-creds', `${username}:${password}`, `oci:${join(folder, 'in')}:v1`],
      `docker://${image}`,
    ]);
  await t.rejects(copy(), /denied: This publisher has \d+ bytes in the store and may have 1200; these are \d+ more/);
  t.equal(footprint(store.directory)['image_manifests'], 0);
  const root = await store.as('root');
  await root.post(`/internal/v1/accounts/${store.ids.ada}/quota`, { bytes: 'none' });
  await copy();
  t.ok((footprint(store.directory)['image_manifests'] as number) > 0);
});
