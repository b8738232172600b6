// The script of the collector, unchanged from a request, run against a store at its own addresses.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { commandsOn, folder } from '#test/cli/process.ts';
import { rootsFile } from '#test/fixtures/packages/online-store.ts';
import { fetchScript, buildFetchTable } from '#transfers/request/fetch-table.ts';
import { fetchTools as skip, oldStore } from '#test/transfers/old-store.ts';

t.setTimeout(600_000);

const run = (from: string, to: string, env: Record<string, string>): Promise<{ code: number; err: string }> =>
  new Promise((done) => {
    execFile('sh', [join(from, 'fetch.sh'), to], { env: { ...process.env, ...env } }, (error, _out, err) => {
      done({ code: error === null ? 0 : Number(error.code), err });
    });
  });

t.test(
  'the script downloads the packages of the table from a running store, verifies them, and resumes',
  { skip },
  async (t) => {
    const { store, password } = await oldStore(t);
    const [from, to] = [folder(t), join(folder(t), 'found')];
    const wish = (namespace: 'snap' | 'charm', name: string, channel: string) => ({
      namespace,
      name,
      channels: [channel],
      architectures: ['amd64' as const],
    });
    const { text } = buildFetchTable({
      site: 'site-a',
      number: 1,
      missing: [],
      'key-requests': [],
      provenance: [],
      subscriptions: [
        wish('snap', 'hello-on', 'latest/edge'),
        wish('charm', 'hello', 'latest/stable'),
        wish('snap', 'nothing', 'latest/stable'),
      ],
    });
    writeFileSync(join(from, 'fetch.sh'), fetchScript());
    writeFileSync(join(from, 'wishes.tsv'), text);
    const env = { STORE: store.url, CHARMHUB: `${store.url}/` };
    const first = await run(from, to, env);
    t.match(first, { code: 1, err: /1 of 3 could not be fetched/ }, first.err);
    t.same(readdirSync(join(to, 'snaps')).sort(), [
      'hello-on_12.assert',
      'hello-on_12.snap',
      'hello-on_amd64.info.json',
    ]);
    t.same(readdirSync(join(to, 'charms')).sort(), [
      'hello.info.json',
      'hello_1.charm',
      'hello_latest-stable_amd64_1.refresh.json',
      'hello_site_1.resource',
    ]);
    t.equal(readFileSync(join(to, 'charms/hello_site_1.resource'), 'utf8'), 'a file beside it');
    t.ok(existsSync(join(to, 'images/hello_image_1/manifest.json')), 'skopeo has left the image');
    t.match(JSON.parse(readFileSync(join(to, 'images/hello_image_1.json'), 'utf8')), {
      charm: 'hello',
      resource: 'image',
      revision: 1,
    });
    const left = spawnSync('grep', ['-rl', password, to], { encoding: 'utf8' });
    t.equal(left.stdout, '', 'no credential is left');

    const otherStore = commandsOn(join(folder(t), 'data'));
    await otherStore.larder('init');
    const file = join(otherStore.data, 'larder.toml');
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(/^# trusted = .*$/m, `trusted = ["${rootsFile(folder(t))}"]`),
    );
    t.match(
      await otherStore.json(`package import ${join(to, 'snaps')} --preview`),
      { revisions: [{ revision: 12 }] },
      'with its assertions',
    );

    rmSync(join(to, 'charms/hello_1.charm'));
    const second = await run(from, to, env);
    t.notMatch(second.err, /^charm hello/m, 'what was done is not done again');
    const all = join(folder(t), 'all');
    t.match(await run(from, all, { ...env, EVERYTHING: 'yes' }), { code: 0 });
    t.ok(existsSync(join(all, 'snaps/hello-on_12.snap')) && existsSync(join(all, 'charms/hello_1.charm')));
  },
);

t.test('a value that is none reaches no address, and other bytes are not kept', { skip }, async (t) => {
  const [from, to] = [folder(t), folder(t)];
  writeFileSync(join(from, 'fetch.sh'), fetchScript());
  const rows = [
    'snap\t$(touch /tmp/no)\tlatest/stable\tamd64',
    'snap\t../up\tlatest/stable\tamd64',
    'charm\thello\t--help\tamd64',
    'other\ta\tb\tc',
  ];
  writeFileSync(join(from, 'wishes.tsv'), `${rows.join('\n')}\n`);
  const { code, err } = await run(from, to, { STORE: 'http://127.0.0.1:1' });
  t.equal(code, 1);
  t.match(err, /4 of 4 could not be fetched/);
  t.notMatch(err, /curl/);
  t.match(await run(from, to, { STORE: 'file:///etc' }), { code: 2, err: /is no address/ });
});
