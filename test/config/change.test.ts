import t from 'tap';
import fc from 'fast-check';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { changeConfig, ConfigError, initialConfig, parseConfig, readConfig } from '#configuration/config.ts';
import { createFile, makeFolder, prepareFile } from '#files/durable.ts';
import { edit, type ConfigValue } from '#configuration/edit.ts';
import { embeddedText } from '#platform/embedded.ts';

const long = process.env['LARDER_LONG'] === '1';
const digest = '0123456789abcdef'.repeat(6);

t.test('a value is changed in its place, and everything else stays', async (t) => {
  const file = join(
    t.testdir({ 'larder.toml': '# Ours.\n[store]\nid = "a" # short\n\n[log]\nlevel = "warn"\n' }),
    'larder.toml',
  );
  changeConfig(file, { 'store.id': 'site-7', 'log.level': 'debug' });
  t.equal(readFileSync(file, 'utf8'), '# Ours.\n[store]\nid = "site-7" # short\n\n[log]\nlevel = "debug"\n');
});

t.test('a new key is added at the end of its section, below its comment, or with a section of its own', async (t) => {
  const before =
    '[store]\nid = "a" # short\n# offline_mode = false\n# the end\n\n# Reached here.\n[http]\n\n[log]\nlevel = "warn"';
  t.equal(edit(before, 'store', 'offline_mode', true), before.replace('= false\n', '= false\noffline_mode = true\n'));
  t.equal(
    edit(before, 'http', 'trusted_proxies', ['10.0.0.7', '::1']),
    before.replace('[http]\n', '[http]\ntrusted_proxies = ["10.0.0.7", "::1"]\n'),
  );
  t.equal(edit(before, 'names', 'reserved', []), `${before}\n\n[names]\nreserved = []\n`);
  t.equal(edit(before, 'log', 'more', 1), `${before}\nmore = 1`);
  t.equal(edit('', 'log', 'level', 'info'), '[log]\nlevel = "info"\n');
  t.equal(edit('[log]\r\n\r\n[store]\r\n', 'log', 'level', 'info'), '[log]\r\nlevel = "info"\r\n\r\n[store]\r\n');
  t.equal(edit('store = { id = "a" }\n', 'store', 'offline_mode', true), 'store = { offline_mode = true, id = "a" }\n');
  t.equal(edit('store = {}\n', 'store', 'id', 'a'), 'store = { id = "a" }\n');
  t.equal(
    edit('store.id = "a"\nlog.level = "info"\n', 'store', 'offline_mode', true),
    'store.id = "a"\nstore.offline_mode = true\nlog.level = "info"\n',
  );
  const comment = '[names]\nreserved = [\n# more = 1\n"core"]\n';
  t.equal(edit(comment, 'names', 'more', 2), `${comment}more = 2`.replace(']\nmore = 2', ']\nmore = 2\n'));
});

t.test('a key that is not to be set any more stays to be read, as a comment', (t) => {
  const before =
    '[store] # ours\n  id = "a" # short\n\n[names]\nreserved = [\n  "core", # one\n]\n[log]\r\nlevel = "info"\r\n';
  t.equal(edit(before, 'store', 'id', undefined), before.replace('  id =', '#   id ='));
  t.equal(
    edit(before, 'names', 'reserved', undefined),
    before.replace('reserved = [\n  "core", # one\n]', '# reserved = [\n#   "core", # one\n# ]'),
  );
  t.equal(edit(before, 'log', 'level', undefined), before.replace('level', '# level'));
  t.equal(edit(before, 'log', 'format', undefined), before, 'what was not set');
  t.equal(edit('store.id = "a"\nlog.level = "info"', 'store', 'id', undefined), '# store.id = "a"\nlog.level = "info"');
  t.throws(() => edit('store = { id = "a", offline_mode = true }', 'store', 'id', undefined), /changing another key/);
  const again = edit(edit(before, 'store', 'id', undefined), 'store', 'id', 'b');
  t.equal(
    again,
    before.replace('  id = "a" # short', '#   id = "a" # short\r\nid = "b"'),
    'and stands below it when it is set again',
  );
  t.end();
});

