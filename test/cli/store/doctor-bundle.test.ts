// larder doctor --bundle: the required and the forbidden content of a support bundle.
import t, { type Test } from 'tap';
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';

import { readTar } from '#backup/tar.ts';
import { namedSettings, shownSettings } from '#cli/store/bundle/settings.ts';
import { findKey } from '#configuration/keys.ts';
import { settingNames } from '#cli/store/config/values.ts';
import { metricsForBundle } from '#cli/store/bundle/metrics.ts';
import { examplesIn } from '#test/fixtures/guides.ts';
import { folder, newStore, serve } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';

/** The files of a bundle by their names. */
async function filesOf(file: string): Promise<Record<string, string>> {
  const archive = await readTar(file);
  const files: Record<string, string> = {};
  for (const entry of archive.entries) {
    const pieces: Buffer[] = [];
    for await (const bytes of archive.read(entry)) pieces.push(Buffer.from(bytes));
    files[entry.name] = Buffer.concat(pieces).toString();
  }
  await archive.close();
  return files;
}

/** A file as JSON. */
const read = (files: Record<string, string>, name: string) => JSON.parse(files[`larder-bundle/${name}`] ?? 'null');

/** A text itself, in hex, and in base64 at any offset within a longer text. */
function formsOf(canary: string): string[] {
  const bytes = Buffer.from(canary);
  const inBase64 = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    // The characters that depend on the bytes before and behind are not those of the text alone.
    return text.slice(shift === 0 ? 0 : 4, text.length - 4);
  });
  const urls = inBase64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [canary, encodeURIComponent(canary), bytes.toString('hex'), ...inBase64, ...urls].filter(
    ({ length }) => length >= 5,
  );
}

function holdsNone(t: Test, bundle: Buffer, canaries: Readonly<Record<string, string>>): void {
  const text = bundle.toString('latin1').toLowerCase();
  for (const [name, canary] of Object.entries(canaries)) {
    t.ok(canary.length >= 5, `${name} is long enough to be told from chance`);
    for (const form of formsOf(canary))
      t.notOk(text.includes(form.toLowerCase()), `the bundle holds ${name} as ${form}`);
  }
}

t.test('a bundle of a served store has metrics of each kind, and no name, address or secret', async (t) => {
  const { data, larder: on, json } = await newStore(t);
  const names = {
    email: 'zephyrine.quill@bundle-canary.example',
    username: 'zephyrinequill',
    'display name': 'Zephyrine Quill-Canary',
    id: 'canary-account-id-7731',
    password: 'four unlikely canary words',
    package: 'canary-package-zq',
  };
  await json(
    `account create --email ${names.email} --username ${names.username} --display-name '${names['display name']}' --id ${names.id}`,
  );
  t.equal(
    (
      await larder(`account password ${names.id} --password-stdin`, {
        env: { LARDER_DATA: data },
        stdin: [names.password],
      })
    ).code,
    0,
  );
  const { macaroon = '', ...issued } = (await json(`token issue --account ${names.id}`)) as Record<string, string>;
  const totp = (await on(`account totp ${names.id}`)).out;
  t.equal((await on(`package register snap/${names.package} --account ${names.id}`)).code, 0);
  const configuration = join(data, 'larder.toml');
  const before = readFileSync(configuration, 'utf8');
  writeFileSync(
    configuration,
    before.replace(/^\[names\]$|$(?![^])/m, '\n[names]\nreserved = ["canary-reserved-name"]\n'),
  );
  const server = await serve(t, data);
  await fetch(`${server.url}/v1/snap/${names.package}`);
  await fetch(`${server.url}/canary-address-in-the-log`, { headers: { authorization: `Macaroon ${macaroon}` } });

  await server.says(/"status":404/);
  const [log, file] = [join(folder(t), 'serve.log'), join(folder(t), 'bundle.tar')];
  writeFileSync(log, server.err());
  appendFileSync(
    log,
    '{"level":"error","time":"2026-11-26T00:00:00.000Z","msg":"canary-message-text","job":"seal-audit","err":{"code":"ENOSPC","message":"canary-error-text","stack":"canary-stack-text"},"operation":"canary-operation","status":123456}\n',
  );
  appendFileSync(log, 'a line of canary-plain-text\n{"level": "canary-cut');
  const written = await larder(`doctor --bundle ${file} --log ${log} --yes`, { env: { LARDER_DATA: data } });
  t.match(written, { err: '', out: /The support bundle has 9 files, [^]*records\.json[^]*Written to / });
  t.equal(statSync(file).mode & 0o777, 0o600);
  const bundle = readFileSync(file);
  const files = await filesOf(file);
  await t.test('each kind of content is included', (t) => holds(t, files));

  const db = new SQLite(join(data, 'larder.db'), { readonly: true });
  const head = db.prepare('SELECT hash FROM audit ORDER BY seq DESC LIMIT 1').pluck().get() as string;
  const sealedSecrets = db
    .prepare('SELECT sealed FROM totp_secrets')
    .pluck()
    .all()
    .map((cell) => Buffer.from(cell as Buffer).toString('hex'));
  db.close();
  const state = readdirSync(data).filter((name) => name.startsWith('store.lock') || name.endsWith('.json'));
  const secret = state
    .map((name) => /"secret":"([^"]+)"/.exec(readFileSync(join(data, name), 'utf8'))?.[1])
    .find((text) => text !== undefined);
  t.ok(secret, 'the secret of the serving process is known');
  const keyFile = (name: string): string => readFileSync(join(data, name)).toString('hex').slice(0, 40);
  holdsNone(t, bundle, {
    ...names,
    macaroon,
    session: issued['session-id'] ?? '',
    'one-time password secret': /[A-Z2-7]{16,}/.exec(totp)?.[0] ?? '',
    'site key': keyFile('site.key'),
    'site key as it is written': readFileSync(join(data, 'site.key'), 'latin1').trim().slice(0, 24),
    'master key': keyFile('master.key'),
    'serving secret': secret ?? '',
    'head of the audit log': head,
    ...Object.fromEntries(sealedSecrets.map((text, at) => [`sealed secret ${String(at)}`, text.slice(0, 40)])),
    'reserved name': 'canary-reserved-name',
    'address in the log': 'canary-address-in-the-log',
    'messages of the log': 'canary-',
    'data directory': data,
    address: server.url.slice('http://'.length),
    loopback: '127.0.0.1',
    ...(hostname().length >= 6 && { 'host name': hostname() }),
  });
  server.child.kill('SIGTERM');
  await server.ended;
});

