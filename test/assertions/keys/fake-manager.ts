// A key manager that speaks the protocol of snapd for external keypair managers, as a program of its own with keys in files. It can be
// made to misbehave.
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { KeyObject } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { until } from '#test/fixtures/until.ts';

export type ManagerCommand = 'features' | 'key-names' | 'get-public-key' | 'sign';
export type Misbehaviour =
  | 'garbage'
  | 'megabytes'
  | 'kilobytes'
  | 'nothing'
  | 'hang'
  | 'answer, then hang'
  | 'exit'
  | 'refuse the PIN'
  | 'flip a bit'
  | 'another key'
  | 'many names'
  | 'only RSA';

export interface ManagerCallRecord {
  command: ManagerCommand;
  args: string[];
  env: Record<string, string>;
}

export interface FakeManager {
  path: string;
  folder: string;
  /** Lets a command misbehave; without one all are well. */
  misbehave(command?: ManagerCommand, how?: Misbehaviour): void;
  /** The calls so far. */
  calls(): ManagerCallRecord[];
  /** Resolves when a call hangs. */
  hangs(): Promise<void>;
  /** Lets the calls that hang go on. */
  release(): void;
}

const program = `import { appendFileSync, existsSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { constants, createECDH, createPrivateKey, createPublicKey, privateEncrypt } from 'node:crypto';

const folder = import.meta.dirname;
const [command, ...args] = process.argv.slice(2);
appendFileSync(folder + '/calls', JSON.stringify({ command, args, env: process.env }) + '\\n');
const keys = JSON.parse(readFileSync(folder + '/keys.json', 'utf8'));
const mode = existsSync(folder + '/mode') ? JSON.parse(readFileSync(folder + '/mode', 'utf8')) : {};
const how = mode.command === command ? mode.how : undefined;

const fail = (text) => {
  process.stderr.write(text + '\\n');
  process.exit(1);
};
const print = (bytes) => {
  if (how === 'garbage') bytes = 'no such thing \\u0007';
  if (how === 'megabytes') bytes = Buffer.alloc(4 * 1024 * 1024, '{');
  if (how === 'kilobytes') bytes = Buffer.alloc(20000, '{');
  if (how === 'nothing') bytes = '';
  process.stdout.write(bytes);
};
const hang = () => {
  const watcher = watch(folder, () => {
    if (!existsSync(folder + '/released')) return;
    watcher.close();
    act();
  });
  writeFileSync(folder + '/hangs', '');
};
const key = () => {
  const option = (name) => args[args.indexOf(name) + 1];
  if (!Object.hasOwn(keys, option('-k'))) fail('error: object not found');
  return createPrivateKey(how === 'another key' ? keys.other : keys[option('-k')]);
};

// ECDSA P-384 over a digest, which node:crypto lacks.
const order = BigInt(
  '0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973',
);
const modulo = (number) => ((number % order) + order) % order;
function power(base, exponent) {
  let result = 1n;
  for (; exponent > 0n; exponent >>= 1n, base = modulo(base * base)) if (exponent & 1n) result = modulo(result * base);
  return result;
}
const toNumber = (bytes) => BigInt('0x' + bytes.toString('hex'));
const toBytes = (number) => Buffer.from(number.toString(16).padStart(96, '0'), 'hex');
function signDigest(digest, key) {
  const once = createECDH('secp384r1');
  const r = modulo(toNumber(once.generateKeys().subarray(1, 49)));
  const secret = toNumber(Buffer.from(key.export({ format: 'jwk' }).d, 'base64url'));
  const s = modulo(power(toNumber(once.getPrivateKey()), order - 2n) * modulo(toNumber(digest) + r * secret));
  return Buffer.concat([toBytes(r), toBytes(s)]);
}

const isRsa = (name) => createPrivateKey(keys[name]).asymmetricKeyType === 'rsa';

function act() {
  if (command === 'features') {
    const signing = how === 'only RSA' ? ['RSA-PKCS'] : ['RSA-PKCS', 'ECDSA'];
    print(JSON.stringify({ signing, 'public-keys': ['DER'] }));
  } else if (command === 'key-names') {
    const all = Object.keys(keys).filter((name) => name !== 'other');
    const names = all.filter(isRsa);
    if (how === 'many names') for (let n = 0; n < 10000; n++) names.push('key number ' + n);
    print(JSON.stringify({ 'key-names': names, 'ecdsa-key-names': all.filter((name) => !isRsa(name)) }));
  } else if (command === 'get-public-key') {
    print(createPublicKey(key()).export({ type: 'spki', format: 'der' }));
  } else if (command === 'sign') {
    const prepared = readFileSync(0);
    const signature = args.includes('ECDSA')
      ? signDigest(prepared, key())
      : privateEncrypt({ key: key(), padding: constants.RSA_PKCS1_PADDING }, prepared);
    if (how === 'flip a bit') signature[signature.length >> 1] ^= 1;
    print(signature);
  } else fail('unknown command');
}

if (how === 'exit') fail('No slot with token named "larder" found, PIN is hunter2');
else if (how === 'refuse the PIN') fail('error: PKCS11 function C_Login failed: rv = CKR_PIN_INCORRECT (0xa0)\\nAborting.');
else if (how === 'hang') hang();
else act();
if (how === 'answer, then hang') setInterval(() => undefined, 1000);
`;

export function fakeManager(t: { teardown(work: () => unknown): void }, keys: Record<string, KeyObject>): FakeManager {
  const folder = mkdtempSync(join(tmpdir(), 'larder-manager-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'manager.mjs');
  // The kernel splits a first line at spaces, which the folder of a checkout may have.
  const node = join(folder, 'node');
  symlinkSync(process.execPath, node);
  writeFileSync(path, `#!${node}\n${program}`, { mode: 0o755 });
  const pems = Object.entries(keys).map(([name, key]) => [name, key.export({ type: 'pkcs8', format: 'pem' })]);
  writeFileSync(join(folder, 'keys.json'), JSON.stringify(Object.fromEntries(pems)));
  const inFolder = (name: string): string => join(folder, name);
  return {
    path,
    folder,
    misbehave(command, how) {
      for (const name of ['hangs', 'released']) rmSync(inFolder(name), { force: true });
      writeFileSync(inFolder('mode'), JSON.stringify({ command, how }));
    },
    calls: () =>
      existsSync(inFolder('calls'))
        ? readFileSync(inFolder('calls'), 'utf8')
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line) as ManagerCallRecord)
        : [],
    hangs: () => until(() => existsSync(inFolder('hangs'))),
    release: () => writeFileSync(inFolder('released'), ''),
  };
}