t.test('a key of a section within another section is changed, added and taken away', (t) => {
  const text = '[identity]\nrequire_totp = true\n\n[identity.oidc] # ours\nname = "A"\n\n[http]\nmetrics = true\n';
  const file = join(t.testdir({ 'larder.toml': text }), 'larder.toml');
  changeConfig(file, { 'identity.oidc.name': 'B', 'identity.oidc.hosts': ['b.example'] });
  changeConfig(file, { 'identity.oidc.roles.officers': ['auditor'] });
  t.equal(
    readFileSync(file, 'utf8'),
    `${text.replace('name = "A"\n', 'name = "B"\nhosts = ["b.example"]\n')}\n[identity.oidc.roles]\nofficers = ["auditor"]\n`,
  );
  changeConfig(file, { 'identity.oidc.hosts': undefined, 'identity.oidc.roles.officers': undefined });
  t.match(readConfig(file).identity, { require_totp: true, oidc: { name: 'B', hosts: [], roles: {} } });
  t.end();
});

t.test('a change that would not be accepted changes nothing', async (t) => {
  const folder = t.testdir({ 'larder.toml': '[store]\nid = "a"\n', 'broken.toml': '[store\n' });
  const file = join(folder, 'larder.toml');
  t.throws(() => changeConfig(file, { 'http.listen': '127.0.0.1:1', 'store.id': 'a b' }), {
    name: 'ConfigError',
    problems: [{ line: 2, message: /^store\.id: expected/ }],
  });
  t.throws(() => changeConfig(file, { 'store.no_such_key': 'a' }), {
    message: "cannot set 'store.no_such_key': there is no such key",
  });
  t.equal(readFileSync(file, 'utf8'), '[store]\nid = "a"\n');
  t.throws(() => changeConfig(join(folder, 'broken.toml'), { 'store.id': 'a' }), ConfigError);
  t.throws(() => changeConfig(join(folder, 'none.toml'), { 'store.id': 'a' }), ConfigError);
  t.strictSame(readdirSync(folder).sort(), ['broken.toml', 'larder.toml']);
});

t.test('a change may mend a file with a wrong value', async (t) => {
  const file = join(t.testdir({ 'larder.toml': '[log]\nlevel = "loud"\n' }), 'larder.toml');
  changeConfig(file, { 'log.level': 'debug' });
  t.equal(readConfig(file).log.level, 'debug');
});

t.test('the file is replaced whole, for its owner alone, and through a symbolic link', async (t) => {
  const folder = t.testdir({ 'larder.toml': '' });
  const file = join(folder, 'larder.toml');
  chmodSync(file, 0o644);
  const { ino } = statSync(file);
  changeConfig(file, { 'store.id': 'a' });
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.not(statSync(file).ino, ino, 'another file');

  mkdirSync(join(folder, 'etc'));
  writeFileSync(join(folder, 'etc/other.toml'), '[store]\nid = "b"\n');
  symlinkSync('etc/other.toml', join(folder, 'link.toml'));
  changeConfig(join(folder, 'link.toml'), { 'store.id': 'c' });
  t.ok(lstatSync(join(folder, 'link.toml')).isSymbolicLink());
  t.equal(readFileSync(join(folder, 'etc/other.toml'), 'utf8'), '[store]\nid = "c"\n');

  createFile(join(folder, 'key'), 'secret', 0o400);
  t.equal(statSync(join(folder, 'key')).mode & 0o777, 0o400);
  t.throws(() => createFile(join(folder, 'key'), 'other', 0o400), { code: 'EEXIST' });
  t.equal(readFileSync(join(folder, 'key'), 'utf8'), 'secret');
  const prepared = prepareFile(join(folder, 'key'), 'other', 0o400);
  t.equal(readFileSync(join(folder, 'key'), 'utf8'), 'secret', 'until the other is put in its place');
  prepared.discard();
  makeFolder(join(folder, 'a/b'));
  for (const made of ['a', 'a/b']) t.equal(statSync(join(folder, made)).mode & 0o777, 0o700);
  t.strictSame(
    readdirSync(folder).sort(),
    ['a', 'etc', 'key', 'larder.toml', 'link.toml'],
    'and nothing is left behind',
  );
});

