// The guide for several hosts, typed unchanged: its lines set up a store of two hosts, which works as one store, is
// upgraded, and is restored from copies of its engines. behind-nginx.servers.test.ts covers the block of nginx.
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, DeleteObjectCommand } from '@aws-sdk/client-s3';
import { parse } from 'smol-toml';
import t from 'tap';

import { codeAt } from '#identity/credentials/totp.ts';
import { changeConfig } from '#configuration/config.ts';
import { larder as run } from '#test/cli/world.ts';
import { fromBase32 } from '#test/fixtures/accounts/base32.ts';
import { examplesThroughout, missingOutput } from '#test/fixtures/guides.ts';
import { newHost, type Host } from '#test/fixtures/processes/hosts.ts';
import { postgresPrograms, startPostgres } from '#test/fixtures/servers/postgres.ts';
import { startSwift } from '#test/fixtures/servers/swift.ts';
import { until } from '#test/fixtures/until.ts';
import { snapPath } from '#test/review/fixtures.ts';

t.setTimeout(1_800_000);

const name = 'store.example.internal';
const folder = mkdtempSync(join(tmpdir(), 'larder-guide-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const at = (path: string): string => join(folder, path);
for (const subfolder of ['etc', 'backup', 'first', 'second', 'bin']) mkdirSync(at(subfolder), { mode: 0o700 });
const password = 'the password of the role, 1';

/** Its examples: the place and the lines of each; a line that ends with a backslash continues in the next. */
const blocks = examplesThroughout('hosts').map((example) => {
  const [where = '', ...lines] = example
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n');
  return { where: where.replace(/^# /, ''), lines };
});
const typed = new Set(['nginx']);
/** The next block that stands for this place, as its lines. */
function takeLines(where: string): string[] {
  const block = blocks.find((candidate) => candidate.where === where);
  if (block === undefined) throw new Error(`the guide has nothing more for: ${where}`);
  blocks.splice(blocks.indexOf(block), 1);
  typed.add(where);
  return block.lines;
}

const certificate = { 'key.pem': at('etc/db-key.pem'), 'cert.pem': at('etc/db-ca.pem') };
const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
const subjectArgs = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
const keys = ['-keyout', certificate['key.pem'], '-out', certificate['cert.pem']];
execFileSync('openssl', [...made, ...subjectArgs, ...keys], { stdio: 'ignore' });
const server = await startPostgres({
  administrator: 'postgres',
  listen: true,
  access: [
    'local all postgres trust',
    ...takeLines('pg_hba.conf').map((line) => line.replace('10.0.0.0/24', '127.0.0.1/32')),
  ],
  files: certificate,
  settings: ['ssl = on', `ssl_cert_file = 'cert.pem'`, `ssl_key_file = 'key.pem'`],
});
t.teardown(server.end);
const swift = await startSwift();
t.teardown(swift.end);

const hosts = [
  await newHost(t, 'store-1', at('first/larder'), `https://${name}`),
  await newHost(t, 'store-2', at('second/larder'), `https://${name}`),
] as const;
const [first, second] = hosts;
const bucket = `${swift.endpoint}/${swift.bucket}/larder`;

/** The names of the guide, and the names here. */
const localize = (line: string, data = ''): string =>
  line
    .replaceAll('/var/lib/larder', data)
    .replaceAll('/media/first', first.data)
    .replaceAll('/media/backup', at('backup'))
    .replaceAll('/etc/larder', at('etc'))
    .replaceAll('db.example.internal', `localhost:${server.port}`)
    .replaceAll('https://s3.example.internal/larder', bucket);

/** Repeats the line, like a person on a busy machine after a message that an engine does not respond. */
async function again<Result>(doing: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await doing();
    } catch (error) {
      const { message, stdout = '', stderr = '' } = error as Error & { stdout?: string; stderr?: string };
      if (!/does not answer|does not respond|cannot open the database/.test(message + stdout + stderr)) throw error;
    }
  }
}

async function stopWell(host: Host): Promise<void> {
  const code = await host.stop();
  if (code !== 0) throw new Error(`${host.name} has ended with ${String(code)}: ${host.log()}`);
}

/** Types lines on a host of the store; systemd and apt have a test of their own. */
async function type(host: Host, lines: readonly string[]): Promise<string> {
  let out = '';
  for (const line of lines) {
    if (/^systemctl (?:enable --now|start) larder$/.test(line)) await host.start();
    else if (line === 'systemctl stop larder') await stopWell(host);
    else if (!/^apt install \.\/larder_\S+\.deb$/.test(line)) {
      const programs = postgresPrograms();
      const typing = () => host.type(localize(line, host.data), { env: { PGPASSWORD: password }, programs });
      out += await again(typing);
    }
  }
  return out;
}

/**
 * Types lines on the host of the database. The line that becomes postgres uses the socket, and there is no terminal.
 */
async function typeAtDatabase(lines: readonly string[]): Promise<void> {
  writeFileSync(at('bin/sudo'), '#!/bin/sh\nshift 2\nexec setsid --wait "$@"\n', { mode: 0o755 });
  const PATH = `${at('bin')}:${postgresPrograms()}:${process.env['PATH'] ?? ''}`;
  const env = { ...process.env, PATH, PGHOST: server.folder, PGPORT: String(server.port), PGUSER: 'postgres' };
  for (const line of lines) {
    const running = promisify(execFile)('sh', ['-ec', line], { env });
    running.child.stdin!.end(`${password}\n${password}\n`);
    await running;
  }
}

/** Runs a command on a host of the store; returns its JSON output. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the caller knows the shape
async function larder({ data }: Host, line: string, ...stdin: string[]): Promise<any> {
  return again(async () => {
    const { code, out, err } = await run(`${line} --json`, { env: { LARDER_DATA: data }, stdin });
    if (code !== 0) throw new Error(`${line}: ${err}`);
    return JSON.parse(out) as unknown;
  });
}

let ada = '';
const asAda = () => ({ headers: { authorization: `Macaroon ${ada}` } });

t.test('two hosts serve one store, set up by the lines of the guide', async (t) => {
  await typeAtDatabase(takeLines('database'));
  writeFileSync(at('etc/postgres-password'), `${password}\n`, { mode: 0o600 });
  const { accessKeyId, secretAccessKey } = swift.access;
  const [id, secret] = takeLines('s3.toml');
  const credentials = [id!.replace(/"\S+"/, `"${accessKeyId}"`), secret!.replace(/"\S+"/, `"${secretAccessKey}"`)];
  writeFileSync(at('etc/s3.toml'), credentials.join('\n'), { mode: 0o600 });

  await type(first, takeLines('first host'));
  const settings = parse(localize(takeLines('larder.toml').join('\n'))) as Record<
    string,
    Record<string, string | string[]>
  >;
  const changes = Object.entries(settings).flatMap(([section, keys]) =>
    Object.entries(keys).map(([key, value]) => [`${section}.${key}`, value] as const),
  );
  changeConfig(join(first.data, 'larder.toml'), Object.fromEntries(changes));
  const checked = await type(first, takeLines('first host'));
  t.match(checked, /Server of the files: \S+ takes, gives and removes files/);
  t.same(missingOutput('hosts', 'The first host', checked), []);
  mkdirSync(second.data, { mode: 0o700 });
  const begin = takeLines('further host');
  t.match(await type(second, begin), /Database server: the database larder at localhost:\d+, PostgreSQL/);
  for (const host of hosts) t.match(await host.ask('/readyz'), { status: 200 });
  for (const who of ['ada', 'bob']) {
    const names = ['--id', who, '--email', `${who}@example.org`, '--username', who, '--display-name', who];
    await larder(first, `account create ${names.join(' ')}`);
  }
  ada = (await larder(first, 'token issue --account ada')).macaroon;
});

t.test('the next request at another host sees the change of a command at one host', async (t) => {
  const whoami = async (token: string): Promise<number> => {
    const headers = { authorization: `Macaroon ${token}` };
    return (await second.ask('/v1/tokens/whoami', { headers })).status;
  };
  const held = async (): Promise<object[]> => {
    const { body } = await second.ask('/v1/snap/tiny-app/releases', asAda());
    return (body['channel-map'] as { channel: string; revision: number }[]).map(({ channel, revision }) => ({
      channel,
      revision,
    }));
  };
  await larder(first, 'package register snap/tiny-app --account ada');
  t.match(await second.ask('/v1/snap/tiny-app', asAda()), { status: 200 });
  await larder(first, `package push ${snapPath('app-xz')}`);
  t.same(await held(), []);
  await larder(first, 'release snap/tiny-app 1 edge');
  t.same(await held(), [{ channel: 'latest/edge', revision: 1 }]);
  await larder(first, 'close snap/tiny-app edge --yes');
  t.same(await held(), []);

  // A token, a token that is revoked by its number, and the tokens of an account.
  const other = await larder(first, 'token issue --account ada');
  t.same([await whoami(ada), await whoami(other.macaroon)], [200, 200]);
  await larder(first, `token revoke ${other['session-id']} --yes`);
  t.same([await whoami(ada), await whoami(other.macaroon)], [200, 401]);
  await larder(first, 'account disable ada --yes');
  t.equal(await whoami(ada), 401);
  await larder(first, 'account enable ada');
  t.equal(await whoami(ada), 200);
});

t.test('a proposal at one host is approved at another host', async (t) => {
  const pump = 'four pumps at the harbour, 9';
  await larder(first, 'account password bob --password-stdin', pump);
  const totp = await larder(first, 'account totp bob');
  for (const { data } of hosts) {
    changeConfig(join(data, 'larder.toml'), { 'approvals.releases': ['1 of bob for snap/*:*/stable'] });
  }
  for (const host of hosts) await host.reload();
  const inForce = () => server.ask(`SELECT 1 FROM approval_policy WHERE policy LIKE '%stable%'`, 'larder');
  await until(async () => (await inForce()).rowCount === 1);
  // So that changes of others to the account of bob are not recent.
  await server.ask(`UPDATE touched_accounts SET at = '2026-01-01T00:00:00.000Z'`, 'larder');
  const release = () =>
    second.ask('/v1/snap/tiny-app/releases', {
      ...asAda(),
      method: 'POST',
      body: [{ channel: 'stable', revision: 1 }],
    });
  const refusal = await release();
  t.match(refusal, { status: 403, body: { 'error-list': [{ code: 'approval-required' }] } });
  // The proposal is named where the publisher meets it.
  const [, proposal = ''] = /\(proposal (\d+),/.exec(JSON.stringify(refusal.body)) ?? [];
  const code = codeAt(fromBase32(totp.secret), Math.floor(Date.now() / 30_000));
  await larder(first, `approval approve ${proposal} --as bob --password-stdin --one-time-password ${code}`, pump);
  const released = await release();
  t.match(released, { status: 200 }, JSON.stringify(released.body));
});

