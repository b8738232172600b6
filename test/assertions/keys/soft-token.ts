// A token with PKCS #11: SoftHSM, which is a Debian package, with the key manager that larder ships for it.
import { execFileSync } from 'node:child_process';
import type { KeyObject } from 'node:crypto';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { root } from '#test/runner/lanes.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';

/** Why there is no token here, or false: the value of tap's `skip`. */
export const noSoftToken = (): string | false => withoutPrograms('softhsm2-util', 'pkcs11-tool');

/** The key manager for PKCS #11 in the Debian package. */
export const pkcs11Manager = join(root, 'packaging/pkcs11');

export interface SoftToken {
  folder: string;
  /** The variables of the key manager. */
  env: Record<string, string>;
  pin: string;
  /** Writes the PIN that the key manager uses. */
  setPin(pin: string): void;
  pull(): void;
  insert(): void;
  /** Calls pkcs11-tool on the token; its output. */
  tool(...args: string[]): string;
}

/** A token with these keys by their labels; a number makes an RSA key of so many bits there, and 'P-384' one of ECDSA. */
export function softToken(
  t: { teardown(work: () => unknown): void },
  keys: Record<string, KeyObject | number | 'P-384'>,
): SoftToken {
  const folder = mkdtempSync(join(tmpdir(), 'larder-token-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const tokens = join(folder, 'tokens');
  mkdirSync(tokens);
  writeFileSync(join(folder, 'softhsm2.conf'), `directories.tokendir = ${tokens}\nlog.level = ERROR\n`);
  const env = {
    SOFTHSM2_CONF: join(folder, 'softhsm2.conf'),
    LARDER_PKCS11_MODULE: '/usr/lib/softhsm/libsofthsm2.so',
    LARDER_PKCS11_TOKEN: 'acme',
    LARDER_PKCS11_PIN_FILE: join(folder, 'pin'),
  };
  const pin = '739251';
  const run = (program: string, args: readonly string[]): string =>
    execFileSync(program, args, {
      env: { ...process.env, ...env, PIN: pin },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const tool = (...args: string[]): string =>
    run('pkcs11-tool', ['--module', env.LARDER_PKCS11_MODULE, '--token-label', 'acme', ...args]);
  const setPin = (text: string): void => {
    writeFileSync(env.LARDER_PKCS11_PIN_FILE, text, { mode: 0o600 });
  };

  run('softhsm2-util', ['--init-token', '--free', '--label', 'acme', '--so-pin', '00000000', '--pin', pin]);
  for (const [index, [label, key]] of Object.entries(keys).entries()) {
    const id = String(index + 10);
    if (typeof key !== 'object') {
      const type = typeof key === 'number' ? `rsa:${String(key)}` : 'EC:secp384r1';
      const kind = ['--keypairgen', '--key-type', type, '--usage-sign'];
      tool('--login', '--pin', 'env:PIN', ...kind, '--label', label, '--id', id);
      continue;
    }
    const file = join(folder, 'imported.pem');
    writeFileSync(file, key.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    run('softhsm2-util', ['--import', file, '--token', 'acme', '--pin', pin, '--label', label, '--id', id]);
    rmSync(file);
  }
  setPin(pin);
  return {
    folder,
    env,
    pin,
    setPin,
    pull: () => renameSync(tokens, `${tokens}.pulled`),
    insert: () => renameSync(`${tokens}.pulled`, tokens),
    tool,
  };
}
