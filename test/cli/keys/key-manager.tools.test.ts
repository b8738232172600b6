// A store that is served with keys in a token: SoftHSM, through the key manager for PKCS #11 that larder ships.
import { execFileSync, spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { readSecretKey } from '#assertions/keys/secret-key.ts';
import { buildJudge, snapdMissing } from '#test/assertions/judge.ts';
import { noSoftToken, pkcs11Manager, softToken, type SoftToken } from '#test/assertions/keys/soft-token.ts';
import { vectorKey } from '#test/assertions/vectors.ts';
import { newBrandStore, type BrandStore } from '#test/cli/brands/brand-store.ts';
import { start } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { until } from '#test/fixtures/until.ts';

t.setTimeout(600_000);
const judge = snapdMissing().length === 0 ? buildJudge() : undefined;

interface TokenStore extends BrandStore {
  token: SoftToken;
  /** Runs a command with the variables of the token. */
  run(line: string): Promise<{ code: number; out: string; err: string }>;
  /** The commands that the key manager was called with. */
  calls(): string[];
}

/** A store with a token; the key manager is called through a program that counts. */
async function tokenStore(t: Test, keys: Parameters<typeof softToken>[1]): Promise<TokenStore> {
  const token = softToken(t, keys);
  const store = await newBrandStore(t);
  const counter = join(token.folder, 'counted');
  writeFileSync(counter, `#!/bin/sh\necho "$1" >>'${token.folder}/calls'\nexec '${pkcs11Manager}' "$@"\n`, {
    mode: 0o755,
  });
  changeConfig(join(store.data, 'larder.toml'), {
    'keys.manager': counter,
    'keys.environment': Object.keys(token.env),
    'keys.timeout_seconds': 60,
  });
  return {
    ...store,
    token,
    run: (line) => larder(line, { env: { ...token.env, LARDER_DATA: store.data } }),
    calls: () =>
      existsSync(join(token.folder, 'calls'))
        ? readFileSync(join(token.folder, 'calls'), 'utf8').trim().split('\n')
        : [],
  };
}

/** Serves the store in a process of its own. */
async function serveWith(t: Test, { data, token, json }: TokenStore) {
  const server = start(t, ['serve', '--data', data, '--listen', '127.0.0.1:0'], token.env);
  const [, url = ''] = await server.says(/"url":"([^"]+)"/);
  const { macaroon } = (await json('token issue --account my-brand')) as { macaroon: string };
  const headers = { authorization: `Macaroon ${macaroon}` };
  const keys = `${url}/v1/brand/my-brand/signing_key`;
  return {
    ...server,
    problems: async () => ((await (await fetch(`${url}/readyz`)).json()) as { problems: string[] }).problems.join('\n'),
    async request(key: string) {
      const response = await fetch(`${keys}/${key}/account-key-request`, { method: 'POST', headers });
      const body = (await response.json()) as { 'account-key-request': string; 'error-list'?: { message: string }[] };
      return { status: response.status, text: body['account-key-request'], message: body['error-list']?.[0]?.message };
    },
  };
}

const skip = noSoftToken();