t.test('the file has the result of any series of changes, and every comment stays', async (t) => {
  const starts = [
    '',
    '# one\r\n[http] # two\r\nlisten = "127.0.0.1:80" # three\r\n\r\n# four\r\n[log]\r\n# five\r\n',
    'store = { id = "a" } # one\nhttp.listen = "127.0.0.1:80" # two\n[names] # three\nreserved = [ # four\n  "core", # five\n]',
    '[store]\nid = """\na\\u0062""" # one\n[names]\nreserved = []# two\n# three',
    ...['appliance', 'air-gapped', 'development'].map((name) => embeddedText(`config/${name}.toml`)),
  ];
  const text = fc.string({ unit: 'grapheme', maxLength: 12 }).map((value) => value.toWellFormed());
  const value: fc.Arbitrary<ConfigValue> = fc.oneof(text, fc.boolean(), fc.nat(), fc.array(text, { maxLength: 3 }));
  const name = fc.constantFrom(
    'store.id',
    'store.offline_mode',
    'http.listen',
    'names.reserved',
    'log.level',
    'keys.master_key_file',
  );
  const series = fc.tuple(fc.constantFrom(...starts), fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 6 }));
  const comments = (toml: string) =>
    [...toml.matchAll(/# (?:one|two|three|four|five|[A-Z].*)$/gm)].map(([comment]) => comment.trim());
  fc.assert(
    fc.property(series, ([start, changes]) => {
      let toml = start;
      const expected = JSON.parse(JSON.stringify(parse(start))) as Record<string, Record<string, ConfigValue>>;
      for (const [dotted, to] of changes) {
        const [section = '', key = ''] = dotted.split('.');
        toml = edit(toml, section, key, to);
        (expected[section] ??= {})[key] = to;
      }
      t.strictSame(JSON.parse(JSON.stringify(parse(toml))), expected);
      const remaining = comments(toml);
      // A list that is written again loses the comments between its members, and no others.
      const lost = comments(start).filter((comment) => !remaining.includes(comment));
      if (lost.some((comment) => comment !== '# four' && comment !== '# five')) throw new Error(lost.join());
    }),
    { numRuns: long ? 5_000 : 200 },
  );
});

t.test('the configuration of a new store is an isolated one, and shows every key with a comment', async (t) => {
  const text = initialConfig({
    baseUrl: 'https://store.example.org',
    listen: '0.0.0.0:443',
    storeAdminId: 'larder-admin',
    storeAdminDigest: digest,
  });
  t.match(parseConfig('larder.toml', text), {
    store: { id: 'larder', offline_mode: true },
    auth: { store_admin_id: 'larder-admin', store_admin_macaroon_sha3_384: digest },
    http: { base_url: 'https://store.example.org', listen: '0.0.0.0:443', trusted_proxies: [] },
    internal: { package_permissions: true },
  });
  // A bucket for backups takes the place of a folder.
  const all = text.replaceAll(/^# (?!folder)(?=[a-z0-9_]+ = )/gm, '');
  t.doesNotThrow(() => parseConfig('larder.toml', all), 'the keys shown as comments could be turned on');
  t.ok(text.split('\n').every((line) => line.length <= 100 || line.includes(digest)));
  const wrong = {
    baseUrl: 'https://store.example.org/',
    listen: 'x',
    storeAdminId: 'larder-admin',
    storeAdminDigest: digest,
  };
  t.throws(() => initialConfig(wrong), { name: 'ConfigError', problems: { length: 2 } });
});
