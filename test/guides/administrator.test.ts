// The guide for administrators, typed at a store without TLS: its commands work as described, and its links exist.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { guides } from '#documents/guides.ts';
import { readConfig } from '#configuration/config.ts';
import { snapFixture, startStore } from '#test/fixtures/appliance.ts';
import { examplesIn, missingOutput } from '#test/fixtures/guides.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { newBrandStore, several } from '#test/cli/brands/brand-store.ts';
import { folder, newStore } from '#test/cli/process.ts';
import { days } from '#domain/clock.ts';
import { larder } from '#test/cli/world.ts';
import { osvZip } from '#test/fixtures/vulnerabilities/feeds.ts';
import { advisory, findingWorld, oldSsl, publish, snapOf } from '#test/operations/vulnerabilities/world.ts';

/** A line without its comment, as the arguments of larder. */
const toArguments = (line: string): string => line.replace(/ +#.*$/, '').replace(/^larder /, '');

t.test('the lines that show how the store is, and prove it', async (t) => {
  const data = join(folder(t), 'data');
  const run = (line: string) => larder(toArguments(line), { env: { LARDER_DATA: data } });
  const made = await run('init --base-url https://store.example.internal');
  t.same(missingOutput('administrator', 'Set up', made.out), []);
  const [looks = []] = examplesIn('administrator', 'Check the store', 2);
  // A store that is not served has something to say, and is not well.
  let printed = '';
  for (const line of looks) {
    const { code, out, err } = await run(line);
    t.match({ code, err }, { code: /^[01]$/, err: '' }, line);
    printed += out;
  }
  t.same(missingOutput('administrator', 'Check the store', printed), []);
  const monday = join(folder(t), 'monday.tar');
  t.equal((await run(`backup ${monday}`)).code, 0);
  const [, head = ''] = /Audit log +(\d+:\w+)/.exec((await run('status')).out) ?? [];
  for (const line of examplesIn('administrator', 'Verify the store', 1).flat()) {
    const { code, out, err } = await run(line.replace('/media/usb/monday.tar', monday).replace('SEQ:HASH', head));
    t.equal(code, 0, `${line}: ${err}`);
    printed += out;
  }
  t.same(missingOutput('administrator', 'Verify the store', printed), []);
});

t.test('the lines about a registry of the site print what that registry needs', async (t) => {
  const { data } = await newStore(t, '--base-url https://store.internal');
  const [[, setting = ''] = [], ...typed] = examplesIn('administrator', 'Use an existing image registry', 2);
  const file = join(data, 'larder.toml');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^# external = .*$/m, setting));
  const out: string[] = [];
  for (const line of typed.flat()) {
    const printed = await larder(toArguments(line).replace(/ >.*$/, ''), { env: { LARDER_DATA: data } });
    t.equal(printed.code, 0, `${line}: ${printed.err}`);
    out.push(printed.out);
  }
  t.match(out[0], /^-----BEGIN CERTIFICATE-----/);
  t.match(out[1], /registry\.internal:5000/);
});

t.test('the lines about feeds import one, and list it', async (t) => {
  const store = await newStore(t);
  const file = join(folder(t), 'ubuntu-osv.zip');
  const fixes = { 'Ubuntu:22.04:LTS openssl': '3.0.2-0ubuntu1.20', 'Ubuntu:24.04:LTS openssl': null };
  writeFileSync(file, osvZip([1, 2].map((number) => ({ id: `USN-${String(number)}-1`, fixes }))));
  let printed = '';
  for (const line of examplesIn('administrator', 'Import feeds of advisories', 1).flat()) {
    const { code, out, err } = await store.larder(toArguments(line).replace('./ubuntu-osv.zip', file));
    t.match({ code, err }, { code: 0, err: /^(?:reading .*\s*)?$/ }, line);
    printed += out;
  }
  t.same(missingOutput('administrator', 'Import feeds of advisories', printed), []);
});

t.test('the lines about known vulnerabilities list them, and accept one until a date', async (t) => {
  const world = await findingWorld(t);
  const contents = { 'latest/stable': snapOf('hello', '1', `libssl3=${oldSsl}`) };
  await publish(world, 'snap', 'hello', contents);
  await world.advisories([advisory(1001)]);
  // The date in the guide is within a year of its reading.
  const tomorrow = new Date(Date.now() + days(1)).toISOString().slice(0, 10);
  let printed = '';
  for (const line of examplesIn('administrator', 'Review known vulnerabilities', 2).flat()) {
    const { code, out, err } = await world.larder(toArguments(line).replace(/--until \S+/, `--until ${tomorrow}`));
    t.match({ code, err }, { code: 0, err: '' }, line);
    printed += out;
  }
  t.same(missingOutput('administrator', 'Review known vulnerabilities', printed), []);
});

t.test('the lines about a brand make its key, and import the assertions of the online store', async (t) => {
  const { larder, file, files } = await newBrandStore(t);
  t.equal((await larder('account create --id acme --email a@example.org --username acme --display-name A')).code, 0);
  const returned = file('return.assert', several('brand-account-key', 'brand-account', 'store-account-key'));
  for (const line of examplesIn('administrator', 'Brands and their keys', 2).flat()) {
    const localArgs = toArguments(line).replace('./', `${files}/`).replace('return.assert', returned);
    t.match(await larder(localArgs), { code: 0 }, line);
  }
  await larder('account create --id ada --email ada@example.org --username ada --display-name Ada');
  await larder('package register snap/hello --account ada --private');
  for (const line of examplesIn('administrator', 'Private snaps on devices', 1).flat())
    t.match(await larder(toArguments(line)), { code: 0 }, line);
});

t.test('the lines about monitoring hosts let these read the metrics', async (t) => {
  // Not served: the command sends SIGHUP to the process that serves, which would be this one.
  const { data } = await newStore(t);
  const answers: string[] = [];
  for (const line of examplesIn('administrator', 'Check the store', 2)[1] ?? []) {
    const { code, out, err } = await larder(`${line.slice('larder '.length)} --data ${data}`);
    t.equal(code, 0, `${line}: ${err}`);
    answers.push(out);
  }
  const { http } = readConfig(join(data, 'larder.toml'));
  t.strictSame(http.monitors, ['10.0.0.5', '10.0.1.0/24']);
  t.match(answers.at(-1), /10\.0\.0\.5.*10\.0\.1\.0\/24/);
});

t.test('the lines about manual review make an upload wait, and approve it', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  let [upload, pushed] = ['', 0];
  for (const line of examplesIn('administrator', 'Require manual review of uploads', 1).flat()) {
    const typed = line.replace('larder ', '').replace('snap/hello', 'snap/tiny-app').replace('UPLOAD', upload);
    const { code, out, err } = await larder(`${typed} --data ${store.directory}`);
    t.equal(code, 0, `${line}: ${err}`);
    if (line.endsWith(' on')) {
      const [review] = (await ada.push('snap', 'tiny-app', await snapFixture('app-xz'))).body.revisions;
      t.match(review, { status: 'scanned', revision: null }, 'it waits');
      upload = review['upload-id'] as string;
    }
    if (line.endsWith('review list')) t.match(out, upload, 'it is listed');
    if (line.includes('approve')) {
      pushed = (await ada.get('/v1/snap/tiny-app/revisions')).body.revisions.length as number;
      t.equal(pushed, 1, 'it is a revision now');
    }
  }
  t.equal(pushed, 1);
  t.match((await ada.push('snap', 'tiny-app', await snapFixture('app-zstd'))).body.revisions, [{ revision: 2 }]);
});

