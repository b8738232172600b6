// The store's own certificate authority with its key in a device: with the key manager, and while it is away.
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';

import t from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { days } from '#domain/clock.ts';
import { fakeManager } from '#test/assertions/keys/fake-manager.ts';
import { vectorKey } from '#test/assertions/vectors.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { until } from '#test/fixtures/until.ts';

t.setTimeout(300_000);

const present = new Date();
const overTls = (text: string): string =>
  text.replace('base_url = "http://127.0.0.1:8080"', 'base_url = "https://store.example.internal"');

const inFolder = ({ directory }: TestAppliance, name: string): string =>
  readFileSync(join(directory, 'tls', name), 'utf8');

/** The problems that the store names, for a client that trusts the authority on its disk. */
function readProblems(store: TestAppliance): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = { ca: inFolder(store, 'ca.pem'), servername: 'store.example.internal', agent: false };
  get(`${store.url}/readyz`, { ...options, checkServerIdentity: () => undefined }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (part: string) => (text += part));
    response.on('end', () => {
      resolve((JSON.parse(text) as { problems: string[] }).problems.join('\n'));
    });
  }).on('error', reject);
  return promise;
}

t.test(
  'the key manager signs for the authority; without it the present certificate goes on, and a fault says so',
  async (t) => {
    const store = await startStore(t, overTls, present, { watchMs: 0 });
    const file = join(store.directory, 'larder.toml');
    const fake = fakeManager(t, {
      authority: vectorKey('rsa3072-a').privateKey,
      another: vectorKey('rsa4096-a').privateKey,
      curve: generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey,
      other: vectorKey('rsa4096-b').privateKey,
    });
    const before = [inFolder(store, 'ca.pem'), inFolder(store, 'server.pem')];
    const unchanged = (): void => {
      t.strictSame([inFolder(store, 'ca.pem'), inFolder(store, 'server.pem')], before);
    };
    const goesOn = /The server needs a new certificate, and goes on with the present one\. /;

    fake.misbehave('get-public-key', 'exit');
    changeConfig(file, { 'keys.manager': fake.path, 'tls.authority_key': 'authority' });
    store.appliance.reload();
    await until(async () => goesOn.test(await readProblems(store)));
    t.match(await readProblems(store), /present one\. The keys in the key manager are not available: /);
    unchanged();
    fake.misbehave();
    changeConfig(file, { 'tls.authority_key': 'curve' });
    store.appliance.reload();
    await until(async () => /only RSA with 3072 to 16384 bits can sign/.test(await readProblems(store)));
    changeConfig(file, { 'tls.authority_key': 'authority' });
    for (const how of ['flip a bit', 'another key', 'garbage'] as const) {
      fake.misbehave('sign', how);
      store.appliance.reload();
      t.equal(await store.appliance.renewCertificate(), false, how);
      t.match(await readProblems(store), /the signature with the key 'authority' is invalid/);
      unchanged();
    }

    fake.misbehave();
    t.equal(await store.appliance.renewCertificate(), true);
    const [authority, server] = [inFolder(store, 'ca.pem'), inFolder(store, 'server.pem')];
    const parsed = new X509Certificate(authority);
    t.ok(parsed.publicKey.equals(vectorKey('rsa3072-a').publicKey));
    t.ok(parsed.verify(parsed.publicKey) && new X509Certificate(server).verify(parsed.publicKey));
    t.notMatch(inFolder(store, 'ca.key'), /authority|PRIVATE/, 'the name of the key is sealed');
    t.equal(await readProblems(store), '', 'clients that trust the new authority reach the store');

    fake.misbehave('get-public-key', 'exit');
    await store.restart();
    t.match(await readProblems(store), /The keys in the key manager are not available: /, 'a start needs no device');
    fake.misbehave('sign', 'exit');
    store.clock.advance(days(68));
    t.equal(await store.appliance.renewCertificate(), false);
    t.match(await readProblems(store), goesOn);
    t.equal(inFolder(store, 'server.pem'), server);
    fake.misbehave();
    t.equal(await store.appliance.renewCertificate(), true, 'the device is back, without a restart');
    t.equal(inFolder(store, 'ca.pem'), authority, 'of the same authority');
    t.notMatch(await readProblems(store), goesOn);

    changeConfig(file, { 'tls.authority_key': undefined });
    store.appliance.reload();
    await until(() => inFolder(store, 'ca.pem') !== authority);
    await until(() =>
      new X509Certificate(inFolder(store, 'server.pem')).verify(
        new X509Certificate(inFolder(store, 'ca.pem')).publicKey,
      ),
    );
    t.notMatch(await readProblems(store), /key manager/);
  },
);