t.test('keys that were made in a token sign; a pulled token seals them, until it is back', { skip }, async (t) => {
  const store = await tokenStore(t, { 'acme "serials" \\o/': 4096, small: 2048 });
  const { run, token } = store;
  t.match(await run('key create my-brand refused --in-manager small'), { code: 1, err: /RSA with 2048 bits/ });
  t.match(await run('key create my-brand refused --in-manager serials'), {
    code: 1,
    err: /no key 'serials'; it has .*'acme "serials" \\o\/'/,
  });
  const made = await run(`key create my-brand serials --in-manager 'acme "serials" \\o/' --json`);
  t.equal(made.code, 0, made.err);
  const { 'sha3-384': key } = JSON.parse(made.out) as { 'sha3-384': string };

  const served = await serveWith(t, store);
  const signed = await served.request(key);
  t.equal(signed.status, 200);
  if (judge !== undefined) {
    const { status, stderr } = judge(signed.text, '-strict', '-account', 'my-brand', '-name', 'serials');
    t.equal(status, 0, `snapd takes the request ${stderr}`);
  }
  t.equal((await served.request(vectorKey('rsa4096-a').id)).status, 200, 'keys of the store sign as well');

  token.pull();
  const sealed = await served.request(key);
  t.equal(sealed.status, 503);
  t.match(sealed.message, /^The keys in the key manager are not available: .*C_Initialize/);
  const text = await served.problems();
  t.match(text, /The keys in the key manager are not available: .*C_Initialize/);
  t.match((await run('status')).out, /keys in the key manager are not available/);
  t.match((await run('doctor')).out, /WRONG Signing key: The keys in the key manager are not available/);
  t.match(await run('key request serials --local'), { code: 1, err: /not available: .*C_Initialize/ });
  t.equal((await served.request(vectorKey('rsa4096-a').id)).status, 200);

  token.insert();
  await until(async () => (await served.problems()) === '');
  t.equal((await served.request(key)).status, 200, 'without a restart');
  served.child.kill('SIGTERM');
  const { err, out } = await served.ended;
  t.notMatch(err + out, token.pin, 'the log has no PIN');
});

t.test('a wrong PIN is tried once, by the server and commands together', { skip }, async (t) => {
  const store = await tokenStore(t, { serials: vectorKey('rsa4096-c').privateKey });
  const { run, token, calls } = store;
  const { id: key } = vectorKey('rsa4096-c');
  t.match(await run('key create my-brand serials --in-manager serials'), { code: 0 });
  const served = await serveWith(t, store);
  const attempts = () => calls().filter((command) => command === 'sign').length;
  const before = attempts();
  token.setPin('000000');
  const refused = /refused the PIN\. Correct the PIN, then reload the server\. Until then it is not tried again/;
  for (const { status, message } of await Promise.all([1, 2, 3, 4].map(() => served.request(key)))) {
    t.equal(status, 503);
    t.match(message, refused);
  }
  for (let n = 0; n < 2; n++) t.match(await run('key request serials --local'), { code: 1, err: refused });
  t.equal(attempts() - before, 1);
  t.match(token.tool('--list-token-slots'), /user PIN count low/, 'the token has seen it');
  t.match(await served.problems(), refused);

  token.setPin(`${token.pin}\n`);
  t.equal((await served.request(key)).status, 200, 'another credential is tried');
  t.equal(attempts() - before, 2);
  t.equal(await served.problems(), '');
});

t.test('the programs that sign inherit that the memory is excluded from core dumps', { skip }, async (t) => {
  const store = await tokenStore(t, { serials: vectorKey('rsa4096-c').privateKey });
  const { run, token, data } = store;
  t.match(await run('key create my-brand serials --in-manager serials'), { code: 0 });
  const probe = join(token.folder, 'probe');
  writeFileSync(
    probe,
    `#!/bin/sh\n[ "$1" = sign ] && tr '\\0' ' ' </proc/$PPID/cmdline >'${token.folder}/parent' && ` +
      `cat /proc/self/coredump_filter /proc/$PPID/coredump_filter >'${token.folder}/filters'\nexec '${pkcs11Manager}' "$@"\n`,
    { mode: 0o755 },
  );
  changeConfig(join(data, 'larder.toml'), { 'keys.manager': probe });
  const served = await serveWith(t, store);
  t.equal((await served.request(vectorKey('rsa4096-c').id)).status, 200);
  t.match(readFileSync(join(token.folder, 'filters'), 'utf8'), /^0+\n0+\n$/, 'of the program, and of the server');
  t.notMatch(readFileSync(join(token.folder, 'parent'), 'utf8'), token.pin);
});

t.test(
  'the key manager for PKCS #11 shows the PIN in no argument',
  { skip: skip || withoutPrograms('strace') },
  (t) => {
    const { env, folder, pin } = softToken(t, { serials: vectorKey('rsa4096-c').privateKey });
    const trace = join(folder, 'trace');
    const traced = ['-f', '-qq', '-s', '4096', '-e', 'trace=execve', '-o', trace, pkcs11Manager];
    const signed = spawnSync('strace', [...traced, 'sign', '-m', 'RSA-PKCS', '-k', 'serials'], {
      env: { PATH: process.env['PATH'], ...env },
      input: Buffer.alloc(83, 1),
    });
    t.equal(signed.stdout.length, 512, signed.stderr.toString());
    const text = readFileSync(trace, 'latin1');
    t.match(text, /pkcs11-tool.*"--sign"/);
    t.notMatch(text, pin);
    t.end();
  },
);