t.test('each host is sealed and unsealed separately, and all report the same store', async (t) => {
  const sealed = async (): Promise<string[]> =>
    Promise.all(hosts.map(async (host) => /^larder_sealed (\d)$/m.exec((await host.ask('/metrics')).text)?.[1] ?? ''));
  writeFileSync(at('etc/passphrase'), 'correct horse battery staple\n', { mode: 0o600 });
  await larder(first, `key seal --passphrase-file ${at('etc/passphrase')} --yes`);
  await first.reload();
  // The other one has a copy of its own.
  await until(async () => (await sealed()).join() === '1,0');
  t.match(await larder(second, 'audit list --limit 1 --action seal_master_key'), { entries: [{}] });
  changeConfig(join(first.data, 'larder.toml'), { 'keys.passphrase_file': at('etc/passphrase') });
  await first.reload();
  await until(async () => (await sealed()).join() === '0,0');

  const file = at('backup/store.tar');
  await larder(first, `backup ${file}`);
  await larder(second, `backup --check ${file}`);
  t.match(await larder(second, 'status'), { serving: {}, counts: { revisions: 1 }, 'last-backup': /^2/ });
});

t.test('a bucket that lost its marker gets it back on any host, and all hosts continue', async (t) => {
  const { client, bucket: Bucket } = swift;
  const isReady = async () => (await Promise.all(hosts.map((host) => host.isReady()))).join();
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'larder/larder-store.json' }));
  await until(async () => (await isReady()) === 'false,false');
  t.match((await first.ask('/readyz')).body, { problems: [/run 'larder bucket accept'/] });
  const out = await type(second, takeLines('any host, to put the marker back'));
  t.match(
    out,
    /is the place of this store again: of 1 file that this store needs 1 is there[^]*Everything is as it was written/,
  );
  await until(async () => (await isReady()) === 'true,true');
  t.match(await larder(first, 'audit list --action accept_bucket'), { entries: [{ details: { there: 1 } }] });
});

