// larder config get, set, unset
import t from 'tap';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '#configuration/config.ts';
import { newStore, serve } from '#test/cli/process.ts';

const textOf = (data: string): string => readFileSync(join(data, 'larder.toml'), 'utf8');

t.test('a setting is changed, typed by its schema, and its comment and every other line stay', async (t) => {
  const { data, larder, json } = await newStore(t);
  const before = textOf(data).split('\n');
  t.match(await larder('config set devices.snap true'), {
    code: 0,
    out: /^devices\.snap: false -> true\nNo process serves this store; the change takes effect at the next start\.\n$/,
  });
  t.equal(readConfig(join(data, 'larder.toml')).devices.snap, true);
  const lines = textOf(data).split('\n');
  t.strictSame(
    lines.filter((line) => line !== 'snap = true'),
    before,
    'one line more, and all others as they were',
  );
  t.match(await json('config get devices.snap'), { key: 'devices.snap', value: true, 'is-default': false });
  t.match(await json('config set http.drain_minutes 7'), { before: null, after: 7, reload: 'not serving' });
  t.match(await json("config set uploads.max_size '8 GiB'"), { after: '8 GiB' });
  t.match(await json('config set http.monitors 10.0.0.5 10.0.1.0/24'), { after: ['10.0.0.5', '10.0.1.0/24'] });
  t.match(await json('config set names.reserved admin'), { after: ['admin'] });
  t.match(await larder('config get http.monitors'), { out: '["10.0.0.5", "10.0.1.0/24"]\n' });
  t.match(await larder('config unset devices.snap'), { code: 0, out: /^devices\.snap: true -> false \(default\)\n/ });
  t.match(await larder('config set devices.snap false'), { code: 0, out: /^devices\.snap: false -> false\n/ });
  t.match(await larder('config set devices.snap false'), { code: 0, out: 'devices.snap is false already.\n' });
  const { entries } = (await json('audit list')) as { entries: { action: string; details: object }[] };
  const changes = entries.filter(({ action }) => action.endsWith('_setting'));
  t.equal(changes.length, 7, 'the audit log has each change, and none for a value that is there already');
  t.match(JSON.stringify(changes.map(({ details }) => details)), /http\.drain_minutes/);
});

t.test('a value that the schema refuses, an unknown setting and a secret change nothing', async (t) => {
  const { data, larder } = await newStore(t);
  const before = textOf(data);
  for (const [line, code, err] of [
    ['config set devices.snap yes', 1, /devices\.snap: expected true or false, got "yes"/],
    ['config set devices.snap', 2, /needs a VALUE for devices\.snap: true or false/],
    ['config set http.drain_minutes many', 1, /http\.drain_minutes: expected a whole number/],
    ['config set http.base_url http://host:0', 1, /http\.base_url: expected/],
    ['config set http.base_url a b', 2, /has one value/],
    ['config set device.snap true', 2, /there is no setting 'device\.snap'; did you mean 'devices\.snap'\?/],
    ['config set base_url http://store', 2, /did you mean 'http\.base_url'\?/],
    ['config set auth.store_admin_macaroon_sha3_384 aa', 2, /leads to a secret .*'larder admin-macaroon' makes/],
    ['config get auth.store_admin_macaroon_sha3_384', 2, /leads to a secret/],
    ['config set records.postgres postgres://db/larder', 2, /'larder move' moves the records/],
    ['config set tls.certificate_file /tmp/server.pem', 1, /belong together/],
  ] as const) {
    t.match(await larder(line), { code, out: '', err }, line);
  }
  t.equal(textOf(data), before);
  const all = await larder('config get');
  t.match(all.out, /^ {2}devices\.snap +false \(default\)$/m);
  t.notMatch(all.out, /sha3_384/, 'secrets are not listed');
});

t.test(
  'the serving process has the new value when the command ends, and a change that it refuses is undone',
  async (t) => {
    const { data, larder, json } = await newStore(t);
    const { url } = await serve(t, data);
    const before = textOf(data);
    t.equal((await fetch(`${url}/v2/snaps/info/hello`)).status, 404);
    t.match(await json('config set http.metrics false'), { reload: 'reloaded', 'needs-restart': false });
    t.equal((await fetch(`${url}/metrics`)).status, 404);
    t.match(await larder('config unset http.metrics'), { out: /The serving process has read it\./ });
    t.equal((await fetch(`${url}/metrics`)).status, 200);
    t.match(await json('config set http.workers 2'), { reload: 'reloaded', 'needs-restart': true });
    t.match(await json('config unset http.workers'), { reload: 'reloaded' });

    const key = join(data, 'wrong.key');
    writeFileSync(key, 'too short');
    const untouched = textOf(data);
    t.match(await larder(`config set keys.master_key_file ${key}`), { code: 2, err: /leads to a secret/ });
    writeFileSync(join(data, 'larder.toml'), before.replace('[keys]', `[keys]\nmaster_key_file = "${key}"`));
    const wrong = textOf(data);
    t.match(await larder('config set http.metrics false'), {
      code: 1,
      err: /the serving process refused the change, and http\.metrics is as it was: .*wrong\.key/,
    });
    t.equal(textOf(data), wrong);
    t.not(untouched, wrong);
    t.equal((await fetch(`${url}/metrics`)).status, 200);
  },
);
