// Commands on a store with its records on a PostgreSQL server.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';

import type { ServerState } from '#engine/database.ts';
import { examineServerState } from '#examinations/postgres.ts';
import { makeStore } from '#data/new-store.ts';
import { changeConfig, initialConfig } from '#configuration/config.ts';
import { startPostgres, type PostgresServer } from '#test/fixtures/servers/postgres.ts';
import { commandsOn, folder, serve, start, type NewStore } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';

const password = 'correct horse battery';
const access = ['local all ada scram-sha-256', 'local all all trust'];
const makeAda = `CREATE ROLE ada LOGIN PASSWORD '${password}'`;
let server: PostgresServer;

t.before(async () => {
  server = await startPostgres({ access });
  t.teardown(server.end);
  await server.ask(makeAda);
});

/** The address of a database by its name. */
const at = (database: string, on = server, user = 'ada'): string =>
  on.address().replace('larder@/postgres', `${user}@/${database}`);

/** A new and empty database that belongs to ada. */
async function newDatabase(on = server): Promise<string> {
  const name = `store_${randomBytes(6).toString('hex')}`;
  await on.ask(`CREATE DATABASE ${name} OWNER ada`);
  await on.ask(`REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC`);
  return name;
}

function passwordFile(t: Test): string {
  const file = join(folder(t), 'password');
  writeFileSync(file, `${password}\n`, { mode: 0o600 });
  return file;
}

interface StoreOfAda extends NewStore {
  database: string;
  passwordFile: string;
  configuration: string;
}

/** A store of ada with its records on a server. */
async function storeOfAda(t: Test, on = server): Promise<StoreOfAda> {
  const store = commandsOn(join(folder(t), 'data'));
  const [database, file] = [await newDatabase(on), passwordFile(t)];
  const made = await store.larder(`init --postgres ${at(database, on)} --postgres-password-file ${file}`);
  if (made.code !== 0) throw new Error(made.err);
  return { ...store, database, passwordFile: file, configuration: join(store.data, 'larder.toml') };
}

const oneLine = /^larder: [^\n]*\n$/;
const makeBob = 'account create --email bob@example.org --username bob --display-name Bob';

t.test('a store is made on the server that is named, and served from it, and commands work beside it', async (t) => {
  const store = await storeOfAda(t);
  t.notOk(existsSync(join(store.data, 'larder.db')), 'no file of records is made');
  const { url } = await serve(t, store.data);
  t.match(await store.larder(makeBob), { code: 0 });
  t.match(await store.json('account list'), { accounts: [{ username: 'admin' }, { username: 'bob' }] });
  t.equal((await fetch(`${url}/readyz`)).status, 200);
  t.match(await start(t, ['serve', '--data', store.data]).ended, { code: 3, err: /in use by another larder/ });

  const { text } = await fetch(`${url}/metrics`).then(async (page) => ({ text: await page.text() }));
  t.match(text, /^larder_database_bytes [1-9]\d{5,}$/m);
  t.notMatch(text, 'larder_database_wal_bytes', 'whose log is a matter of the server');
  const figure = (name: string): number => Number(new RegExp(`^larder_database_${name} (\\d+)$`, 'm').exec(text)?.[1]);
  t.ok(figure('connections_open') >= 2, 'one that writes, and those that read');
  t.ok(figure('connections_used') <= figure('connections_open'));
  t.ok(figure('queries_total') > 20);
  t.same(['waiting', 'retries_total', 'connections_lost_total'].map(figure), [0, 0, 0]);
  t.match(await store.larder('status'), {
    code: 0,
    out: new RegExp(
      `^ +Database +[\\d.]+\\s.iB\\sin the database ${store.database} at\\s+${server.folder},\\s+PostgreSQL\\s+1\\d`,
      'm',
    ),
  });
  t.match(await store.json('status'), { postgres: { version: /^1\d/ }, disk: { databaseBytes: Number } });
  t.match(await store.larder('audit verify'), { code: 0, out: /^The audit log is intact/ });
  t.match(await store.larder('verify'), {
    code: 0,
    out: /^Everything is as it was written: the database \S+ at \S+ \(each page against the checksum of its server\), 0 blobs/,
  });
  t.match(await store.larder('audit accept --yes'), { code: 1, err: /the audit log has no errors/ });
  t.match(await store.larder('go-back'), {
    code: 1,
    err: /are on a PostgreSQL server: restore the database there as it was before the upgrade/,
  });
});

