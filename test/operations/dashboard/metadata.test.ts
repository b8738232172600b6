// The metadata of a snap, as the older publishing tools take it from its file: it follows the uploads, until it is
// edited in the store.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';

import { startStore, type Client, type Reply, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addCollaborator } from '#test/fixtures/packages/packages.ts';
import { newest } from '../../acts/ways.ts';
import { pack } from '../../review/packed.ts';

const drawn = (comment: string): string => `<svg xmlns="http://www.w3.org/2000/svg"><!-- ${comment} --></svg>`;
const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
const refused = (status: number, code: string, message: RegExp) => ({
  status,
  body: { error_list: [{ code, message }] },
});

interface Part {
  name: string;
  content: string | Uint8Array;
  filename?: string;
}

/** A form as the stock client makes it: no part names its type. */
async function sendForm(
  store: TestAppliance,
  { token }: Client,
  [method, path]: [string, string],
  parts: Part[],
  closing = '--X--\r\n',
): Promise<Reply> {
  const chunks = parts.flatMap(({ name, content, filename }) => [
    `--X\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}\r\n\r\n`,
    content,
    '\r\n',
  ]);
  const response = await fetch(store.url + path, {
    method,
    headers: { authorization: `Macaroon ${token}`, 'content-type': 'multipart/form-data; boundary=X' },
    body: Buffer.concat([...chunks, closing].map((chunk) => Buffer.from(chunk as string))),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

async function withSnap(t: Test) {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  const at = `/dev/api/snaps/${id}/metadata`;
  const icons = `/dev/api/snaps/${id}/binary-metadata`;
  const sendIcon = (method: string, content: string | null, info?: unknown, client = ada): Promise<Reply> => {
    const entries =
      content === null ? [] : [{ type: 'icon', hash: sha256(content), key: 'icon', filename: '/home/ada/icon.svg' }];
    const list = JSON.stringify(info ?? entries);
    // A removal comes as a part with a file name of no letters.
    const parts =
      content === null ? [{ name: 'info', content: list, filename: '' }] : [{ name: 'info', content: list }];
    return sendForm(
      store,
      client,
      [method, icons],
      [...parts, ...(content === null ? [] : [{ name: 'icon', content, filename: 'icon.svg' }])],
    );
  };
  const readMetadata = async () => (await ada.get('/v1/snap/hello')).body.metadata;
  return { store, ada, id, at, icons, sendIcon, said: readMetadata };
}

t.test('the metadata of a snap follows its file until it is edited here', async (t) => {
  const { store, ada, at, said: readMetadata } = await withSnap(t);
  const words = { summary: 'Says hello', description: 'At\nlength', title: 'Hello', license: 'MIT' };
  const first = await ada.post(at, words);
  t.same(
    [first.status, first.body],
    [
      200,
      {
        title: 'Hello',
        summary: 'Says hello',
        description: 'At\nlength',
        license: 'MIT',
        default_track: null,
        contact: null,
        website: null,
      },
    ],
  );
  t.same(await newest(store), {
    action: 'update_package_metadata',
    object: 'snap/hello',
    outcome: 'done',
    details: { members: ['title', 'summary', 'description', 'license'] },
  });
  t.match(
    await ada.post(at, { summary: 'Says more', keywords: ['x'] }),
    { status: 200 },
    'nobody edited it: it follows',
  );
  t.match(await readMetadata(), { title: 'Hello', summary: 'Says more' });

  await ada.patch('/v1/snap/hello', { summary: 'A viewer of pictures', title: 'Viewer', website: 'https://x.example' });
  const conflict = (name: string, current: string, value: string) => ({
    code: 'conflict',
    message: `The ${name} was changed in the store.`,
    extra: { name, field: name, current, value },
  });
  const metadata = { title: 'Hello', summary: 'Says most', description: 'Short', website: 'https://y.example' };
  const second = await ada.post(at, metadata);
  t.same(
    [second.status, second.body],
    [
      409,
      {
        error_list: [
          conflict('title', 'Viewer', 'Hello'),
          conflict('summary', 'A viewer of pictures', 'Says most'),
          conflict('website', 'https://x.example', 'https://y.example'),
        ],
      },
    ],
  );
  t.match(
    await readMetadata(),
    { title: 'Viewer', summary: 'A viewer of pictures', description: 'At\nlength' },
    'all or nothing',
  );
  const same = { title: 'Viewer', summary: 'A viewer of pictures', description: 'Short', website: 'https://x.example' };
  t.match(await ada.post(at, same), { status: 200 }, 'what says the same is no conflict');
  t.match(await ada.post(at, { title: 'Hello' }), { status: 409 }, 'and stays an edit');

  t.match(await ada.put(at, metadata), { status: 200 }, 'force');
  t.match(await readMetadata(), {
    title: 'Hello',
    summary: 'Says most',
    description: 'Short',
    website: 'https://y.example',
  });
  t.match(await ada.post(at, { title: 'Hi', summary: 'Again' }), { status: 200 }, 'after which they follow again');
  await ada.patch('/v1/snap/hello', { title: 'Mine' });
  await ada.patch('/v1/snap/hello', { title: '' });
  t.match(
    await ada.post(at, { title: 'Hey', website: 'https://y.example' }),
    { status: 200 },
    'what is cleared follows',
  );
  t.match(await readMetadata(), { title: 'Hey', summary: 'Again' });
});

t.test('the default track is set with force, and must exist', async (t) => {
  const { store, ada, at, said: readMetadata } = await withSnap(t);
  t.match(await ada.put(at, { default_track: '2' }), refused(400, 'api-error', /'2' is not a track of 'hello'/));
  const through = async (ask: () => Promise<Reply>) => {
    t.match(await ask(), { status: 200 });
    const entry = await newest(store);
    const storedPackage = await store.beside.records.packages.find('snap', 'hello');
    return { entry, kept: storedPackage };
  };
  const older = await through(() => ada.put(at, { default_track: 'latest' }));
  t.match(await readMetadata(), { 'default-track': 'latest' });
  await ada.patch('/v1/snap/hello', { 'default-track': null });
  t.same(
    await through(() => ada.patch('/v1/snap/hello', { 'default-track': 'latest' })),
    older,
    'two doors, one result',
  );
  t.match(await ada.post(at, { default_track: '' }), {
    status: 409,
    body: { error_list: [{ extra: { name: 'default_track' } }] },
  });
  t.match(await ada.put(at, { default_track: '' }), { status: 200, body: { default_track: null } });
});

t.test('an icon that is not the newest revision’s is an edit of it', async (t) => {
  const { ada, icons, sendIcon, said: readMetadata, store } = await withSnap(t);
  t.same((await ada.get(icons)).body, []);
  const [firstIcon, two, three] = [drawn('one'), drawn('two'), drawn('three')];
  const first = await sendIcon('POST', firstIcon);
  t.match(first, { status: 200, body: [{ type: 'icon', hash: sha256(firstIcon) }] });
  t.same((await ada.get(icons)).body, first.body);
  const [{ url }] = (await readMetadata()).media;
  t.equal((await store.anyone.get(new URL(url as string).pathname)).body, firstIcon);
  t.match((await newest(store))?.details, { members: ['icon'] });

  t.match(await sendIcon('POST', firstIcon), { status: 200 }, 'the same again');
  const second = await sendIcon('POST', two);
  t.match(second, {
    status: 409,
    body: { error_list: [{ code: 'conflict', extra: { name: 'icon', current: first.body[0].filename } }] },
  });
  t.equal(second.body.error_list.length, 1);
  t.match(await sendIcon('POST', null), { status: 409 }, 'nor is it taken away');
  t.match(await sendIcon('PUT', two), { status: 200, body: [{ hash: sha256(two) }] });
  t.same((await store.beside.records.packages.find('snap', 'hello'))?.edited, [], 'by force, so that it follows again');
  const keeps = [{ type: 'icon', hash: sha256(two), filename: 'icon.svg' }];
  t.match(await sendIcon('POST', null, keeps), { status: 200, body: [{ hash: sha256(two) }] });
  t.match(await sendIcon('PUT', null), { status: 200, body: [] });
  t.same((await readMetadata()).media, []);
  const [three1, three2] = await Promise.all([sendIcon('PUT', three), sendIcon('PUT', three)]);
  t.match([three1, three2], [{ status: 200 }, { status: 200 }]);
});

t.test('an upload updates the metadata, except for edited fields', async (t) => {
  const { store, ada, at, icons, sendIcon, said: readMetadata } = await withSnap(t);
  const upload = async (t: Test, version: number, icon: string): Promise<void> => {
    const snap = pack(t, {
      'meta/snap.yaml': `name: hello\nversion: '${version}'\ntitle: T${version}\nsummary: S${version}\ndescription: D${version}\n`,
      'meta/gui/icon.svg': icon,
    });
    t.match(await ada.push('snap', 'hello', readFileSync(snap)), { body: { revisions: [{ status: 'approved' }] } });
  };
  const [firstIcon, two, three] = [drawn('one'), drawn('two'), drawn('three')];
  await t.test('first', (t) => upload(t, 1, firstIcon));
  t.match(await readMetadata(), { title: 'T1', summary: 'S1', description: 'D1' });
  t.match((await ada.get(icons)).body, [{ hash: sha256(firstIcon) }]);
  await ada.patch('/v1/snap/hello', { summary: 'Ours' });
  t.match(await ada.post(at, { title: 'T2' }), { status: 200 });
  t.match(await sendIcon('POST', two), { status: 200 }, 'the icon of the file that comes next');
  await t.test('second', (t) => upload(t, 2, two));
  t.match(await readMetadata(), { title: 'T2', summary: 'Ours', description: 'D2' });
  t.same((await store.beside.records.packages.find('snap', 'hello'))?.edited, ['summary'], 'the icon is its own now');
  t.match(await sendIcon('POST', three), { status: 200 });
  await t.test('third', (t) => upload(t, 3, firstIcon));
  t.match((await ada.get(icons)).body, [{ hash: sha256(three) }], 'an icon that was edited stays');
  t.match(await sendIcon('POST', firstIcon), { status: 409 });
  t.match(await sendIcon('PUT', firstIcon), { status: 200 });
});

t.test('an invalid description, icon or form is refused', async (t) => {
  const { store, ada, id, at, icons, sendIcon, said: readMetadata } = await withSnap(t);
  const before = await readMetadata();
  for (const wrong of [
    { title: 7 },
    { summary: ['x'] },
    { title: 'x'.repeat(257) },
    { summary: 'x'.repeat(513) },
    { description: 'x'.repeat(65_537) },
    { website: 'javascript:alert(1)' },
    { contact: `mailto:${'x'.repeat(2000)}` },
    { default_track: 'x'.repeat(29) },
    [],
  ]) {
    for (const ask of [ada.post, ada.put]) {
      t.match(
        await ask(at, wrong),
        { status: 400, body: { error_list: [{ code: 'api-error' }] } },
        JSON.stringify(wrong),
      );
    }
  }
  const icon = drawn('one');
  const entry = { type: 'icon', hash: sha256(icon), key: 'icon', filename: 'icon.svg' };
  const bad = (message: RegExp) => refused(400, 'api-error', message);
  const form = (parts: Part[], closing?: string): Promise<Reply> =>
    sendForm(store, ada, ['PUT', icons], parts, closing);
  const info = { name: 'info', content: JSON.stringify([entry]) };
  t.match(
    await form([info, { name: 'icon', content: 'x'.repeat(400_000), filename: 'icon.svg' }]),
    refused(413, 'request-too-large', /^The icon is too large. An icon may have at most 300000 bytes\.$/),
  );
  t.match(
    await form([info, { name: 'icon', content: '', filename: 'icon.svg' }]),
    bad(/SHA-256 of the received icon/),
    'read to its end',
  );
  t.match(await form([info]), bad(/no part named 'icon'/));
  t.match(await form([{ name: 'icon', content: icon }]), bad(/no part named 'info'/));
  t.match(await form([{ name: 'info', content: '{' }]), bad(/'info' of the form is not JSON/));
  t.match(await form([info, info]), bad(/two parts named 'info'/));
  t.match(await form([info, { name: 'icon', content: icon }], ''), bad(/cut off/));
  t.match(
    await form(Array.from({ length: 17 }, (_, at) => ({ name: `p${at}`, content: 'x' }))),
    bad(/more than 16 parts/),
  );
  t.match(await sendIcon('PUT', icon, [entry, entry]), bad(/at most one icon/));
  t.match(await sendIcon('PUT', icon, [{ ...entry, type: 'screenshot' }]), bad(/no screenshots/));
  t.match(await sendIcon('PUT', icon, [{ ...entry, key: undefined }]), bad(/no icon with the hash/));
  t.match(await sendIcon('PUT', icon, { icon: 1 }), bad(/is not of type array/));
  t.match(
    await sendIcon('PUT', 'GIF89a'),
    bad(/cannot be the icon: it is neither a PNG nor a JPEG nor an SVG\. An icon is a PNG, a JPEG or an SVG/),
  );
  const large = `${drawn('x')}${' '.repeat(300_000)}`;
  t.match(await sendIcon('PUT', large), bad(/at most 300000 bytes/));
  t.match(await sendIcon('PUT', large + large), { status: 413 });
  t.match(await ada.post(icons, {}), { status: 415 });
  t.same(await readMetadata(), before);

  const nobody = refused(404, 'resource-not-found', /There is no snap with the id/);
  const bob = await store.as('bob');
  t.match(await bob.post(at, { title: 'x' }), nobody);
  t.match(await bob.get(icons), nobody);
  t.match(await sendIcon('PUT', icon, undefined, bob), nobody);
  t.match(await ada.put('/dev/api/snaps/nothing/metadata', {}), nobody);
  const views = await store.as('ada', { permissions: ['package-view-metadata'] });
  t.match(await views.post(at, { title: 'x' }), refused(403, 'permission-required', /package-manage-metadata/));
  t.match(await views.get(icons), { status: 200 });
  await addCollaborator(store, id, 'bob');
  t.match(await bob.post(at, { title: 'By Bob' }), { status: 200 });
  t.match(await sendIcon('POST', icon, undefined, bob), { status: 200 });
});
