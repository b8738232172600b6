// The certificate authority of the store with its key in a token: SoftHSM, through the key manager for PKCS #11 that larder ships.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { noSoftToken, pkcs11Manager, softToken } from '#test/assertions/keys/soft-token.ts';
import { newStore, start } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';

t.setTimeout(300_000);

t.test(
  'a token signs the certificates, openssl accepts the chain, and a start does not need the token',
  { skip: noSoftToken() || withoutPrograms('openssl') },
  async (t) => {
    const token = softToken(t, { 'the "authority"': 3072 });
    const { data } = await newStore(t);
    changeConfig(join(data, 'larder.toml'), {
      'http.base_url': 'https://store.example.internal',
      'http.listen': '127.0.0.1:0',
      'keys.manager': pkcs11Manager,
      'keys.environment': Object.keys(token.env),
      'keys.timeout_seconds': 60,
      'tls.authority_key': 'the "authority"',
    });
    const serve = async () => {
      const server = start(t, ['serve', '--data', data], token.env);
      await server.says(/"url":"https:[^"]+"/);
      return server;
    };
    const stop = async ({ child, ended }: Awaited<ReturnType<typeof serve>>): Promise<void> => {
      child.kill('SIGTERM');
      await ended;
    };
    await stop(await serve());
    const file = (name: string): string => join(data, 'tls', name);
    const verified = execFileSync('openssl', [
      ...['verify', '-x509_strict', '-purpose', 'sslserver', '-verify_hostname', 'store.example.internal'],
      ...['-CAfile', file('ca.pem'), file('server.pem')],
    ]);
    t.match(verified.toString(), /: OK/);
    const modulus = token.tool(
      '--read-object',
      '--type',
      'pubkey',
      '--label',
      'the "authority"',
      '--output-file',
      `${token.folder}/public.der`,
    );
    t.equal(modulus, '');
    const inToken = execFileSync('openssl', ['pkey', '-pubin', '-inform', 'DER', '-in', `${token.folder}/public.der`]);
    const ofAuthority = execFileSync('openssl', ['x509', '-in', file('ca.pem'), '-noout', '-pubkey']);
    t.equal(ofAuthority.toString(), inToken.toString());
    const before = readFileSync(file('server.pem'), 'utf8');
    token.pull();
    const served = await serve();
    const { out } = await larder(`status --data ${data}`, { env: token.env });
    t.match(out, /The keys in the key manager are not available/);
    t.equal(readFileSync(file('server.pem'), 'utf8'), before);
    await stop(served);
  },
);
