// The adapter to key managers: programs that sign with keys in a device, well or badly.
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import type { Config } from '#configuration/config.ts';
import { decodeSignature, deviation, verifySignature } from '#assertions/format/openpgp.ts';
import { createKeyManager, type KeyManager } from '#assertions/keys/key-manager.ts';
import { lockPin } from '#data/lock.ts';
import { vectorKey } from '../vectors.ts';
import { fakeManager, type FakeManager, type Misbehaviour } from './fake-manager.ts';

t.setTimeout(120_000);

const [serials, other] = [vectorKey('rsa4096-a'), vectorKey('rsa4096-b')];
const small = vectorKey('rsa3072-a');
const content = 'type: model\n';
const at = new Date('2026-03-01T12:00:00Z');

interface ManagedKeys extends FakeManager {
  manager: KeyManager;
  settings: Config['keys'];
  /** Changes the settings, as a reload does. */
  reload(change?: Partial<Config['keys']>): void;
  sign(): Promise<string>;
  refusedPinFile: string;
}

function startManager(t: Test, change: Partial<Config['keys']> = {}, env: Record<string, string> = {}): ManagedKeys {
  const fake = fakeManager(t, { serials: serials.privateKey, small: small.privateKey, other: other.privateKey });
  const refusedPinFile = join(fake.folder, 'refused-pin');
  const started = {
    ...fake,
    refusedPinFile,
    settings: { manager: fake.path, environment: [], timeout_seconds: 30, concurrent: 4, ...change },
    manager: createKeyManager({ settings: () => started.settings, env, refusedPinFile, lockPin: lockPin(fake.folder) }),
    reload(changed = {}) {
      started.settings = { ...started.settings, ...changed };
      started.manager.retry();
    },
    sign: () => started.manager.sign('serials', serials.publicKey, content, at),
  } as ManagedKeys;
  t.teardown(() => {
    started.manager.close();
  });
  return started;
}

const isValid = (signature: string): boolean =>
  verifySignature(serials.publicKey, content, decodeSignature(signature)) === 'valid';

const unavailable = (message: RegExp) => ({ name: 'Refusal', code: 'sealed', status: 503, message });

t.test('a key of the device signs as a key of this store does, with the variables that are named alone', async (t) => {
  const { manager, sign, calls } = startManager(
    t,
    { environment: ['HSM', 'UNSET'] },
    { HSM: '/dev/hsm', SECRET: 'hunter2' },
  );
  t.ok((await manager.publicKey('serials')).equals(serials.publicKey));
  const signature = await sign();
  t.ok(isValid(signature));
  t.equal(deviation(signature, decodeSignature(signature)), undefined, 'it is written as snapd writes it');
  t.strictSame(
    calls().map(({ command, args }) => [command, ...args]),
    [['get-public-key', '-f', 'DER', '-k', 'serials'], ['features'], ['sign', '-m', 'RSA-PKCS', '-k', 'serials']],
  );
  for (const { env } of calls()) t.strictSame(env, { HSM: '/dev/hsm' });
  t.strictSame(manager.faults(), []);
  t.ok(isValid(await sign()));
  t.equal(calls().filter(({ command }) => command === 'features').length, 1, 'its features are asked for once');
});

const misbehaviours: [Misbehaviour, RegExp][] = [
  ['garbage', /signature with the key 'serials' is invalid: it has 15 bytes/],
  ['nothing', /signature with the key 'serials' is invalid/],
  ['megabytes', /it printed more than 64 KiB/],
  ['kilobytes', /signature with the key 'serials' is invalid: it has 20000 bytes/],
  ['exit', /manager\.mjs ended with exit code 1 \(No slot with token named "larder" found, PIN is …\)/],
  ['flip a bit', /invalid: it does not match the public key/],
  ['another key', /invalid: it does not match the public key/],
];

t.test('no bad answer of a manager becomes a signature, and the next good one is used', async (t) => {
  const { misbehave, sign, manager } = startManager(t, { environment: ['PIN'] }, { PIN: 'hunter2' });
  for (const [how, message] of misbehaviours) {
    misbehave('sign', how);
    await t.rejects(sign(), unavailable(message), how);
    t.match(manager.faults(), [{ code: 'keys-unavailable', says: message }], 'the fault says the same');
    misbehave();
    t.ok(isValid(await sign()), `after ${how}`);
    t.strictSame(manager.faults(), []);
  }
});

