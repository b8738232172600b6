// The pages of trusted sources and of subscriptions: the store shows fingerprints first, and compares them with the typed ones.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { folder, newStore } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { password } from '#test/identity/world.ts';
import { startConsole, textOf, type Page } from '#test/console/world.ts';

t.setTimeout(600_000);

type Test = Parameters<typeof startConsole>[0];

/** The content of the file of a site, as `larder site show --export` writes it there, and its fingerprint. */
async function siteFile(t: Test, name: string): Promise<{ file: string; fingerprint: string }> {
  const directory = folder(t);
  const site = `--data ${join(directory, 'collector')}`;
  const made = await larder(`site init ${name} --collector ${site} --json`);
  await larder(`site show --export ${join(directory, 'site.json')} ${site}`);
  const { fingerprints } = JSON.parse(made.out) as { fingerprints: string[] };
  return { file: readFileSync(join(directory, 'site.json'), 'utf8'), fingerprint: fingerprints[0] ?? '' };
}

/** A site that `store` trusts. Returns its file, and a function that rotates its key. */
async function rotatingSite(t: Test, name: string, store: { directory: string }) {
  const site = await newStore(t);
  const at = folder(t);
  const { fingerprints } = (await site.json(`site init ${name}`)) as { fingerprints: string[] };
  await site.json(`site show --export ${at}/site.json`);
  await larder(`site trust ${at}/site.json --fingerprint ${fingerprints[0]!} --data ${store.directory}`);
  const rotate = async (): Promise<string> => {
    await site.json(`site rotate ${at}/rotated.json --yes`);
    return readFileSync(join(at, 'rotated.json'), 'utf8');
  };
  return { file: readFileSync(join(at, 'site.json'), 'utf8'), rotate };
}

const fieldOf = ({ html }: Page, name: string): string =>
  textOf(new RegExp(`<textarea\\s+id="${name}"[^>]*>(.*?)</textarea>`, 's').exec(html)?.[1] ?? '');

t.test('an administrator trusts a site by the fingerprints of its file, changes the trust and ends it', async (t) => {
  const store = await startConsole(t);
  const { file, fingerprint } = await siteFile(t, 'depot-north');
  const station = await siteFile(t, 'station');
  const root = await store.visit('root');
  const source = () => store.beside.records.transferSources.find('depot-north');
  t.match((await root.open('/console/sites')).text, 'No source is trusted yet.');

  const at = '/console/trust-site';
  const preview = (members: Record<string, string>) => root.open(`${at}?${new URLSearchParams(members).toString()}`);
  t.match(await preview({ file: '{"format":1}' }), { status: 400, text: /not the content of a file .* at \/file/ });
  t.match(await preview({ file, scanners: 'x' }), { status: 400, text: /at \/scanners/ });
  const page = await preview({ file, scanners: station.file });
  t.match(page.text, 'Trust depot-north?');
  t.match(page.text, fingerprint);
  t.match(page.text, station.fingerprint);
  t.equal(await source(), undefined, 'nothing has changed yet');

  const fingerprints = `${station.fingerprint}\n${fingerprint.toUpperCase()}`;
  const send = (fields: Record<string, string>) =>
    root.send(page, at, { packages: 'snap/*', fingerprint: fingerprints, password, ...fields });
  const other = await send({ fingerprint });
  t.match(other, { status: 409, text: /which differ from the ones that you typed/ });
  t.match(fieldOf(other, 'packages') || other.html, /snap\/\*/, 'the input is there again');
  t.match(await send({ password: 'another one' }), { status: 403 });
  t.match(await send({ threshold: '2' }), {
    status: 400,
    text: /2 signatures are required, but 'depot-north' has 1 key\./,
  });
  t.match(await send({ scans: '2' }), { status: 400, text: /2 signatures of scanning stations are required/ });
  t.match(await send({ packages: 'Snap' }), { status: 400, text: /'Snap' is not a glob/ });
  t.equal(await source(), undefined, 'no refused form has trusted the site');
  t.match((await send({})).text, 'The site is trusted.');
  t.match(await source(), {
    threshold: 1,
    scans: 1,
    packages: ['snap/*'],
    mayRelease: true,
    accept: 'people',
    addedBy: store.ids.root,
  });

  const own = '/console/sites/depot-north';
  const shown = await root.open(own);
  t.match(shown.text, fingerprint);
  const changed = await root.send(shown, own, {
    accept: 'automatic',
    packages: 'snap/* charm/a*',
    scans: '0',
    password,
  });
  t.match(changed.text, 'The settings of the trust are changed.');
  t.match(await source(), { accept: 'automatic', packages: ['snap/*', 'charm/a*'], scans: 0, scanners: [/./] });
  t.match((await root.open('/console/sites')).text, 'depot-north 1 of 1 snap/*, charm/a* automatically');

  const { entries } = (await (await store.as('root')).get('/internal/v1/audit?object=source/depot-north')).body as {
    entries: { act: string; actor: string }[];
  };
  t.strictSame(
    entries.map(({ act, actor }) => [act, actor]),
    Array(2).fill(['trust_source', store.ids.root]),
  );

  const ask = await root.open(`${own}/distrust`);
  t.match(ask.text, 'larder site distrust depot-north --yes');
  t.match((await root.send(ask, `${own}/distrust`)).text, 'The site is no longer trusted.');
  t.equal(await source(), undefined);
  t.equal((await root.open(own)).status, 404);
});

