// The script of an exported request folder registers a key and brings back the assertions to import.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { parseAssertion, parseStream } from '#assertions/format/assertion.ts';
import { readBinary, writeBinary } from '#macaroons/codec/binary.ts';
import { mint, verify, withThirdPartyCaveat } from '#macaroons/codec/macaroon.ts';
import { buildJudge, snapdMissing } from '#test/assertions/judge.ts';
import { chain, vectorKey } from '#test/assertions/vectors.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { newBrandStore, type BrandStore } from '#test/cli/brands/brand-store.ts';

const judge = snapdMissing().length === 0 ? buildJudge() : undefined;

/** Checks that the library of snapd accepts a request for a key of the brand of the vectors. */
function snapdTakes(t: Test, request: string, name: string): void {
  if (judge === undefined) return;
  const { status, stderr } = judge(request, '-strict', '-account', 'my-brand', '-name', name);
  t.equal(status, 0, `snapd takes the request ${stderr}`);
}

const { id } = vectorKey('rsa4096-a');
const statusOf = async ({ json }: BrandStore, name: string): Promise<string | undefined> =>
  (await json('key list --brand my-brand')).keys.find((key: { name: string }) => key.name === name).status;

const skip = withoutPrograms('python3');

t.test('the request folder registers the key and brings back the assertions to import', { skip }, async (t) => {
  const store = await newBrandStore(t);
  const { larder, json, files } = store;
  const out = join(files, 'carry');
  t.match(await json(`key request default --folder ${out}`), { 'sha3-384': id, folder: out });
  t.same(readdirSync(out).sort(), [
    'READ-ME-FIRST.txt',
    'account-key.json',
    'default.account-key-request',
    'register.py',
  ]);
  const request = readFileSync(join(out, 'default.account-key-request'), 'utf8');
  snapdTakes(t, request, 'default');
  t.same(JSON.parse(readFileSync(join(out, 'account-key.json'), 'utf8')), { account_key_request: request });
  t.match(readFileSync(join(out, 'READ-ME-FIRST.txt'), 'utf8'), id);
  t.ok(readFileSync(join(out, 'READ-ME-FIRST.txt'), 'utf8').split('\n').length <= 60, 'one page');
  t.equal(statSync(join(out, 'register.py')).mode & 0o111, 0o111, 'the script can be run');
  t.match(await larder(`key request default --folder ${out}`), { code: 1, err: /there already/ });

  const online = await onlineStore(t);
  const ran = await python(t, join(out, 'register.py'), online.url, 'brand@example.org\nsecret\n123456\n');
  t.equal(ran.code, 0, ran.err);
  t.same(online.registered, [request], 'the request arrived as it was written, with a login that holds');
  const back = join(out, 'return.assert');
  t.same(
    parseStream(readFileSync(back)).map(({ type }) => type),
    ['account-key', 'account', 'account-key'],
  );
  t.match(await larder(`assertion import ${back}`), { code: 0 });
  t.equal(await statusOf(store, 'default'), 'registered');

  const wrong = await python(t, join(out, 'register.py'), online.url, 'brand@example.org\nwrong\n');
  t.match(wrong, { code: 1, err: /The login was refused: Provided email\/password is not correct/ });
});

/** As much of an online store as the script talks to. */
async function onlineStore(t: { teardown(work: () => unknown): void }): Promise<{ url: string; registered: string[] }> {
  const [rootKey, caveatKey] = [Buffer.from('root key of the dashboard'), Buffer.from('shared with the login')];
  const registered: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const body = (text === '' ? {} : JSON.parse(text)) as Record<string, string>;
      const reply = (status: number, value: unknown): void => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      };
      const { url = '', headers } = request;
      if (url === '/dev/api/acl/') {
        t0.same(body['permissions'], ['modify_account_key']);
        const root = withThirdPartyCaveat(mint(rootKey, 'dashboard', 'dashboard'), {
          caveatRootKey: caveatKey,
          identifier: '{"for": "the login"}',
          location: headers.host ?? '',
        });
        reply(200, { macaroon: writeBinary(root, 1).toString('base64url') });
      } else if (url === '/api/v2/tokens/discharge') {
        if (body['password'] !== 'secret') {
          reply(401, { code: 'INVALID_CREDENTIALS', message: 'Provided email/password is not correct.', extra: {} });
        } else if (body['otp'] === undefined) {
          reply(401, { code: 'TWOFACTOR_REQUIRED', message: '2-factor authentication required.', extra: {} });
        } else {
          const discharge = mint(caveatKey, body['caveat_id'] ?? '', 'login');
          reply(200, { discharge_macaroon: writeBinary(discharge, 1).toString('base64url') });
        }
      } else if (url === '/dev/api/account/account-key') {
        const [, root = '', discharge = ''] =
          /^Macaroon root=(\S+), discharge=(\S+)$/.exec(headers.authorization ?? '') ?? [];
        const [macaroon, bound] = [root, discharge].map((encoded) => readBinary(Buffer.from(encoded, 'base64url')));
        const holds =
          macaroon !== undefined &&
          bound !== undefined &&
          verify({ macaroon, rootKey, discharges: [bound], check: () => ({ met: true }) }).verified;
        if (holds) registered.push(body['account_key_request'] ?? '');
        reply(
          holds ? 200 : 401,
          holds ? {} : { error_list: [{ code: 'macaroon', message: 'The login does not hold' }] },
        );
      } else {
        const assertion = Object.values(chain.assertions).find((candidate) => {
          const { type, headers: names } = parseAssertion(candidate);
          const key = { account: names['account-id'], 'account-key': names['public-key-sha3-384'] }[type];
          return url === `/v2/assertions/${type}/${key as string}`;
        });
        if (assertion === undefined) reply(404, {});
        else response.writeHead(200, { 'content-type': headers.accept }).end(assertion);
      }
    });
  });
  const t0 = t as unknown as { same(found: unknown, wanted: unknown): void };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, registered };
}

/** Runs a script like a person, but without a terminal: the typed text comes from the standard input. */
async function python(
  t: { teardown(work: () => unknown): void },
  script: string,
  online: string,
  typed: string,
): Promise<{ code: number | null; err: string }> {
  const child = spawn('python3', [script], {
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      STORE_DASHBOARD_URL: online,
      UBUNTU_ONE_SSO_URL: online,
      STORE_ASSERTIONS_URL: `${online}/v2/assertions`,
    },
  });
  t.teardown(() => child.kill());
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  child.stdin.end(typed);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, err };
}
