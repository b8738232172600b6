// The key of a site in a token: SoftHSM, through the key manager for PKCS #11 that larder ships.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { noSoftToken, pkcs11Manager, softToken } from '#test/assertions/keys/soft-token.ts';
import { start } from '#test/cli/process.ts';
import { until } from '#test/fixtures/until.ts';
import { moveIntoDevice, passesAsSite, type KeyDevice } from './device-key.ts';

t.setTimeout(600_000);
const skip = noSoftToken();

t.test('a token passes as the place of the key of a site', { skip }, async (t) => {
  const token = softToken(t, { 'key of "depot"': 'P-384' });
  const device: KeyDevice = { ...token, manager: pkcs11Manager, key: 'key of "depot"' };
  const sites = await moveIntoDevice(t, device);
  await passesAsSite(t, sites, device);
});

t.test(
  'a server names the token that was pulled until it is back, and a wrong PIN is tried once',
  { skip },
  async (t) => {
    const token = softToken(t, { site: 'P-384' });
    const folder = mkdtempSync(join(tmpdir(), 'counted-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const counter = join(folder, 'counter');
    writeFileSync(counter, `#!/bin/sh\necho "$1" >>'${folder}/calls'\nexec '${pkcs11Manager}' "$@"\n`, { mode: 0o755 });
    const attempts = () =>
      existsSync(join(folder, 'calls'))
        ? readFileSync(join(folder, 'calls'), 'utf8')
            .split('\n')
            .filter((command) => command === 'sign').length
        : 0;
    const { depot, stick } = await moveIntoDevice(t, { ...token, manager: counter, key: 'site' });
    const served = start(t, ['serve', '--data', depot.data, '--listen', '127.0.0.1:0'], token.env);
    const [, url = ''] = await served.says(/"url":"([^"]+)"/);
    const problems = async () =>
      ((await (await fetch(`${url}/readyz`)).json()) as { problems: string[] }).problems.join('\n');
    const make = (name: string) => depot.larder(`transfer make ${join(stick, name)}`);
    t.match(await make('one.tar'), { code: 0 });
    t.equal(await problems(), '');

    token.pull();
    t.match(await make('pulled.tar'), { code: 1, err: /The keys in the key manager are not available: / });
    await until(async () => /The keys in the key manager are not available/.test(await problems()));
    token.insert();
    await until(async () => (await problems()) === '');
    t.match(await make('back.tar'), { code: 0 }, 'without a restart');

    token.setPin('000000');
    const before = attempts();
    const refused = /refused the PIN\. Correct the PIN, then reload the server\. Until then it is not tried again/;
    for (const { code, err } of await Promise.all(['a', 'b', 'c'].map((name) => make(`${name}.tar`)))) {
      t.equal(code, 1);
      t.match(err, refused);
    }
    t.equal(attempts() - before, 1, 'by three commands at the same instant');
    t.match(await problems(), refused, 'the server knows it as well');
    token.setPin(token.pin);
    t.match(await make('right.tar'), { code: 0 });
  },
);