t.test('an administrator uploads the rotation of a source, and only the keys in it are trusted', async (t) => {
  const store = await startConsole(t);
  const depot = await rotatingSite(t, 'depot-north', store);
  const other = await rotatingSite(t, 'depot-south', store);
  const own = '/console/sites/depot-north';
  const root = await store.visit('root');
  const token = new RegExp(`action="${own}/rotation".*?value="([^"]+)"`, 's').exec((await root.open(own)).html)?.[1];
  const upload = async (content: string, cookie = root.cookie) => {
    const body = new FormData();
    body.append('form-token', token ?? '');
    body.append('file', new Blob([content]), 'rotated.json');
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    const reply = await fetch(`${store.url}${own}/rotation`, { method: 'POST', redirect: 'manual', headers, body });
    return { status: reply.status, text: textOf(await reply.text()), location: reply.headers.get('location') };
  };
  const keys = async () => (await store.beside.records.transferSources.find('depot-north'))?.keys;
  const before = await keys();
  const rotation = await depot.rotate();
  const forged = rotation.replace(/"sig": ?"..../, '"sig":"AAAA');
  t.match(await upload(depot.file), { status: 400, text: /This is not a file of 'larder site rotate'/ });
  t.match(await upload(await other.rotate()), { status: 400, text: /is a rotation of 'depot-south'/ });
  t.match(await upload(forged), { status: 409, text: /signed by 0 of the trusted keys/ });
  t.match(await upload('x'.repeat(70_000)), { status: 413 });
  t.match(await upload(rotation, (await store.visit('ada')).cookie), { status: 403 });
  t.strictSame(await keys(), before, 'no refused file changed the keys');
  const { location } = await upload(rotation);
  t.match((await root.open(location ?? '')).text, 'The new keys are trusted.');
  t.notSame(await keys(), before);
  const rotated = await keys();
  t.match(await upload(rotation), { status: 303 }, 'the same file again');
  t.strictSame(await keys(), rotated, 'changes nothing');
  const rows = await store.beside.records.audit.list(0, 10_000);
  t.ok(rows.some(({ action, actor }) => action === 'rotate_source' && actor === store.ids.root));
});

t.test('auditors see the sites and the subscriptions without forms, and publishers see neither', async (t) => {
  const store = await startConsole(t);
  await store.join('dave');
  await (await store.as('root')).post(`/internal/v1/accounts/${store.ids['dave'] ?? ''}/roles`, { role: 'auditor' });
  const [dave, ada] = [await store.visit('dave'), await store.visit('ada')];
  for (const address of ['/console/sites', '/console/subscriptions']) {
    const page = await dave.open(address);
    t.equal(page.status, 200, address);
    t.notMatch(page.html, /trust-site|action="\/console\/subscriptions/, address);
    t.equal((await ada.open(address)).status, 403, address);
  }
  t.equal((await dave.open('/console/trust-site')).status, 403);
});

t.test('an administrator subscribes to packages and to a set, and removes a subscription', async (t) => {
  const store = await startConsole(t);
  const root = await store.visit('root');
  const at = '/console/subscriptions';
  const send = async (fields: Record<string, string>) => root.send(await root.open(at), at, fields);
  t.match(await send({ packages: '' }), { status: 400, text: /Name packages, or choose a set/ });
  t.match(await send({ packages: 'hello' }), { status: 400, text: /'hello' is not a package such as snap\/hello/ });
  t.match(await send({ packages: 'snap/hello', channels: '//' }), { status: 400, text: /is not a channel/ });
  const added = await send({ packages: 'snap/hello\ncharm/postgresql-k8s', channels: '14/stable', arm64: 'yes' });
  t.match(added.text, 'The packages are subscribed to.');
  t.match(added.text, /larder subscription add .* larder subscription remove snap\/hello removes one/);
  t.match(added.text, 'snap/hello 14/stable amd64, arm64 a subscription');
  t.match((await send({ set: 'juju' })).text, 'snap/juju 3.6/stable amd64 set juju');
  const removed = await root.send(await root.open(at), `${at}/remove`, { package: 'snap/hello' });
  t.match(removed.text, 'The subscription is removed.');
  t.notMatch(removed.text, 'snap/hello 14/stable');
  t.match(await root.send(removed, `${at}/remove`, { package: 'snap/hello' }), { status: 404 });
  t.match(await store.beside.records.subscriptions.find('charm', 'postgresql-k8s'), {
    channels: ['14/stable'],
    architectures: ['amd64', 'arm64'],
    addedBy: store.ids.root,
  });
});
