// Transfers of more than package files: metadata, libraries of charms, and assertions that no package needs.
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { stream } from '#assertions/format/assertion.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { charm } from '#test/fixtures/packages/archives.ts';
import { rootsFile } from '#test/fixtures/packages/online-store.ts';
import { squashfsImage } from '#test/fixtures/packages/squashfs-image.ts';
import { startNow } from '#test/acts/ways.ts';
import {
  adasAccount,
  adasKey,
  confdbSchema,
  made,
  madeElsewhere,
  storeKey,
  timestamp,
} from '#test/assertions/world.ts';
import { commandsOn, folder, type NewStore } from '#test/cli/process.ts';
import type { TestAppliance } from '#test/fixtures/appliance.ts';

t.setTimeout(600_000);

interface Served extends NewStore {
  store: TestAppliance;
  /** Receives a transfer of the depot and looks at it. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the caller knows the shape
  preview(from: NewStore, file: string, more?: string): Promise<any>;
}

/** A site that serves, and trusts the made-up online store. */
async function served(t: Test, name: string): Promise<Served> {
  const store = await startNow(t);
  const commands = commandsOn(store.directory);
  trusting({ store }, [rootsFile(folder(t))]);
  await commands.json(`site init ${name}`);
  return {
    store,
    ...commands,
    async preview(from, file, more = '') {
      const { id } = await from.json(`transfer make ${file} ${more}`);
      const came = await commands.larder(`transfer receive ${file}`);
      if (came.code !== 0) throw new Error(came.err);
      return commands.json(`transfer preview ${id}`);
    },
  };
}

const trusting = ({ store }: Pick<Served, 'store'>, files: string[]): void => {
  changeConfig(join(store.directory, 'larder.toml'), { 'assertions.trusted': files });
};

async function believing(depot: NewStore, receiver: NewStore, file: string, more = ''): Promise<void> {
  await depot.larder(`site show --export ${file}`);
  const { site } = await depot.json('site show');
  await receiver.json(`site trust ${file} --fingerprint ${site.fingerprints[0]} ${more}`);
}

interface Line {
  package: string;
  kind: string;
  what: string;
}

const lines = ({ lines: all }: { lines: Line[] }): string[] =>
  all.map((line) => `${line.package} ${line.kind} ${line.what}`);

const ofStore = (url: string, more = {}) =>
  made('store', 'authority', 'store', { store: 'field', 'operator-id': 'ada', url, timestamp, ...more });

/** In a format that this release does not know. */
const model = () =>
  madeElsewhere('ada', 'ada', 'model', {
    format: '99',
    series: '16',
    'brand-id': 'ada',
    model: 'pump',
    architecture: 'amd64',
    gadget: 'pc',
    kernel: 'pc-kernel',
    timestamp,
  });

const validationSet = (sequence: number) =>
  made('ada', 'ada', 'validation-set', {
    series: '16',
    'account-id': 'ada',
    name: 'tested',
    sequence: String(sequence),
    timestamp,
    snaps: [{ name: 'hello', id: 'c'.repeat(32) }],
  });

t.test('assertions that no package needs cross too, and count as far as a root vouches for them', async (t) => {
  const [depot, receiver, stick] = [await served(t, 'depot'), await served(t, 'site-a'), folder(t)];
  await believing(depot, receiver, join(stick, 'depot.json'));
  const carry = async (name: string, ...assertions: Parameters<typeof stream>[0][number][]): Promise<void> => {
    writeFileSync(join(stick, name), stream(assertions));
    const { code, err } = await depot.larder(`assertion import ${join(stick, name)}`);
    t.equal(code, 0, err);
  };
  const imported = [await model(), await validationSet(1), await ofStore('https://one.site/'), await confdbSchema()];
  await carry('first.assert', storeKey, adasAccount, adasKey, ...imported);
  trusting(receiver, []);
  const doubted = await receiver.preview(depot, join(stick, 'one.tar'));
  t.strictSame(doubted.lines, [], 'who trusts no such root takes nothing on the word of the source');
  t.equal(doubted.disbelieved.length, 7);
  trusting(receiver, [rootsFile(folder(t))]);
  const seen = await receiver.json(`transfer preview ${doubted.id}`);
  t.strictSame(seen.problems, []);
  t.same(
    new Set(lines(seen)),
    new Set([
      'assertion/account assertion account/ada',
      `assertion/account-key assertion account-key/${storeKey.headers['public-key-sha3-384'] as string}`,
      `assertion/account-key assertion account-key/${adasKey.headers['public-key-sha3-384'] as string}`,
      'assertion/confdb-schema assertion confdb-schema/ada/network',
      'assertion/model assertion model/16/ada/pump',
      'assertion/store assertion store/field',
      'assertion/validation-set assertion validation-set/16/ada/tested/1',
    ]),
  );
  t.ok(seen.lines.every(({ word }: { word: string }) => word === 'upstream'));

  const some = await receiver.json(`transfer preview ${seen.id} --without assertion/model --without assertion/store`);
  t.match(some['left-out'], [{ what: 'model/16/ada/pump' }, { what: 'store/field' }]);
  const shown = await receiver.larder(`transfer preview ${seen.id} --without assertion/model`);
  t.equal(shown.out.split('model/16/ada/pump').length, 2, 'what is left out is listed once');
  const revisionOf = async (name: string): Promise<number | undefined> =>
    (await receiver.store.beside.records.assertions.find(name))?.revision;
  await receiver.json(`transfer accept ${seen.id} --without assertion/store --yes`);
  t.equal(await revisionOf('model/16/ada/pump'), 0);
  t.equal(await revisionOf('validation-set/16/ada/tested/1'), 0);
  t.equal(await revisionOf('confdb-schema/ada/network'), 0);
  t.equal(await revisionOf('store/field'), undefined, 'what is left out stays out');

  await carry(
    'second.assert',
    await validationSet(2),
    await ofStore('https://two.site/', { revision: '1' }),
    await confdbSchema({ revision: '3' }),
  );
  const next = await receiver.preview(depot, join(stick, 'two.tar'));
  t.match(next.lines, [
    { what: 'confdb-schema/ada/network', from: 'revision 0', to: 'revision 3' },
    { what: 'store/field', from: null, to: 'revision 1' },
    { what: 'validation-set/16/ada/tested/2', from: null },
  ]);
  t.equal(next.lines.length, 3);
  await receiver.json(`transfer accept ${next.id} --yes`);
  t.equal(await revisionOf('store/field'), 1);

  await carry('third.assert', await ofStore('https://three.site/', { revision: '2' }));
  const last = await receiver.preview(depot, join(stick, 'three.tar'));
  t.same(lines(last), ['assertion/store assertion store/field'], 'what is here is not told again');
  await believing(depot, receiver, join(stick, 'narrow.json'), '--packages snap/*');
  const narrow = await receiver.json(`transfer preview ${last.id}`);
  t.strictSame(narrow.lines, []);
  t.match(narrow['left-out'], [{ what: 'store/field', why: "'depot' may bring snap/*." }]);
});

t.test('the metadata of a package is transferred, with its libraries; fields that were edited here stay', async (t) => {
  const [depot, receiver, stick] = [await served(t, 'depot'), await served(t, 'site-a'), folder(t)];
  await believing(depot, receiver, join(stick, 'depot.json'));
  const ada = await depot.store.as('ada');
  await ada.post('/v1/charm', { name: 'hello' });
  await ada.push('charm', 'hello', charm('hello'));
  await ada.post('/v1/charm/hello/releases', [{ revision: 1, channel: 'latest/stable' }]);
  const says = async (words: object): Promise<void> => {
    const { status, body } = await ada.patch('/v1/charm/hello', words);
    t.equal(status, 200, JSON.stringify(body));
  };
  const library = (await ada.post('/v1/charm/libraries/hello', { 'library-name': 'greeting' })).body['library-id'];
  const publish = (patch: number): Promise<unknown> =>
    ada.post(`/v1/charm/libraries/hello/${library}`, {
      api: 0,
      patch,
      content: `LIBPATCH = ${patch}`,
      hash: `${patch}`.repeat(64),
    });
  await publish(1);
  await says({ title: 'Hello', links: { website: ['https://hello.site/'] } });
  const seen = await receiver.preview(depot, join(stick, 'one.tar'));
  t.strictSame(seen.problems, []);
  const text = createHash('sha3-384').update('LIBPATCH = 1').digest('hex');
  t.ok(await depot.store.beside.records.neededContents.has(text), 'its text stays, for a part that is made again');
  t.match(await depot.store.beside.records.neededContents.neededBy(text, 10), [/^transfer [0-9a-f]{12}$/]);
  t.same(lines(seen).slice(0, 3), [
    'charm/hello package charm/hello',
    'charm/hello revision revision 1',
    'charm/hello library library greeting 0.1',
  ]);
  await receiver.json(`transfer accept ${seen.id} --yes`);
  const hello = async () => (await receiver.store.beside.records.packages.find('charm', 'hello'))!;
  t.match(await hello(), { title: 'Hello', links: { website: ['https://hello.site/'] } });
  const { anyone } = receiver.store;
  const fetched = await anyone.get(`/v1/charm/libraries/hello/${library}`);
  t.match(fetched, { status: 200, body: { patch: 1, content: 'LIBPATCH = 1', hash: '1'.repeat(64) } });

  await publish(2);
  const words = 'Long words. '.repeat(100);
  await says({ title: '', summary: 'Short words', description: words, links: { website: [] } });
  const { id, lines: changes } = await receiver.preview(depot, join(stick, 'three.tar'));
  t.match(changes, [
    { kind: 'metadata', what: 'title', from: 'Hello', to: null, word: 'source' },
    { kind: 'metadata', what: 'summary', to: 'Short words' },
    { kind: 'metadata', what: 'description', to: /^Long words.*… \(1\d{3} characters, SHA-256 [0-9a-f]{64}\)$/ },
    { kind: 'metadata', what: 'links', from: 'website: https://hello.site/', to: null },
    { kind: 'library', what: 'library greeting 0.2', word: 'source' },
  ]);
  t.equal(changes.length, 5);
  await receiver.json(`transfer accept ${id} --yes`);
  t.match(await hello(), { title: null, summary: 'Short words', links: {} });
  t.match(await anyone.get(`/v1/charm/libraries/hello/${library}`), { body: { patch: 2 } });

  await (await receiver.store.as('ada')).patch('/v1/charm/hello', { summary: 'Said here' });
  await says({ summary: 'Said there', title: 'Hello again' });
  const edited = await receiver.preview(depot, join(stick, 'four.tar'));
  t.match(edited.lines, [{ what: 'title', from: null, to: 'Hello again' }]);
  t.match(edited['left-out'], [{ what: 'charm/hello summary', why: 'It was edited here and is not changed.' }]);
  await receiver.json(`transfer accept ${edited.id} --yes`);
  t.match(await hello(), { title: 'Hello again', summary: 'Said here' });
});

const svg = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9v9z"/></svg>';
/** The icons that this store accepts, each with the name that its file has in a transfer. */
const icons: Record<string, { mediaType: string; ending: string; bytes: Buffer }> = {
  'of-jpeg': { mediaType: 'image/jpeg', ending: 'jpg', bytes: Buffer.from('ffd8ffe000104a46494600', 'hex') },
  'of-png': { mediaType: 'image/png', ending: 'png', bytes: Buffer.from('89504e470d0a1a0a00', 'hex') },
  'of-svg': { mediaType: 'image/svg+xml', ending: 'svg', bytes: Buffer.from(svg) },
};

/** Sets an icon as `snapcraft upload-metadata` does. */
async function setIcon({ store }: Served, name: string, bytes: Buffer): Promise<void> {
  const { token } = await store.as('ada');
  const { id } = (await store.beside.records.packages.find('snap', name))!;
  const form = new FormData();
  const hash = createHash('sha256').update(bytes).digest('hex');
  form.set('info', JSON.stringify([{ type: 'icon', hash, key: 'icon', filename: 'icon' }]));
  form.set('icon', new Blob([new Uint8Array(bytes)]), 'icon');
  const headers = { authorization: `Macaroon ${token}` };
  const reply = await fetch(`${store.url}/dev/api/snaps/${id}/binary-metadata`, { method: 'PUT', headers, body: form });
  if (reply.status !== 200) throw new Error(await reply.text());
}

/** The icon that a site shows for a snap; undefined if it shows none. */
async function shownIcon({ store }: Served, name: string) {
  const { id, icon } = (await store.beside.records.packages.find('snap', name))!;
  if (icon === null) return undefined;
  const reply = await fetch(`${store.url}/icons/${id}/${icon}`);
  return { mediaType: reply.headers.get('content-type'), bytes: Buffer.from(await reply.arrayBuffer()) };
}

t.test('an icon that ada sets is shown at another site as the picture that it is', async (t) => {
  const [depot, receiver, stick] = [await served(t, 'depot'), await served(t, 'site-a'), folder(t)];
  await believing(depot, receiver, join(stick, 'depot.json'));
  const ada = await depot.store.as('ada');
  for (const [name, { bytes }] of Object.entries(icons)) {
    await ada.post('/v1/snap', { name });
    // The file of the snap has no icon, so that a site cannot find it there.
    await ada.push('snap', name, squashfsImage({ 'meta/snap.yaml': `name: ${name}\nversion: '1'\n` }));
    await ada.post(`/v1/snap/${name}/releases`, [{ revision: 1, channel: 'latest/stable' }]);
    await setIcon(depot, name, bytes);
  }
  const file = join(stick, 'one.tar');
  const seen = await receiver.preview(depot, file);
  t.strictSame([seen.problems, seen['left-out']], [[], []]);
  const unpacked = join(stick, 'unpacked');
  await receiver.json(`transfer unpack ${file} ${unpacked}`);
  await receiver.json(`transfer accept ${seen.id} --yes`);
  for (const [name, { mediaType, ending, bytes }] of Object.entries(icons)) {
    t.same(readFileSync(join(unpacked, 'icons', `snap_${name}.${ending}`)), bytes);
    t.same(await shownIcon(receiver, name), { mediaType, bytes }, name);
  }

  await setIcon(depot, 'of-png', icons['of-jpeg']!.bytes);
  const changed = await receiver.preview(depot, join(stick, 'two.tar'));
  t.match(changed.lines, [{ package: 'snap/of-png', kind: 'metadata', what: 'icon', from: /\.png$/, to: /\.jpg$/ }]);
  await receiver.json(`transfer accept ${changed.id} --yes`);
  t.match(await shownIcon(receiver, 'of-png'), { mediaType: 'image/jpeg' });
});

largeTest('a transfer that names no icon leaves the one of the snap, as transfers of older releases do', async (t) => {
  const [depot, receiver, stick] = [await served(t, 'depot'), await served(t, 'site-a'), folder(t)];
  await believing(depot, receiver, join(stick, 'depot.json'));
  const ada = await depot.store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  const { bytes } = icons['of-jpeg']!;
  const files = { 'meta/snap.yaml': "name: hello\nversion: '1'\n", 'meta/gui/icon.jpg': bytes };
  await ada.push('snap', 'hello', squashfsImage(files));
  await ada.post('/v1/snap/hello/releases', [{ revision: 1, channel: 'latest/stable' }]);
  const { icon } = (await depot.store.beside.records.packages.find('snap', 'hello'))!;
  // A file that is lost is not named, and the site finds the icon in the snap.
  rmSync(join(depot.store.directory, 'blobs', 'sha3', icon!.slice(0, 2), icon!.slice(0, 96)));
  const file = join(stick, 'one.tar');
  const seen = await receiver.preview(depot, file);
  t.strictSame(seen.problems, []);
  t.notMatch(readFileSync(file).toString('latin1'), '"ending"');
  await receiver.json(`transfer accept ${seen.id} --yes`);
  t.same(await shownIcon(receiver, 'hello'), { mediaType: 'image/jpeg', bytes });
});