t.test('a cut of the audit log is reported, and accepted by an administrator after a check', async (t) => {
  const store = await storeOfAda(t);
  t.match(await store.larder(makeBob), { code: 0 });
  await server.ask(`CREATE DATABASE before TEMPLATE ${store.database} OWNER ada`);
  t.match(await store.larder(makeBob.replaceAll('bob', 'eve')), { code: 0 });
  // Each serving process seals the log at its end.
  const { child, ended } = await serve(t, store.data);
  child.kill('SIGTERM');
  await ended;
  changeConfig(store.configuration, { 'records.postgres': at('before') });
  t.match(await store.larder('audit verify'), { code: 1, out: /was tampered with or damaged/ });
  t.match(await store.larder('verify'), { code: 1, out: /audit log: / });
  t.match(await store.larder('audit accept --yes'), { code: 0 });
  t.match(await store.larder('audit verify'), { code: 0 });
});

t.test('a second host has the store when the first one has given it its keys, and no other way', async (t) => {
  const first = await storeOfAda(t);
  const second = commandsOn(join(folder(t), 'data'));
  const command = `init --postgres ${at(first.database)} --postgres-password-file ${first.passwordFile}`;
  t.match(await second.larder(command), {
    code: 1,
    err: /there is a store in the database \S+ at \S+ already\. To serve it from this host too, copy larder\.toml, site\.key/,
  });
  t.notOk(existsSync(second.data), 'nothing was made');

  mkdirSync(second.data, { mode: 0o700 });
  for (const name of ['larder.toml', 'site.key', 'master.key', 'audit.seal']) {
    copyFileSync(join(first.data, name), join(second.data, name));
  }
  const { url } = await serve(t, first.data);
  const otherServer = await serve(t, second.data);
  t.match(await second.larder(makeBob), { code: 0 });
  t.match(await first.json('account list'), { accounts: [{ username: 'admin' }, { username: 'bob' }] });
  for (const address of [url, otherServer.url]) t.equal((await fetch(`${address}/readyz`)).status, 200);
  for (const store of [first, second]) t.match(await store.larder('audit verify'), { code: 0 }, 'one chain');

  const third = commandsOn(join(folder(t), 'data'));
  cpSync(second.data, third.data, { recursive: true });
  chmodSync(join(third.data, 'site.key'), 0o600);
  writeFileSync(join(third.data, 'site.key'), randomBytes(32).toString('base64'));
  for (const line of ['account list', 'serve --listen 127.0.0.1:0']) {
    const { code, err } = await third.larder(line);
    t.match({ code, err }, { code: 1, err: /this site\.key is of another store: its fingerprint is/i });
    t.match(err, oneLine);
  }
});

t.test('a store that was half made is made by the next attempt, with the key of the first', async (t) => {
  const directory = join(folder(t), 'data');
  const [database, file] = [await newDatabase(), passwordFile(t)];
  const settings = { baseUrl: 'https://store.site', listen: '127.0.0.1:0', storeAdminId: 'larder-admin' };
  const configuration = initialConfig({
    ...settings,
    storeAdminDigest: '0'.repeat(96),
    siteFiles: { certificateFile: '/none.pem', keyFile: '/none.key' },
    records: { postgres: at(database), passwordFile: file },
  });
  mkdirSync(directory, { mode: 0o700 });
  const actor = { actor: 'cli:ada' };
  await t.rejects(makeStore(directory, { configuration, email: 'ada@site', credential: 'x', actor }), /none/);
  const key = readFileSync(join(directory, 'site.key'), 'utf8');
  const store = commandsOn(directory);
  const again = `init --postgres ${at(database)} --postgres-password-file ${file}`;
  t.match(await store.larder(again), { code: 0 });
  t.equal(readFileSync(join(directory, 'site.key'), 'utf8'), key);
  t.match(await store.json('account list'), { accounts: [{ username: 'admin' }] });
  t.match(await store.larder('audit verify'), { code: 0 });
});

