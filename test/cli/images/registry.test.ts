// larder registry settings, registry certificate
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { load } from 'js-yaml';
import t from 'tap';

import { folder } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';

t.test('the settings for another registry are printed ready for use, and stay the same', async (t) => {
  const data = join(folder(t), 'data');
  await larder(`init --data ${data} --base-url https://store.internal`);
  t.match(await larder(`registry settings --data ${data}`), { code: 1, err: /names no other registry/ });
  const file = join(data, 'larder.toml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/^# external = /m, 'external = '));
  t.match(await larder(`doctor --data ${data}`), { out: /Registry: registry\.internal:5000 keeps the images/ });

  const { out } = await larder(`registry settings --data ${data} --certificate /srv/larder.pem`);
  const settings = JSON.parse((await larder(`registry settings --data ${data} --json`)).out) as {
    auth: { token: Record<string, string> };
  };
  settings.auth.token['rootcertbundle'] = '/srv/larder.pem';
  t.same(load(out), settings);
  t.match(settings, {
    auth: {
      token: {
        realm: 'https://store.internal/registry/token',
        service: 'registry.internal:5000',
        issuer: 'https://store.internal',
      },
    },
    notifications: { endpoints: [{ url: 'https://store.internal/registry/events' }] },
  });

  const certificates = [1, 2].map(() => larder(`registry certificate --data ${data}`));
  const [first, second] = await Promise.all(certificates);
  t.equal(first?.out, second?.out);
  const certificate = new X509Certificate(first?.out ?? '');
  t.notOk(certificate.ca);
  t.ok(certificate.verify(certificate.publicKey));

  writeFileSync(
    file,
    text.replace(/^# external = /m, 'external = ').replace('# notifications = true', 'notifications = false'),
  );
  t.notMatch((await larder(`registry settings --data ${data}`)).out, /notifications/);
});
