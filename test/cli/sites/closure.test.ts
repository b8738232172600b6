// larder closure, and its part of doctor: the packages that released packages need and that are missing here.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { account, accountKey, made, storeKey, timestamp, trusted } from '#test/assertions/world.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { trusting } from '#test/fixtures/brands.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { makeAuthority } from '#tls/certificates.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { keep, modelOf } from '#test/operations/devices/world.ts';
import { larder } from '#test/cli/world.ts';

t.setTimeout(600_000);

type Facts = NonNullable<Parameters<typeof addRevision>[3]>;

/** Has ada release a package with these facts. */
async function released(store: TestAppliance, namespace: string, name: string, facts: Facts, more: object = {}) {
  const ada = await store.as('ada');
  const { id } = (await ada.post(`/v1/${namespace}`, { name, ...more })).body as { id: string };
  await addRevision(store, id, 1, facts);
  const { status, body } = await ada.post(`/v1/${namespace}/${name}/releases`, [{ channel: 'stable', revision: 1 }]);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return id;
}

async function missing({ directory }: TestAppliance): Promise<{ code: number; missing: unknown }> {
  const { code, out, err } = await larder('closure --json', { env: { LARDER_DATA: directory } });
  if (out === '') throw new Error(err);
  return { code, missing: (JSON.parse(out) as { missing: unknown }).missing };
}

async function doctorSays({ directory }: TestAppliance, name: string): Promise<unknown> {
  const { out } = await larder('doctor --json', { env: { LARDER_DATA: directory } });
  return (JSON.parse(out) as { findings: { what: string }[] }).findings.find((finding) => finding.what === name);
}

const amd64 = { architectures: ['amd64'] };

t.test('the base of an app, snapd, and its content providers are named until they are here', async (t) => {
  const store = await startStore(t, servingSnaps);
  t.same(await missing(store), { code: 0, missing: [] }, 'where nothing is released nothing is missing');
  t.match(await doctorSays(store, 'Closure'), { level: 'well' });
  const packageYaml = `name: hello\nplugs:\n  themes:\n    interface: content\n    default-provider: gtk-themes:icons\n  content:\n    default-provider: sounds\n  other:\n    interface: home\n    default-provider: nobody\n`;
  await released(store, 'snap', 'hello', { details: { ...amd64, base: 'core22', type: 'app' }, packageYaml });
  const need = (kind: string, name: string, dependents = ['hello']) => ({
    kind,
    name,
    architecture: 'amd64',
    'needed-by': dependents,
    wish: `larder subscription add snap/${name} --architecture amd64`,
  });
  t.same(await missing(store), {
    code: 1,
    missing: [
      need('base', 'core22'),
      need('content provider', 'gtk-themes'),
      need('snapd', 'snapd'),
      need('content provider', 'sounds'),
    ],
  });
  t.match(await doctorSays(store, 'Closure'), {
    level: 'notice',
    says: 'the base core22 is not here, and hello needs it; 3 more are missing',
    mend: /'larder closure'/,
  });
  await released(store, 'snap', 'world', { details: { ...amd64, base: 'core22', type: 'app' } });
  t.match(await missing(store), {
    missing: [need('base', 'core22', ['hello', 'world']), need('snapd', 'snapd', ['hello', 'world'])],
  });

  await released(store, 'snap', 'core22', { details: { architectures: ['arm64'], type: 'base' } });
  t.match(await missing(store), { missing: [need('base', 'core22', ['hello', 'world'])] }, 'for another architecture');
  await released(store, 'snap', 'snapd', { details: { architectures: ['all'], type: 'snapd' } });
  await released(store, 'snap', 'sounds', { details: { ...amd64, type: 'base' } });
  t.match(await missing(store), {
    missing: [need('base', 'core22', ['hello', 'world']), need('content provider', 'gtk-themes')],
  });
  const { out } = await larder('closure', { env: { LARDER_DATA: store.directory } });
  t.match(out, /^core22 +base +- +amd64 +hello, world$/m);

  const env = { LARDER_DATA: store.directory };
  await larder('subscription add snap/core22 --architecture arm64', { env });
  t.match(
    (await larder('closure', { env })).out,
    /subscription add snap\/core22/,
    'it is asked for, and not for amd64',
  );
  await larder('subscription add snap/core22 --architecture amd64', { env });
  const subscribed = (await larder('closure', { env })).out;
  t.match(subscribed, /^core22 +base/m, 'it is missing as long as it is not here');
  t.notMatch(subscribed, /subscription add snap\/core22/, 'a subscription that exists is not proposed');
  t.match(subscribed, /subscription add snap\/gtk-themes/);
});

