// larder init
import t from 'tap';
import { spawnSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { days } from '#domain/clock.ts';
import { makeAuthority, makeServerCertificate } from '#tls/certificates.ts';
import { lockDirectory } from '#data/lock.ts';
import { readConfig } from '#configuration/config.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { until } from '#test/fixtures/until.ts';
import { folder, newStore, start, withoutOthers } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';

const mode = (path: string) => (statSync(path).mode & 0o7777).toString(8);

t.test('init makes a store with everything that serving it takes', async (t) => {
  const data = join(folder(t), 'above', 'data');
  const { code, out, err } = await larder(`init --data ${data} --admin-email Ops@Example.org --json`);
  t.strictSame([code, err], [0, '']);
  const { 'site-key-fingerprint': fingerprint, ...made } = JSON.parse(out) as Record<string, string>;
  t.equal(
    (JSON.parse((await larder(`status --data ${data} --json`)).out) as typeof made)['site-key-fingerprint'],
    fingerprint,
  );
  t.strictSame(made, {
    data,
    config: join(data, 'larder.toml'),
    'base-url': 'http://127.0.0.1:8080',
    documents: 'http://127.0.0.1:8080/docs/',
    listen: '127.0.0.1:8080',
    'admin-account-id': 'larder-admin',
    'admin-macaroon-file': join(data, 'admin.macaroon'),
  });
  const credential = readFileSync(join(data, 'admin.macaroon'), 'utf8');
  t.match(credential, /^larder-admin-[A-Za-z0-9_-]{43}\n$/);
  t.match(readConfig(join(data, 'larder.toml')), {
    store: { offline_mode: true },
    auth: {
      store_admin_id: 'larder-admin',
      store_admin_macaroon_sha3_384: createHash('sha3-384').update(credential.trim()).digest('hex'),
    },
    http: { base_url: 'http://127.0.0.1:8080', listen: '127.0.0.1:8080' },
    internal: { package_permissions: true },
  });
  const { accounts } = JSON.parse((await larder(`account list --data ${data} --json`)).out) as { accounts: unknown[] };
  t.match(accounts, [
    {
      id: 'larder-admin',
      username: 'admin',
      'display-name': 'Store administrator',
      email: 'ops@example.org',
      roles: ['store-admin'],
    },
  ]);
});

t.test('if the disk is smaller than its reserve, init says that uploads are impossible', async (t) => {
  const data = join(folder(t), 'small');
  const program = [
    process.execPath,
    join(import.meta.dirname, '../../../src/main.ts'),
    'init',
    '--data',
    `${data}/store`,
  ];
  const script = `set -e; mkdir ${data}; mount -t tmpfs -o size=20m none ${data}; exec "$@"`;
  const root = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const env = { ...process.env };
  delete env['NODE_OPTIONS'];
  const made = spawnSync('unshare', [...root, '--mount', 'bash', '-c', script, 'bash', ...program], {
    encoding: 'utf8',
    env,
  });
  if (made.error !== undefined || /unshare|mount/.test(made.stderr)) {
    t.comment('nobody may mount anything here');
    return;
  }
  t.equal(made.status, 0, made.stderr);
  t.match(
    made.stdout,
    '\nThe whole disk has 20 MiB, and uploads.reserve keeps 1024 MiB of it free, so nothing can be uploaded. ' +
      'Use a larger disk, or set uploads.reserve in larder.toml lower and restart the server.\n',
  );
  const large = await larder(`init --data ${join(folder(t), 'large')}`);
  t.notMatch(large.out, 'The whole disk');
});

t.test('only the owner can read the files of init, and the keys are read-only', async (t) => {
  const data = join(folder(t), 'data');
  const { code, out, err } = await start(t, ['init', '--data', data]).ended;
  t.strictSame([code, err], [0, '']);
  t.match(out, '\nInstructions for administrators, publishers and devices: http://127.0.0.1:8080/docs/\n');
  t.match(out, /^The store in .* is made; 'larder serve --data .*' serves it at http:\/\/127\.0\.0\.1:8080, on /);
  t.notMatch(out, readFileSync(join(data, 'admin.macaroon'), 'utf8').trim(), 'the credential itself is not shown');
  t.equal(mode(data), '700');
  t.strictSame(Object.fromEntries(readdirSync(data).map((name) => [name, mode(join(data, name))])), {
    'admin.macaroon': '600',
    'audit.seal': '600',
    'larder.db': '600',
    'larder.toml': '600',
    'master.key': '400',
    'site.key': '400',
    'store.lock': '600',
  });
  t.not(readFileSync(join(data, 'site.key'), 'utf8'), readFileSync(join(data, 'master.key'), 'utf8'));
});

t.test('each command that init prints names the data directory, by an option as by the environment', async (t) => {
  for (const byEnvironment of [false, true]) {
    const data = join(folder(t), 'a store');
    const made = byEnvironment
      ? await larder('init', { env: { LARDER_DATA: data } })
      : await larder(`init --data '${data}'`);
    t.equal(made.code, 0, made.err);
    const printed = [...made.out.matchAll(/'larder ([^']*)'/g)].map(([, line = '']) => line);
    t.ok(printed.length >= 2, 'it prints how to serve the store, and how to log in');
    for (const line of printed) t.ok(line.endsWith(` --data "${data}"`), line);
  }
});

t.test('the listen address follows from the base URL, unless it is given', async (t) => {
  const cases: [string, string, string][] = [
    ['', 'http://127.0.0.1:8080', '127.0.0.1:8080'],
    ['--base-url http://127.0.0.1:9000', 'http://127.0.0.1:9000', '127.0.0.1:9000'],
    ['--base-url https://store.example.org', 'https://store.example.org', '0.0.0.0:443'],
    ['--base-url http://store.example.org --listen 0.0.0.0:80', 'http://store.example.org', '0.0.0.0:80'],
    ['--listen [::1]:8081', 'http://127.0.0.1:8080', '[::1]:8081'],
  ];
  for (const [options, baseUrl, listen] of cases) {
    const { data } = await newStore(t, options);
    t.match(readConfig(join(data, 'larder.toml')).http, { base_url: baseUrl, listen }, options);
  }
});

t.test('wrong options are refused before anything is made', async (t) => {
  const data = join(folder(t), 'data');
  const cases: [string, RegExp][] = [
    ['--base-url http://store/path', /^larder: --base-url: expected .*did you mean "http:\/\/store"\?/],
    ['--base-url store.example.org', /^larder: --base-url: expected /],
    ['--listen 8080', /^larder: --listen: expected HOST:PORT/],
    ['--admin-email admin', /^larder: --admin-email is an e-mail address, not 'admin'/],
  ];
  for (const [options, pattern] of cases) {
    t.match(await larder(`init --data ${data} ${options}`), { code: 2, out: '', err: pattern });
    t.throws(() => statSync(data), { code: 'ENOENT' });
  }
});

t.test('a directory with a store, or with any file, stays unchanged', async (t) => {
  const { data } = await newStore(t);
  const files = () => readdirSync(data).map((name) => [name, readFileSync(join(data, name), 'hex')]);
  const before = files();
  const again = await larder(`init --data ${data} --json`);
  t.match([again.code, JSON.parse(again.err)], [1, { code: 'store-exists', error: /there is a store in .* already/ }]);

  renameSync(join(data, 'larder.toml'), join(data, '../larder.toml'));
  const damaged = await larder(`init --data ${data}`);
  t.match(damaged, { code: 1, err: /holds parts of a store but no larder\.toml; restore that file/ });
  renameSync(join(data, '../larder.toml'), join(data, 'larder.toml'));
  t.strictSame(files(), before);

  const other = folder(t);
  for (const name of ['a', 'b', 'c', 'd']) writeFileSync(join(other, name), '');
  const refused = await larder(`init --data ${other}`);
  t.match(refused, {
    code: 1,
    err: /^larder: .* is not empty \(a, b, c, …\); a store needs a directory of its own\n$/,
  });
  t.strictSame(readdirSync(other), ['a', 'b', 'c', 'd']);
  t.match(await larder(`init --data ${join(other, 'a')}`), { code: 1, err: / is not a directory\n$/ });
  t.match(await larder(`init --data ${join(other, 'a/b')}`), { code: 1, err: /^larder: cannot make the directory / });
});

t.test('an empty directory will do, also a fresh file system, and is closed to others', async (t) => {
  const data = folder(t);
  chmodSync(data, 0o755);
  mkdirSync(join(data, 'lost+found'));
  t.match(await larder(`init --data ${data}`), { code: 0 });
  t.equal(mode(data), '700');
});

largeTest('after an init that was interrupted, wherever it was, another one makes the store', async (t) => {
  const steps = ['larder.toml.init', 'site.key', 'master.key', 'larder.db', 'audit.seal', 'admin.macaroon'];
  for (let done = 0; done <= steps.length; done++) {
    const { data } = await newStore(t);
    const keys = readFileSync(join(data, 'site.key'), 'utf8');
    renameSync(join(data, 'larder.toml'), join(data, 'larder.toml.init'));
    for (const step of steps.slice(done)) rmSync(join(data, step));
    if (done > 0) {
      t.match(await larder(`serve --data ${data}`), { code: 1, err: /there is no such file; 'larder init' makes one/ });
    }
    t.match(await larder(`init --data ${data} --base-url http://second:80${done}`), { code: 0, err: '' });
    t.notOk(readdirSync(data).includes('larder.toml.init'));
    t.not(readFileSync(join(data, 'site.key'), 'utf8'), keys, 'with keys of its own');
    t.equal(readConfig(join(data, 'larder.toml')).http.base_url, `http://second:80${done}`);
    t.match(await larder(`account list --data ${data}`), { code: 0, out: /larder-admin/ });
  }
});

t.test('temporary files of an init that was killed do not stop the next one', async (t) => {
  const data = folder(t);
  writeFileSync(join(data, '.larder.toml.init.0123456789ab'), '');
  t.match(await larder(`init --data ${data}`), { code: 0, err: '' });
  renameSync(join(data, 'larder.toml'), join(data, 'larder.toml.init'));
  writeFileSync(join(data, '.audit.seal.0123456789ab'), '');
  t.match(await larder(`init --data ${data}`), { code: 0, err: '' });
  t.strictSame(
    readdirSync(data).filter((name) => name.startsWith('.')),
    [],
  );
  writeFileSync(join(data, '.larder.toml.init.0123456789ab'), '');
  rmSync(join(data, 'larder.toml'));
  t.match(await larder(`init --data ${data}`), { code: 1, err: /holds parts of a store but no larder\.toml/ });
});

largeTest('an init that is killed leaves nothing that stops the next one', async (t) => {
  for (const seen of ['larder.toml.init', 'larder.db', 'audit.seal']) {
    const data = join(folder(t), 'data');
    const { child, ended } = start(t, ['init', '--data', data]);
    const done = () => existsSync(join(data, 'larder.toml')) || child.exitCode !== null;
    await until(() => existsSync(join(data, seen)) || done());
    child.kill('SIGKILL');
    const { code, signal, err } = await ended;
    t.ok(code === 0 || signal === 'SIGKILL', err);
    const again = await larder(`init --data ${data}`);
    if (code === 0) t.match(again, { err: /there is a store in/ });
    else t.ok(again.code === 0 || /there is a store in/.test(again.err), again.err);
  }
});

t.test('while one init is at work another one is refused', async (t) => {
  const data = folder(t);
  const other = lockDirectory(data);
  t.match(await larder(`init --data ${data}`), { code: 3, err: / is in use by another larder\n$/ });
  other.close();
  t.match(await larder(`init --data ${data}`), { code: 0 });
});

t.test('files of root in a directory of another user belong to that user', { skip: withoutOthers() }, async (t) => {
  const data = folder(t);
  chownSync(data, 1234, 1234);
  const { code, err } = await start(t, ['init', '--data', data]).ended;
  t.strictSame([code, err], [0, '']);
  const create = ['account', 'create', '--data', data, '--email', 'ada@example.org', '--username', 'ada'];
  t.match(await start(t, [...create, '--display-name', 'Ada']).ended, { code: 0 });
  for (const name of readdirSync(data)) {
    const { uid, gid } = statSync(join(data, name));
    t.strictSame([uid, gid], [1234, 1234], name);
  }
});

t.test('with an https address init makes certificates, and names the steps for clients', async (t) => {
  const data = join(folder(t), 'data');
  const { code, out } = await larder(`init --data ${data} --base-url https://store.example.internal`);
  t.equal(code, 0);
  t.match(out, /good for store\.example\.internal until \d{4}-/);
  const { fingerprint256: shownByBrowsers } = new X509Certificate(readFileSync(join(data, 'tls/ca.pem')));
  t.ok(out.includes(shownByBrowsers), 'to compare with, at the first visit');
  t.match(await larder(`status --data ${data}`), { out: new RegExp(`Fingerprint +${shownByBrowsers}`) });
  t.match(readConfig(join(data, 'larder.toml')), { http: { listen: '0.0.0.0:443' } });
});

t.test("the site's own certificate is used in its place, if clients will accept it", async (t) => {
  const now = new Date();
  const authority = await makeAuthority('The site', now);
  const server = await makeServerCertificate(authority, ['store.example.internal'], now);
  const old = await makeServerCertificate(authority, ['store.example.internal'], new Date(now.getTime() - days(500)));
  const stranger = await makeAuthority('Somebody else', now);
  const files = t.testdir({
    'server.pem': server.certificate + authority.certificate,
    'server.key': server.key,
    'turned.pem': authority.certificate + server.certificate,
    'old.pem': old.certificate,
    'old.key': old.key,
    'chain.pem': server.certificate + stranger.certificate,
    'ca.pem': authority.certificate,
    'other.pem': stranger.certificate,
    'other.key': stranger.key,
    'text.pem': 'not a certificate',
  });
  const base = '--base-url https://store.example.internal';
  const attempt = (data: string, certificate: string, key: string, options = base) =>
    larder(`init --data ${data} ${options} --tls-certificate ${files}/${certificate} --tls-key ${files}/${key}`);
  const data = join(folder(t), 'data');
  const refused: [string, string, string, number, RegExp][] = [
    ['server.pem', 'other.key', base, 1, /it is not the key of the certificate in/],
    ['turned.pem', 'server.key', base, 1, /the certificate of the server must come first/],
    ['old.pem', 'old.key', base, 1, /old\.pem: it ended on /],
    ['chain.pem', 'server.key', base, 1, /Somebody else did not issue the certificate of store\.example\.internal/],
    ['server.pem', 'server.key', '--base-url https://other.example', 1, /it is not valid for other\.example/],
    ['server.pem', 'server.key', `${base} --tls-ca ${files}/other.pem`, 1, /Somebody else did not issue/],
    ['text.pem', 'server.key', base, 1, /it holds no certificate in PEM/],
    ['server.pem', 'text.pem', base, 1, /it holds no private key in PEM without a passphrase/],
    ['nothing.pem', 'server.key', base, 1, /cannot read .*nothing\.pem/],
    ['server.pem', 'server.key', '', 2, /needs --base-url with the https address/],
  ];
  for (const [certificate, key, options, code, err] of refused) {
    t.match(await attempt(data, certificate, key, options), { code, err }, `${certificate} ${options}`);
    t.throws(() => statSync(data), { code: 'ENOENT' });
  }
  t.match(await larder(`init --data ${data} ${base} --tls-key ${files}/server.key`), {
    code: 2,
    err: /belong together/,
  });

  const made = await attempt(data, 'server.pem', 'server.key', `${base} --tls-ca ${files}/ca.pem`);
  t.match(made, { code: 0, out: /good for store\.example\.internal until .*\n.*\n  (?:[0-9A-F]{2}:){31}/ });
  t.match(readConfig(join(data, 'larder.toml')).tls, {
    certificate_file: join(files, 'server.pem'),
    key_file: join(files, 'server.key'),
    authority_file: join(files, 'ca.pem'),
  });
  t.notOk(readdirSync(data).includes('tls'), 'no certificate of its own');
  const certificate = async (): Promise<unknown> =>
    (JSON.parse((await larder(`doctor --data ${data} --json`)).out) as { findings: { what: string }[] }).findings.find(
      ({ what: name }) => name === 'Certificate',
    );
  t.match(await certificate(), { good: true, says: /^for store\.example\.internal, 9\d days left/ });
  writeFileSync(join(files, 'server.pem'), old.certificate);
  writeFileSync(join(files, 'server.key'), old.key);
  t.match(await certificate(), {
    good: false,
    says: /^The server's certificate expired on 20\d\d-\d\d-\d\d: clients refuse it/,
    mend: /send the server SIGHUP/,
  });
});

t.test('a new store listens at its base URL', async (t) => {
  for (const [baseUrl, listen] of [
    ['http://[::1]:9090', '[::1]:9090'],
    ['http://127.0.0.5', '127.0.0.5:8080'],
    ['http://store.example:9090', '127.0.0.1:9090'],
    ['https://store.example', '0.0.0.0:443'],
    ['https://[fd00::1]:8443', '[::]:8443'],
  ] as const) {
    const data = join(folder(t), 'data');
    const { code, out, err } = await larder(`init --data ${data} --base-url ${baseUrl} --json`);
    t.equal(code, 0, err);
    t.equal((JSON.parse(out) as { listen: string }).listen, listen, baseUrl);
  }
  const refused = await larder(`init --data ${join(folder(t), 'data')} --base-url http://store.example:0`);
  t.match(refused, { code: 2, err: /--base-url: expected http/ });
});