t.test('the key manager for PKCS #11 leaves the last attempt before a lock to people', { skip }, (t) => {
  const { env, folder } = softToken(t, { serials: vectorKey('rsa4096-c').privateKey });
  // A stand-in for the tool shows a flag that SoftHSM never sets, because it never locks.
  const script = readFileSync(pkcs11Manager, 'utf8').replace('tool=/usr/bin/pkcs11-tool', `tool='${folder}/tool'`);
  writeFileSync(join(folder, 'manager'), script, { mode: 0o755 });
  const sign = (flag: string) => {
    writeFileSync(
      join(folder, 'tool'),
      `#!/bin/sh\nfor word; do [ "$word" != --login ] || touch '${folder}/tried'; done\n` +
        `/usr/bin/pkcs11-tool "$@" | sed 's/login required/login required, ${flag}/'\n`,
      { mode: 0o755 },
    );
    return spawnSync(join(folder, 'manager'), ['sign', '-m', 'RSA-PKCS', '-k', 'serials'], {
      env,
      input: Buffer.alloc(83, 1),
    });
  };
  for (const flag of ['final user PIN try', 'user PIN locked'])
    t.match(sign(flag).stderr.toString(), /^the PIN is locked, or one wrong PIN away from it\n$/, flag);
  t.notOk(existsSync(join(folder, 'tried')));
  t.equal(sign('user PIN count low').status, 0, 'another wrong PIN before does not matter');
  t.ok(existsSync(join(folder, 'tried')));
  t.end();
});

t.test(
  'a key manager that signs with OPENPGP, such as gpg, is used too',
  { skip: withoutPrograms('gpg') },
  async (t) => {
    const home = mkdtempSync(join(tmpdir(), 'gpg-'));
    t.teardown(() => {
      spawnSync('gpgconf', ['--homedir', home, '--kill', 'all']);
      rmSync(home, { recursive: true, force: true });
    });
    const gpg = ['--homedir', home, '--batch', '--pinentry-mode', 'loopback', '--passphrase', ''];
    execFileSync('gpg', [...gpg, '--quick-gen-key', 'serials', 'rsa4096', 'sign', 'never'], { stdio: 'ignore' });
    const exported = execFileSync('gpg', [...gpg, '--export-secret-keys', '--armor', 'serials'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const publicKey = createPublicKey(readSecretKey(exported.toString()));
    writeFileSync(join(home, 'key.der'), publicKey.export({ type: 'spki', format: 'der' }));
    const script = (digest: string): string => `#!/bin/sh
case $1 in
  features) echo '{"signing": ["OPENPGP"], "public-keys": ["DER"]}' ;;
  get-public-key) exec cat '${home}/key.der' ;;
  sign) exec /usr/bin/gpg --homedir '${home}' --batch --digest-algo ${digest} --detach-sign --output - ;;
esac
`;
    const manager = join(home, 'manager');
    writeFileSync(manager, script('SHA256'), { mode: 0o755 });
    const store = await newBrandStore(t);
    changeConfig(join(store.data, 'larder.toml'), { 'keys.manager': manager, 'keys.timeout_seconds': 60 });
    t.match(await store.larder('key create my-brand serials --in-manager serials'), {
      code: 1,
      err: /is invalid: its digest is sha256 instead of sha512/,
    });
    writeFileSync(manager, script('SHA512'));
    t.match(await store.larder('key create my-brand serials --in-manager serials'), { code: 0 });
    const { out } = await store.larder('key request serials --local');
    t.match(out, /^type: account-key-request/);
    if (judge !== undefined) {
      const { status, stderr } = judge(`${out.trimEnd()}\n`, '-account', 'my-brand', '-name', 'serials');
      t.equal(status, 0, `snapd takes the request ${stderr}`);
    }
  },
);