t.test('a model names its gadget, kernel, base and snaps; a charm its resources, a bundle its charms', async (t) => {
  const trusts = trusting(t, trusted);
  const store = await startStore(t, (text) => servingSnaps(trusts(text)));
  await keep(store, storeKey, await account('acme'), await accountKey('ada', 'acme', 'default'));
  await keep(store, await modelOf({ 'required-snaps': ['hello'] }));
  const dependents = ['model/16/acme/pump'];
  t.match(await missing(store), {
    missing: [
      { kind: 'base', name: 'core18', architecture: 'amd64', 'needed-by': dependents },
      { kind: 'snap of a model', name: 'hello', 'needed-by': dependents },
      { kind: 'gadget', name: 'pc', 'needed-by': dependents },
      { kind: 'kernel', name: 'pc-kernel', 'needed-by': dependents },
    ],
  });
  const bundle =
    'applications:\n  db:\n    charm: ch:postgresql\n  web:\n    charm: wordpress\n  own:\n    charm: ./own\n';
  await released(store, 'charm', 'site', { packageYaml: bundle }, { type: 'bundle' });
  await released(store, 'charm', 'wordpress', {});
  t.match(JSON.stringify(await missing(store)), /"kind":"charm of a bundle","name":"postgresql","architecture":"all"/);
  t.notMatch(JSON.stringify(await missing(store)), /wordpress|own/);
  const packageId = await released(store, 'charm', 'with-image', {});
  const at = store.clock.now.toISOString();
  const resources = [{ name: 'image', revision: null, type: 'oci-image' }];
  await store.beside.records.change({ at, actor: 'test', action: 'release', object: packageId }, (tx) =>
    filler(tx, at).release({ packageId, channel: 'latest/edge', revision: 1, resources }),
  );
  t.match(JSON.stringify(await missing(store)), /"kind":"resource","name":"with-image:image"/);
});

t.test('doctor compares the store assertion with the address of the store', async (t) => {
  const trusts = trusting(t, trusted);
  const store = await startStore(t, (text) => servingSnaps(trusts(text)));
  t.match(await doctorSays(store, 'Store assertion'), { level: 'notice', says: /is missing/ });
  const { id } = store.beside.config.store;
  const makeStoreAssertion = (url: string, revision: string) =>
    made('store', 'authority', 'store', { store: id, 'operator-id': 'acme', url, timestamp, revision });
  await keep(store, storeKey, await account('acme'), await makeStoreAssertion('https://elsewhere.example.org', '1'));
  t.match(await doctorSays(store, 'Store assertion'), {
    level: 'notice',
    says: /names https:\/\/elsewhere\.example\.org\//,
  });
  await keep(store, await makeStoreAssertion('http://127.0.0.1:8080', '2'));
  t.match(await doctorSays(store, 'Store assertion'), { level: 'well' });
});

t.test('doctor compares the served snaps with the assertions that devices trust', async (t) => {
  const port = await freePort();
  const at = (host: string) => (text: string) =>
    servingSnaps(text)
      .replace('base_url = "http://127.0.0.1:8080"', `base_url = "https://${host}:${port}"`)
      .replace('127.0.0.1:0', `0.0.0.0:${port}`);
  // Certificates are held against the clock of the computer.
  const present = new Date();
  const store = await startStore(t, at('127.0.0.1'), present);
  const says = () => doctorSays(store, 'Device trust');
  t.match(await says(), { level: 'well', says: /is trusted by the authority that 'larder device snippet' prints/ });

  const file = join(store.directory, 'tls', 'ca.pem');
  const own = readFileSync(file);
  chmodSync(file, 0o644);
  writeFileSync(file, (await makeAuthority('Another one', present)).certificate);
  t.match(await says(), { level: 'wrong', says: /another authority signed the certificate; devices do not connect/ });
  writeFileSync(file, own);

  const settings = join(store.directory, 'larder.toml');
  const text = readFileSync(settings, 'utf8');
  writeFileSync(settings, text.replace('https://127.0.0.1:', 'https://127.0.0.2:'));
  t.match(await says(), { level: 'wrong', says: /the certificate is for another name/ });
  writeFileSync(settings, text.replace('https://127.0.0.1:', 'https://nobody.invalid:'));
  t.match(await says(), { level: 'not looked at', says: /nobody\.invalid.* cannot be reached/ });
});

t.test(
  'missing snaps of a set, model or subscription are looked up by track, with the subscription that adds them',
  async (t) => {
    const store = await startStore(t, servingSnaps);
    await released(store, 'snap', 'pc', { details: { ...amd64, base: 'core24', type: 'gadget' } });
    const run = async (line: string) => {
      const { out } = await larder(`${line} --json`, { env: { LARDER_DATA: store.directory } });
      return (JSON.parse(out) as { missing: { name: string; wish: string | null; track?: string }[] }).missing;
    };
    t.match(await run('closure'), [
      {
        kind: 'base',
        name: 'core24',
        'needed-by': ['pc'],
        wish: 'larder subscription add snap/core24 --architecture amd64',
      },
    ]);
    await larder('subscription add snap/pc --channel 24/stable --architecture amd64', {
      env: { LARDER_DATA: store.directory },
    });
    const wished = await run('closure --set builders');
    t.match(
      wished.find(({ name }) => name === 'pc'),
      { kind: 'wish', track: '24', wish: null },
      'another track of it is here, and not the one that is wished for',
    );
    t.match(
      wished.find(({ name }) => name === 'snapcraft'),
      { kind: 'wish', 'needed-by': ['set builders'] },
    );
    const { out } = await larder('closure', { env: { LARDER_DATA: store.directory } });
    t.match(
      out,
      /To subscribe to the missing packages:\n {2}larder subscription add snap\/core24 --architecture amd64/,
    );
  },
);