t.test('a manager that is late, or does not end, is ended', async (t) => {
  const { misbehave, sign, reload } = startManager(t, { timeout_seconds: 1 });
  for (const how of ['hang', 'answer, then hang'] as const) {
    misbehave('sign', how);
    await t.rejects(sign(), unavailable(/did not answer within 1 s/), how);
  }
  misbehave();
  // A start of the program may itself take longer on a busy machine.
  reload({ timeout_seconds: 30 });
  t.ok(isValid(await sign()));
});

t.test('the programs that a manager starts end with it', async (t) => {
  const { folder, reload, sign } = startManager(t);
  const script = join(folder, 'wrapper');
  const features = '{"signing": ["RSA-PKCS"], "public-keys": ["DER"]}';
  // It leaves a program behind that holds the output open.
  const program = `#!/bin/sh\n[ $1 = features ] && echo '${features}' && exit\nsleep 600 & echo $! > '${folder}/child'\n`;
  writeFileSync(script, program, { mode: 0o755 });
  reload({ manager: script, timeout_seconds: 2 });
  await t.rejects(sign(), unavailable(/did not answer within 2 s/));
  const child = readFileSync(join(folder, 'child'), 'utf8').trim();
  const isRunning = (): boolean => {
    try {
      return !/^State:\s+Z/m.test(readFileSync(`/proc/${child}/status`, 'utf8'));
    } catch {
      return false;
    }
  };
  while (isRunning()) await new Promise(setImmediate);
  t.pass('it has ended');
});

t.test('features, names and public keys are read with the same care', async (t) => {
  const { misbehave, sign, manager, reload } = startManager(t);
  for (const [how, message] of [
    ['garbage', /answer to 'features' is no JSON object/],
    ['nothing', /answer to 'features' is no JSON object/],
    ['megabytes', /more than 64 KiB/],
    ['exit', /exit code 1/],
  ] as const) {
    misbehave('features', how);
    await t.rejects(sign(), unavailable(message), `features: ${how}`);
    misbehave();
    reload();
  }
  for (const how of ['garbage', 'nothing'] as const) {
    misbehave('get-public-key', how);
    await t.rejects(manager.publicKey('serials'), unavailable(/is no public key in DER/), `get-public-key: ${how}`);
  }
  misbehave();
  await t.rejects(manager.publicKey('models'), {
    code: 'resource-not-found',
    message: /no key 'models'; it has 'serials', 'small'\. Make a key with the tools of the device, RSA with 4096 bits/,
  });
  misbehave('key-names', 'many names');
  await t.rejects(
    manager.publicKey('models'),
    unavailable(/exit code 1 \(error: object not found\)/),
    'of 10,000 names',
  );
  await t.rejects(manager.publicKey('small'), {
    code: 'api-error',
    message: /The key 'small' is RSA with 3072 bits, and only RSA with 4096 to 16384 bits can sign\. Make a key/,
  });
});

t.test('a check notices a device that is gone, or that has another key with the name', async (t) => {
  const { misbehave, manager } = startManager(t);
  const check = async () => {
    await manager.probe([{ name: 'serials', publicKey: serials.publicKey, purpose: 'assertion' }]);
    return manager.faults().map(({ says }) => says);
  };
  t.strictSame(await check(), []);
  misbehave('get-public-key', 'exit');
  t.match(await check(), [/^The keys in the key manager are not available: .*No slot with token/]);
  misbehave('get-public-key', 'another key');
  t.match(await check(), [/it has another key with the name 'serials'/]);
  misbehave();
  t.strictSame(await check(), [], 'and that it is back');
});