t.test('they are upgraded one after the other', async (t) => {
  const lines = takeLines('each host');
  for (const host of hosts) t.match(await type(host, lines), /Server: served since[^]*All is well/);
});

/** Hosts that went on when they were last heard of have said nothing since. */
const aMinuteLater = () =>
  server.ask(
    `UPDATE passing_leases SET ends_at = '2026-01-01T00:00:00.000Z'
     WHERE name LIKE 'process %'`,
    'larder',
  );

/** All of the bucket, by its keys. */
async function copied(): Promise<Map<string, Buffer>> {
  const { client, bucket: Bucket } = swift;
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
  const objects = Contents.map(async ({ Key = '' }): Promise<[string, Buffer]> => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    return [Key, Buffer.from(await Body!.transformToByteArray())];
  });
  return new Map(await Promise.all(objects));
}

t.test('the copies of its engines are restored', async (t) => {
  await type(first, takeLines('with the means of the engines'));
  const copy = await copied();
  t.ok(copy.size > 1);
  // Later than the copy, and lost with it.
  await larder(first, 'package register snap/later --account ada');
  for (const host of hosts) t.equal(await host.stop(), 0);
  for (const Key of copy.keys()) await swift.client.send(new DeleteObjectCommand({ Bucket: swift.bucket, Key }));
  await typeAtDatabase(takeLines('database, to put it back'));
  for (const [Key, Body] of copy) await swift.client.send(new PutObjectCommand({ Bucket: swift.bucket, Key, Body }));
  const lines = takeLines('one host, to put it back');
  t.match(await type(first, lines.slice(0, -1)), /Everything is as it was written/);
  await aMinuteLater();
  await type(first, lines.slice(-1));
  await type(second, takeLines('every other host, to put it back'));
  t.match(await second.ask('/v1/snap/tiny-app', asAda()), { status: 200 });
  t.match(await second.ask('/v1/snap/later', asAda()), { status: 404 });
  for (const host of hosts) t.match(await larder(host, 'audit verify'), { good: true });
});