function holds(t: Test, files: Record<string, string>): void {
  t.match(
    read(files, 'release.json'),
    { larder: /^\d+\./, node: process.version, architecture: process.arch },
    'the release and the runtime',
  );
  t.match(
    read(files, 'system.json'),
    { kernel: /^\d+\./, processors: Number, fileSystem: { blocks: Number, files: Number } },
    'the system',
  );
  t.match(
    read(files, 'configuration.json'),
    { readable: true, settings: { 'names.reserved': '(set)', 'http.base_url': '(set)' } },
    'the configuration',
  );
  const examinations = read(files, 'examinations.json') as { what: string; level: string }[];
  t.ok(
    examinations.some(({ what: name, level }) => name === 'Disk' && level === 'well'),
    'the examinations',
  );
  const health = read(files, 'health.json');
  t.match(health, { serving: true, since: /^20/, scrub: { bytes: Number } }, 'the health');
  t.ok(
    health.faults.some(
      ({ code, severity }: Record<string, string>) => code === 'backup-missing' && severity === 'notice',
    ),
    'the faults',
  );
  const jobs = (health.jobs as { name?: string }[]).map(({ name }) => name);
  t.ok(jobs.length > 15, 'the jobs');
  const shown = jobs.map((name) => name ?? '?').join(' ');
  t.notOk(jobs.includes(undefined), `add the name of each '?' to jobNames of src/cli/store/bundle/values.ts: ${shown}`);
  const records = read(files, 'records.json');
  t.match(
    records,
    { engine: 'sqlite', schema: /^\d{4}-/, sizes: { databaseBytes: Number }, counts: { packages: 1, accounts: 2 } },
    'the records',
  );
  t.match(records.rows, { packages: 1, accounts: 2, totp_secrets: 1 }, 'rows of each table');
  t.equal(records.migrations.length, new Set(records.migrations).size);
  t.match(read(files, 'unit.json'), { known: false }, 'the unit');
  t.match(files['larder-bundle/metrics.txt'], /^larder_requests_total\{[^]*^larder_packages 1$/m, 'the metrics');
  const log = read(files, 'log.json');
  t.equal(log.otherLines, 2, 'what is no line of the log is counted alone');
  t.ok(
    log.lines.some(({ status }: { status?: number }) => status === 404),
    'requests by their status',
  );
  t.same(
    log.lines.at(-1),
    { time: '2026-11-26T00:00:00.000Z', level: 'error', job: 'seal-audit', error: 'ENOSPC' },
    'codes of errors, and nothing else of the line',
  );
  t.end();
}

t.test('a bundle of a store that cannot be opened is written all the same, without its credentials', async (t) => {
  const { data, larder: on } = await newStore(t);
  const credentials = join(folder(t), 'canary-credentials.toml');
  writeFileSync(credentials, 'access_key_id = "CANARYKEYID77"\nsecret_access_key = "canarySecretAccessKey"\n', {
    mode: 0o600,
  });
  const password = join(folder(t), 'canary-password');
  writeFileSync(password, 'canaryDatabasePassword\n', { mode: 0o600 });
  const text = readFileSync(join(data, 'larder.toml'), 'utf8')
    .replace(/^\[records\][^[]*/m, '')
    .replace(/^\[blobs\][^[]*/m, '');
  const place = `[records]\npostgres = "postgres://canaryuser@127.0.0.1:1/canarydatabase"\npassword_file = "${password}"\n`;
  const blobs = `[blobs]\ns3 = "http://127.0.0.1:1/canarybucket"\ncredentials_file = "${credentials}"\n`;
  writeFileSync(join(data, 'larder.toml'), `${text}\n${place}${blobs}`);
  const file = join(folder(t), 'bundle.tar');
  t.match(await on(`doctor --bundle ${file} --yes`), { code: 1, out: /Written to / });
  const files = await filesOf(file);
  t.match(read(files, 'configuration.json'), { readable: true });
  t.same(read(files, 'records.json'), { available: false });
  t.match(read(files, 'health.json'), { serving: false });
  holdsNone(t, readFileSync(file), { any: 'canary', port: '127.0.0.1', id: 'CANARYKEYID77' });

  writeFileSync(join(data, 'larder.toml'), '[http]\nbase_url = "canary-that-is-no-address"\nworkers = "canary"\n');
  const second = join(folder(t), 'bundle.tar');
  t.match(await on(`doctor --bundle ${second} --yes`), { code: 1 });
  t.match(read(await filesOf(second), 'configuration.json'), { readable: false, lines: [2, 3] });
  holdsNone(t, readFileSync(second), { any: 'canary' });
});

t.test('the bundle is written only after a person has seen its list, and never over an existing file', async (t) => {
  const { data, larder: on } = await newStore(t);
  const file = join(folder(t), 'bundle.tar');
  t.match(await on(`doctor --bundle ${file}`), { code: 2, err: /add --yes to confirm/ }, 'a script has to say --yes');
  t.notOk(existsSync(file));

  async function* typed(answer: string): AsyncGenerator<string> {
    yield `${answer}\n`;
  }
  const env = { LARDER_DATA: data };
  const refused = await larder(`doctor --bundle ${file}`, { env, terminal: true, typed: typed('n') });
  t.match(refused, { code: 1, err: /release\.json +\d+ bytes: [^]*log\.json[^]*Continue\? \[y\/N\][^]*not confirmed/ });
  t.notOk(existsSync(file), 'a list alone writes nothing');
  const accepted = await larder(`doctor --bundle ${file}`, { env, terminal: true, typed: typed('y') });
  t.match(accepted, { code: 0, out: /Written to / });
  const written = readFileSync(file);

  t.match(await on(`doctor --bundle ${file} --yes`), {
    code: 1,
    err: /is there already; name a file that is not there yet/,
  });
  t.ok(readFileSync(file).equals(written), 'the file stays as it was');
  t.match(await on('doctor --log ./serve.log'), { code: 2, err: /--log goes with --bundle/ });
  const listed = execFileSync('/usr/bin/tar', ['-tf', file], { encoding: 'utf8' });
  t.match(listed, /^larder-bundle\/release\.json$/m, 'any tar reads it');
});

t.test('the lines of the guide make a bundle and print it', async (t) => {
  const { data } = await newStore(t);
  const usb = folder(t);
  const lines = examplesIn('administrator', 'Ask for help', 1)
    .flat()
    .map((line) => line.replaceAll('/media/usb', usb));
  t.equal(lines.length, 2);
  const [, typed = ''] = /^larder (.*)$/.exec(lines[0]!) ?? [];
  t.match(await larder(`${typed} --yes`, { env: { LARDER_DATA: data } }), { code: 0 });
  const [program = '', ...words] = lines[1]!.split(' ');
  t.match(execFileSync(`/usr/bin/${program}`, words, { encoding: 'utf8' }), /"larder": "\d/);
});

t.test('every setting is shown, shown as set, or left out as a secret', (t) => {
  const left = settingNames().filter((name) => !shownSettings.includes(name) && !namedSettings.includes(name));
  t.same(
    left,
    settingNames().filter((name) => findKey(name)?.secret === true),
  );
  for (const name of shownSettings) {
    const key = findKey(name)!;
    const isClosed =
      key.size || key.words.length > 0 || key.types.every((type) => type === 'boolean' || type === 'integer');
    t.ok(isClosed, `${name} has no free text`);
  }
  t.end();
});

t.test('a metric with a label or a name that larder does not know is left out', (t) => {
  const page = [
    'larder_packages 3',
    'larder_x{operation="metrics",status="200"} 1',
    'larder_x{operation="canary"} 1',
    'larder_x{account="ada"} 1',
    'canary_y 1',
    '# HELP larder_packages canary',
  ].join('\n');
  t.equal(metricsForBundle(page), 'larder_packages 3\nlarder_x{operation="metrics",status="200"} 1\n');
  t.end();
});