t.test('the password may be a credential of systemd, and is read again for every connection', async (t) => {
  const store = await storeOfAda(t);
  const credentials = folder(t);
  writeFileSync(join(credentials, 'larder-postgres-password'), password, { mode: 0o400 });
  const file = readFileSync(store.configuration, 'utf8');
  writeFileSync(store.configuration, file.replace(/^password_file = .*$/m, ''));
  const env = { LARDER_DATA: store.data, CREDENTIALS_DIRECTORY: credentials };
  t.match(await larder('account list', { env }), { code: 0 });
  t.match(await larder('doctor', { env }), { out: /^ok {4}Database server: /m });
  t.match(await store.larder('account list'), {
    code: 1,
    err: /^larder: cannot open the database store_\w+ at \S+: it requires a password for the user ada[^\n]*\n$/,
  });
});

t.test('a problem with the records is one sentence, with the remedy, and changes nothing', async (t) => {
  const store = await storeOfAda(t);
  const good = readFileSync(store.configuration, 'utf8');
  const fresh = join(folder(t), 'data');
  const refused = async (
    address: string,
    pattern: RegExp,
    also: 'init too' | 'init may' = 'init too',
  ): Promise<void> => {
    changeConfig(store.configuration, { 'records.postgres': address });
    const options = `--postgres '${address}' --postgres-password-file ${store.passwordFile}`;
    const lines = ['account list', 'verify', 'serve --listen 127.0.0.1:0'];
    if (also === 'init too') lines.push(`init --data ${fresh} ${options}`);
    for (const line of lines) {
      const { code, err } = await store.larder(line);
      t.match({ code, err }, { code: 1, err: pattern }, line);
      t.match(err, oneLine);
    }
    t.notOk(existsSync(fresh));
    // Both report the state of the store.
    for (const line of ['status', 'doctor']) {
      const { code, out } = await store.larder(line);
      t.match({ code, out: out.replaceAll(/\s+/g, ' ') }, { code: 1, out: pattern }, line);
    }
    writeFileSync(store.configuration, good);
  };
  await refused(at('none'), /the server has no database none; create it with createdb/);
  await refused(
    at(store.database, server, 'eve'),
    /refuses the password of|does not admit the user eve|role "eve" does not exist/,
  );
  await refused(`${at(store.database)}&options=-c%20synchronous_commit=off`, /runs with synchronous_commit = off/);
  const foreign = await newDatabase();
  await server.ask(`CREATE DATABASE customers TEMPLATE ${foreign} OWNER ada`);
  await server.ask('CREATE TABLE customers (name TEXT)', 'customers');
  await refused(at('customers'), /it contains tables that are not larder's, such as customers/);
  await refused(
    at(foreign),
    /it contains no store; name the database with the records, or create a new store/,
    'init may',
  );

  writeFileSync(store.passwordFile, 'guessed');
  t.match(await store.larder('account list'), { code: 1, err: /refuses the password of the user ada\n$/ });
  rmSync(store.passwordFile);
  t.match(await store.larder('account list'), {
    code: 1,
    err: /^larder: cannot open the database \S+ at \S+: cannot find the password of PostgreSQL: there is no \S+\n$/,
  });
  writeFileSync(store.passwordFile, password, { mode: 0o600 });
  t.match(await store.larder('account list'), { code: 0 });

  const init = (more: string) => store.larder(`init --data ${fresh} ${more}`);
  t.match(await init('--postgres postgres://ada:secret@db/larder'), {
    code: 2,
    err: /^larder: --postgres: it contains a password; write the password into its own file/,
  });
  t.match(await init('--postgres-password-file x'), { code: 2, err: /name that too/ });
});

t.test('a silent server is waited for with a message, and then the command fails with the reason', async (t) => {
  const store = await storeOfAda(t);
  const fresh = join(folder(t), 'data');
  const address = 'postgres://ada@/x?host=/nowhere';
  const options = `--postgres '${address}' --postgres-password-file ${store.passwordFile}`;
  changeConfig(store.configuration, { 'records.postgres': address });
  const other = await storeOfAda(t);
  changeConfig(other.configuration, { 'records.postgres': 'postgres://ada@127.0.0.1:1/x?sslmode=disable' });
  const lines = [
    'account list',
    'status',
    'verify',
    `init --data ${fresh} ${options}`,
    `account list --data ${other.data}`,
  ];
  const pattern = /no server listens there; check that PostgreSQL runs/;
  const doctor = store.larder('doctor');
  const serving = start(t, ['serve', '--data', store.data, '--listen', '127.0.0.1:0']);
  const waiting = /^larder: the database x at \S+ does not respond yet; waiting for it\nlarder: [^\n]*\n$/;
  await Promise.all(
    lines.map(async (line) => {
      const { code, err } = await store.larder(line);
      t.match({ code, err }, { code: 1, err: pattern }, line);
      t.match(err, waiting, line);
    }),
  );
  t.notOk(existsSync(fresh));
  t.match(await doctor, { code: 1, out: pattern });
  const { code, err } = await serving.ended;
  t.match({ code, err }, { code: 1, err: pattern });
  t.match(err, /^\{"level":"warn",.*does not respond yet; waiting for it"\}\nlarder: [^\n]*\n$/);
});

t.test('a server with an untrusted certificate gets no password, and is told from a server without TLS', async (t) => {
  const keys = folder(t);
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
  const names = ['-addext', 'subjectAltName=DNS:localhost', '-keyout', 'key.pem', '-out', 'cert.pem'];
  execFileSync('openssl', [...made, ...names], { cwd: keys, stdio: 'ignore' });
  const own = await startPostgres({
    listen: true,
    access: ['local all all trust', 'hostssl all ada 127.0.0.1/32 scram-sha-256'],
    files: { 'key.pem': join(keys, 'key.pem'), 'cert.pem': join(keys, 'cert.pem') },
    settings: ['ssl = on', `ssl_cert_file = 'cert.pem'`, `ssl_key_file = 'key.pem'`],
  });
  t.teardown(own.end);
  await own.ask(makeAda);
  await own.ask('CREATE DATABASE larder OWNER ada');
  const file = passwordFile(t);
  const data = join(folder(t), 'data');
  const init = (host: string, more = '') =>
    larder(
      `init --data ${data} --postgres 'postgres://ada@${host}:${String(own.port)}/larder?${more}' --postgres-password-file ${file}`,
    );
  const authority = `sslrootcert=${join(keys, 'cert.pem')}`;
  for (const [refused, pattern] of [
    [
      await init('localhost'),
      /no trusted authority has signed its certificate; name the authority with sslrootcert=FILE$/m,
    ],
    [await init('127.0.0.1', authority), /its certificate is not for the name 127\.0\.0\.1$/m],
    [
      await init('localhost', 'sslrootcert=/none.pem'),
      /cannot read \/none\.pem, which the address of PostgreSQL names/,
    ],
    [
      await init('localhost', 'sslmode=disable'),
      /does not admit the user ada from this machine; add a rule to its pg_hba\.conf$/m,
    ],
  ] as const) {
    t.match(refused, { code: 1, err: pattern });
    t.match(refused.err, oneLine);
    t.notOk(existsSync(data));
  }
  const trusted = await init('localhost', authority);
  t.equal(trusted.code, 0, trusted.err);
  t.match(await larder(`account list --data ${data}`), { code: 0 });
});

t.test('doctor reports the settings of the server, and the readers of the password', async (t) => {
  const store = await storeOfAda(t);
  const readFinding = async (): Promise<{ level: string; says: string; mend?: string } | undefined> => {
    const { findings } = (await store.json('doctor')) as { findings: { what: string; level: string; says: string }[] };
    return findings.find(({ what: name }) => name === 'Database server');
  };
  t.match(await readFinding(), {
    level: 'well',
    says: /^the database \S+ at \S+, PostgreSQL 1\d\S*.*, \d+ of \d+ connections open$/,
  });
  t.match(await store.larder('doctor'), { out: /^ok {4}Records: every row of the database can be read/m });

  chmodSync(store.passwordFile, 0o644);
  t.match(await store.larder('doctor'), {
    code: 1,
    out: /WRONG Permissions: all users of this machine can read \S+, which holds a secret\n +chmod o= /,
  });
  chmodSync(store.passwordFile, 0o640);

  changeConfig(store.configuration, { 'records.postgres': at(store.database, server, 'larder') });
  t.match(await readFinding(), {
    level: 'notice',
    says: /; the store connects as a superuser/,
    mend: /CREATE ROLE larder/,
  });
  await server.ask('CREATE ROLE guest LOGIN');
  await server.ask(`GRANT CONNECT ON DATABASE ${store.database} TO guest`);
  changeConfig(store.configuration, { 'records.postgres': at(store.database, server, 'guest') });
  t.match(await store.larder('account list'), {
    code: 1,
    err: /its user guest does not have the rights there that the store needs; make it the owner of the database\n$/,
  });
  await server.ask('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO guest', store.database);
  t.match(await readFinding(), {
    level: 'wrong',
    says: /may not create tables, so an upgrade would fail; \d+ tables of the store belong to another user/,
    mend: /GRANT CREATE ON SCHEMA/,
  });

  changeConfig(store.configuration, { 'records.postgres': at(store.database) });
  const now = Date.now;
  for (const [ahead, level, words] of [
    [900, 'well', /^(?!.*clock)/],
    [2100, 'notice', /the clock of this machine is 2\.\d seconds ahead of its clock/],
    [-7200, 'wrong', /the clock of this machine is 7\.\d seconds behind its clock/],
  ] as const) {
    Date.now = () => now() + ahead;
    t.match(await readFinding(), { level, says: words }, String(ahead));
  }
  Date.now = now;
});

t.test('the reply of a server is checked as a whole, and the most important problem is named first', (t) => {
  const place = 'the database larder at db:5432';
  const good: ServerState = {
    version: '15.8',
    checksums: true,
    fullPageWrites: true,
    isSuperuser: false,
    database: 'larder',
    isOpenToAll: false,
    mayMakeTables: true,
    foreignTables: 0,
    connections: { used: 12, max: 97 },
    clock: { ahead: 900, within: 2 },
  };
  const examine = (state: Partial<ServerState>) => examineServerState({ place }, { ...good, ...state });
  const opening = `${place}, PostgreSQL 15.8, 12 of 97 connections open`;
  t.same(examine({}), { level: 'well', says: opening });
  t.match(examine({ clock: { ahead: 1300, within: 400 } }), { level: 'well' }, 'an answer that took long says little');
  t.match(examine({ connections: { used: 95, max: 97 } }), { level: 'wrong', mend: /max_connections/ });
  t.match(examine({ fullPageWrites: false, checksums: false, foreignTables: 1 }), {
    level: 'wrong',
    says: /connections open; 1 tables .*; it keeps no page checksums, .*; full_page_writes is off/,
  });
  t.end();
});

t.test('a page that the disk has changed is named by verify and by doctor, as is a reference to nothing', async (t) => {
  const own = await startPostgres({ access, settings: ['full_page_writes = off'] });
  t.teardown(own.end);
  await own.ask(makeAda);
  const store = await storeOfAda(t, own);
  t.match(await store.larder('doctor'), { out: /^note {2}Database server: .*; full_page_writes is off/m });
  await own.ask(
    `SET session_replication_role = replica;
     INSERT INTO collaborators (package_id, account_id, created_at, created_by)
     VALUES ('none', 'larder-admin', '2026-03-01', 'larder-admin')`,
    store.database,
  );
  const { rows } = await own.ask(`SELECT pg_relation_filepath('audit') AS path`, store.database);
  const { path } = rows[0] as { path: string };
  t.match(await store.larder('verify'), {
    code: 1,
    out: /: 1 row of collaborators refer to nothing in packages\nStop every larder that serves the store, and restore the database from an earlier backup/,
  });

  await own.stop('order');
  const file = openSync(join(own.folder, 'data', path), 'r+');
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, 8000);
  writeSync(file, Buffer.from([byte[0]! ^ 1]), 0, 1, 8000);
  closeSync(file);
  await own.start();
  const pattern = /the table audit cannot be read: invalid page in block 0 of relation/;
  t.match(await store.larder('verify'), { code: 1, out: pattern });
  t.match(await store.larder('doctor'), { code: 1, out: pattern });
});