t.test('nothing that the guide shows is left untyped', (t) => {
  t.same(
    [...new Set(blocks.map(({ where }) => where))].filter((where) => !typed.has(where)),
    [],
  );
  t.same(
    blocks.map(({ where }) => where),
    ['nginx'],
  );
  t.end();
});

t.test('files in a folder are those of one host', async (t) => {
  /** All content of the server, without the parts of pg_dump that differ each time. */
  const everything = async (): Promise<string> => {
    const whom = ['--host', server.folder, '--port', String(server.port), '--username', 'postgres', 'larder'];
    const { stdout } = await promisify(execFile)(join(postgresPrograms(), 'pg_dump'), whom);
    return stdout.replaceAll(/^\\(?:un)?restrict .*$/gm, '');
  };
  const toml = (host: Host): string => join(host.data, 'larder.toml');
  const inBucket = readFileSync(toml(first), 'utf8');
  for (const host of hosts) t.equal(await host.stop(), 0);
  cpSync(toml(first), at('in-folder.toml'));
  changeConfig(at('in-folder.toml'), { 'blobs.s3': undefined, 'blobs.credentials_file': undefined });
  await larder(first, `move --to ${at('in-folder.toml')}`);
  await first.start();
  cpSync(toml(first), toml(second));

  const sentence =
    /larder: cannot serve the store: its files are in a folder of store-1, which serves it as well, or did a minute ago; have all hosts keep them in one bucket \([^\n]*\), or serve it on one of them\n$/;
  await t.rejects(second.start(), { message: sentence });
  t.match(await first.ask('/readyz'), { status: 200 });

  // A host that is cut off has its place for a minute, and then finds another one in it.
  const goOn = first.hang();
  const before = await everything();
  await t.rejects(second.start(), { message: sentence });
  t.equal(await everything(), before, 'nothing is changed');
  await aMinuteLater();
  cpSync(join(first.data, 'blobs'), join(second.data, 'blobs'), { recursive: true });
  await second.start();
  t.match(await larder(second, 'verify'), { good: true });
  t.equal(await goOn(), 1);
  t.match(first.log(), /its files are in a folder of store-2/);
  await t.rejects(first.start(), { message: /its files are in a folder of store-2/ }, 'which has them now');
  t.equal(await second.stop(), 0);

  writeFileSync(at('in-bucket.toml'), inBucket);
  await larder(second, `move --to ${at('in-bucket.toml')}`);
  cpSync(toml(second), toml(first));
  for (const host of hosts) await host.start();
  for (const host of hosts) t.match(await host.ask('/readyz'), { status: 200 });
  for (const host of hosts) t.equal(await host.stop(), 0);
});