t.test('a PIN that is refused is tried once, by all processes of the store together', async (t) => {
  const { misbehave, calls, sign, manager, reload, settings, refusedPinFile, folder } = startManager(
    t,
    { environment: ['PIN_FILE'] },
    {},
  );
  const pin = join(folder, 'pin');
  writeFileSync(pin, '1234');
  const env = { PIN_FILE: pin };
  const first = createKeyManager({ settings: () => settings, env, refusedPinFile, lockPin: lockPin(folder) });
  const two = createKeyManager({ settings: () => settings, env, refusedPinFile, lockPin: lockPin(folder) });
  const signWith = (process: KeyManager) => process.sign('serials', serials.publicKey, content, at);
  const signCalls = () => calls().filter(({ command }) => command === 'sign').length;

  misbehave('sign', 'refuse the PIN');
  const refused = unavailable(/the device has refused the PIN\. Correct the PIN, then reload the server\./);
  await Promise.all(Array.from({ length: 8 }, (_, n) => t.rejects(signWith(n % 2 === 0 ? first : two), refused)));
  t.equal(signCalls(), 1, 'also if both try at the same instant');
  await t.rejects(signWith(two), refused, 'in another process');
  t.equal(signCalls(), 1);
  t.match(first.faults(), [{ code: 'keys-unavailable', says: /refused the PIN/ }]);
  t.match(two.faults(), [{ code: 'keys-unavailable', says: /refused the PIN/ }]);
  await first.probe([{ name: 'serials', publicKey: serials.publicKey, purpose: 'assertion' }]);
  t.equal(first.faults().length, 1, 'a check does not need the PIN, and so proves nothing about it');
  t.notMatch(readFileSync(refusedPinFile, 'latin1'), /1234/);

  writeFileSync(pin, '12345');
  await t.rejects(signWith(first), refused);
  t.equal(signCalls(), 2, 'another credential is tried once');
  first.retry();
  await t.rejects(signWith(first), refused);
  t.equal(signCalls(), 3, 'and so is the same after a reload');

  misbehave();
  await t.rejects(signWith(first), refused, 'the device would accept it now, and is not asked');
  first.retry();
  t.ok(isValid(await signWith(first)));
  t.ok(isValid(await signWith(two)));
  t.notOk(existsSync(refusedPinFile));
  const proven = signCalls();
  misbehave('sign', 'refuse the PIN');
  writeFileSync(pin, '123456');
  await Promise.all(Array.from({ length: 5 }, () => t.rejects(signWith(first), refused)));
  t.equal(signCalls(), proven + 1, 'another PIN proves itself alone, also if the one before was right');
  misbehave();
  first.retry();
  t.ok(isValid(await signWith(first)));
  t.ok(isValid(await signWith(two)));
  t.strictSame([...first.faults(), ...two.faults()], []);
  reload();
  t.ok(isValid(await sign()), 'without a credential');
  t.strictSame(manager.faults(), []);
});

t.test('a program that another user could replace is not run', async (t) => {
  const { path, folder, sign, reload, settings, calls } = startManager(t);
  chmodSync(path, 0o777);
  await t.rejects(sign(), unavailable(/other users can write .*manager\.mjs; correct that with 'chmod go-w /));
  chmodSync(path, 0o755);
  chmodSync(folder, 0o777);
  await t.rejects(sign(), unavailable(/other users can write /));
  chmodSync(folder, 0o700);
  chmodSync(path, 0o644);
  await t.rejects(sign(), unavailable(/is not a program/));
  chmodSync(path, 0o755);
  mkdirSync(join(folder, 'sub'));
  for (const [manager, message] of [
    [join(folder, 'sub'), /is not a program/],
    [join(folder, 'missing'), /cannot be run: .*missing/],
  ] as const) {
    reload({ manager });
    await t.rejects(sign(), unavailable(message));
  }
  const link = join(folder, 'link');
  symlinkSync(path, link);
  mkdirSync(join(folder, 'open'));
  chmodSync(join(folder, 'open'), 0o777);
  copyFileSync(path, join(folder, 'open', 'manager'));
  symlinkSync(join(folder, 'open', 'manager'), join(folder, 'link-to-open'));
  reload({ manager: join(folder, 'link-to-open') });
  await t.rejects(sign(), unavailable(/other users can write .*\/open/), 'behind a link too');
  reload({ ...settings, manager: undefined as never });
  await t.rejects(sign(), unavailable(/keys\.manager in larder\.toml is not set/));
  t.strictSame(calls(), []);
  reload({ manager: link });
  t.ok(isValid(await sign()), 'a link to a safe program is safe');
});

t.test('so many managers run at a time, and a stop ends them', async (t) => {
  const { misbehave, sign, hangs, manager, calls } = startManager(t, { concurrent: 2 });
  t.ok(isValid(await sign()));
  misbehave('sign', 'hang');
  const pending = Array.from({ length: 5 }, () => sign().catch((error: unknown) => String(error)));
  await hangs();
  manager.close();
  for (const end of await Promise.all(pending)) t.match(end, /the store is stopping/);
  t.ok(calls().filter(({ command }) => command === 'sign').length <= 3, 'two at a time, after the first');
});