t.test('the lines about a rollout start it, show it, and take it back', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const revision of [1, 2]) await addRevision(store, id, revision);
  await ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: 1 }]);
  let printed = '';
  for (const line of examplesIn('administrator', 'Roll out a revision in steps', 2).flat()) {
    const { code, out, err } = await larder(toArguments(line), { env: { LARDER_DATA: store.directory } });
    t.equal(code, 0, `${line}: ${err}`);
    printed += out;
  }
  t.same(missingOutput('administrator', 'Roll out a revision in steps', printed), []);
  t.match((await ada.get('/v1/snap/hello/releases')).body['channel-map'], [{ revision: 1 }]);
});

t.test('no guide links to an address that a store without TLS does not have', async (t) => {
  const store = await startStore(t);
  t.equal((await store.anyone.get('/ca.pem')).status, 404, 'such as the authority of its certificate');
  const links = new Map<string, string>();
  for (const name of Object.keys(guides)) {
    const page = `/docs/${name}`;
    const { status, body } = await store.anyone.get(page);
    t.equal(status, 200, page);
    for (const [, href = ''] of String(body).matchAll(/<a\s[^>]*?href="([^"#]+)/g)) {
      const { origin, pathname } = new URL(href, `${store.url}${page}`);
      if (origin === store.url) links.set(pathname, page);
    }
  }
  t.ok(links.size > 10, 'there are links');
  for (const [path, page] of links) t.not((await store.anyone.get(path)).status, 404, `${page} links to ${path}`);
});
