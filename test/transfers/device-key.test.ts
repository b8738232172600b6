// The key of a site in a device, with a key manager that is a program of the tests.
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { fakeManager } from '#test/assertions/keys/fake-manager.ts';
import { vectorKey } from '#test/assertions/vectors.ts';
import { folder, newStore } from '#test/cli/process.ts';
import { moveIntoDevice, passesAsSite, withDevice, type KeyDevice } from './device-key.ts';
import { site, trust } from './sites.ts';

t.setTimeout(600_000);

const p384 = () => generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey;
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

t.test('a site moves its key into a device; transfers, receipts, requests and backups are signed there', async (t) => {
  const fake = fakeManager(t, { site: p384(), next: p384(), p256, serials: vectorKey('rsa4096-a').privateKey });
  const keys = join(fake.folder, 'keys.json');
  const device: KeyDevice = {
    manager: fake.path,
    env: {},
    key: 'site',
    pull: () => {
      renameSync(keys, `${keys}.pulled`);
    },
    insert: () => {
      renameSync(`${keys}.pulled`, keys);
    },
  };
  const sites = await moveIntoDevice(t, device);
  const { depot, here: receiver, stick } = sites;
  await passesAsSite(t, sites, device);

  const file = join(stick, 'refused.json');
  for (const [key, message] of [
    ['serials', /The key 'serials' is RSA with 4096 bits, and only ECDSA P-384 can sign\. Make a key .*, ECDSA P-384/],
    ['p256', /The key 'p256' is ec prime256v1, and only ECDSA P-384 can sign/],
    ['missing', /no key 'missing'; it has 'site', 'next', 'p256'\. Make a key/],
    [' -k', /The keys? in the key manager|no key ' -k'/],
  ] as const)
    t.match(await depot.larder(`site rotate ${file} --in-manager '${key}' --yes`), { code: 1, err: message });
  fake.misbehave('features', 'only RSA');
  t.match(await depot.larder(`site rotate ${file} --in-manager next --yes`), {
    code: 1,
    err: /it does not sign with ECDSA, which P-384 keys need; \/usr\/lib\/larder\/pkcs11 does\. Check the device/,
  });
  for (const how of ['flip a bit', 'garbage', 'nothing', 'megabytes', 'another key', 'exit'] as const) {
    fake.misbehave('sign', how);
    t.match(await depot.larder(`transfer make ${join(stick, 'bad.tar')}`), { code: 1, err: /not available/ }, how);
    t.notOk(existsSync(join(stick, 'bad.tar')));
  }
  t.notOk(existsSync(file));
  fake.misbehave();

  const back = join(stick, 'back.json');
  const { fingerprint } = await depot.done(`site rotate ${back} --yes`);
  t.match((await depot.done('site show')).site, { format: 1, fingerprints: [fingerprint], 'manager-key': null });
  t.match(await receiver.done(`site trust ${back}`), { rotation: 2, fingerprints: [fingerprint] });
  const audit = (await depot.larder('audit list --json')).out;
  t.match(audit, /"manager-key":"site"/);
});

t.test(
  'a site can begin with a key in the device, and its exported identity is checked when another site trusts it',
  async (t) => {
    const fake = fakeManager(t, { site: p384() });
    const device: KeyDevice = { manager: fake.path, env: {}, key: 'site', pull: () => 0, insert: () => 0 };
    const depot = await site(t, 'depot');
    const receiver = withDevice(
      { ...(await newStore(t)), done: (line: string) => Promise.reject(new Error(line)) },
      device,
    );
    t.match(await receiver.larder('site init site-b --in-manager site --collector'), { code: 2, err: /collector/ });
    t.match(await receiver.larder('site init site-b --in-manager -k'), { code: 1, err: /does not begin with a dash/ });
    t.match(await receiver.done('site init site-b --in-manager site'), { format: 2, site: 'site-b' });
    const exported = join(folder(t), 'site-b.json');
    await trust(depot, receiver, exported);
    const identity = JSON.parse(readFileSync(exported, 'utf8')) as { keys: [string] };
    const offCurve = `${identity.keys[0].slice(0, -2)}${identity.keys[0].at(-2) === 'A' ? 'B' : 'A'}A`;
    writeFileSync(exported, JSON.stringify({ ...identity, keys: [offCurve] }));
    t.match(await depot.larder(`site trust ${exported} --fingerprint 0`), { code: 1, err: /is no point on its curve/ });
    writeFileSync(exported, JSON.stringify({ ...identity, format: 3 }));
    t.match(await depot.larder(`site trust ${exported} --fingerprint 0`), {
      code: 1,
      err: /It has the format 3, which a newer release of larder reads/,
    });
  },
);
