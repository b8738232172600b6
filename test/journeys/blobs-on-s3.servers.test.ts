// A store with its blobs on a server of S3: uploads and downloads, corrupt, lost and restored blobs, and the loss of
// the server.
// Own process: it puts the blobs of later tests on S3.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import t, { type Test } from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { larder } from '#test/cli/world.ts';
import { snapFixture, startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { startCable } from '#test/fixtures/servers/cable.ts';
import { pass, startFront } from '#test/fixtures/servers/front.ts';
import { declare, digestOf, logIn, uploadLogin } from '#test/fixtures/packages/images.ts';
import { sharedSwift, startSwift, type SwiftServer } from '#test/fixtures/servers/swift.ts';
import { until } from '#test/fixtures/until.ts';

process.env['LARDER_BLOBS'] = 's3';

const root = t;
/** Nothing is damaged, missing or unreadable. */
const whole = [0, 0, 0];
const quiet = (text: string): string => text.replace('# scrub_rate = "20 MiB"', 'scrub_rate = 0');
const sha3 = (content: Uint8Array): string => createHash('sha3-384').update(content).digest('hex');

/** A change on the server behind the back of a store. */
function behind(server: SwiftServer, store: Pick<TestAppliance, 'beside'>) {
  const { client, bucket: Bucket } = server;
  const [, , , , ...prefix] = store.beside.config.blobs.s3!.replace(/\/$/, '').split('/');
  const keyOf = (key: string): string => `${prefix.join('/')}/${key}`;
  return {
    place: (content: Uint8Array) => `sha3/${sha3(content).slice(0, 2)}/${sha3(content)}`,
    async keys(): Promise<string[]> {
      const page = await client.send(new ListObjectsV2Command({ Bucket, Prefix: keyOf('') }));
      return (page.Contents ?? []).map(({ Key = '' }) => Key.slice(keyOf('').length));
    },
    async read(key: string): Promise<Buffer> {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: keyOf(key) }));
      return Buffer.from(await Body!.transformToByteArray());
    },
    leaveOut: (key: string) => server.leaveOut(keyOf(key)),
    write: (key: string, Body: Buffer) => client.send(new PutObjectCommand({ Bucket, Key: keyOf(key), Body })),
    remove: (key: string) => client.send(new DeleteObjectCommand({ Bucket, Key: keyOf(key) })),
  };
}

/** The keys of a configuration that name a new place on the server, by way of an address. */
function at(t: Test, { bucket, newPlace }: SwiftServer, endpoint: string): string {
  const credentials = join(t.testdir(), 'credentials');
  writeFileSync(credentials, 'access_key_id = "larder:ada"\nsecret_access_key = "secret-of-ada"\n');
  const s3 = `${endpoint}/${bucket}/${newPlace().prefix}`;
  return ['[blobs]', `s3 = "${s3}"`, `credentials_file = "${credentials}"`].join('\n');
}

const damaged = (content: Buffer): Buffer => {
  const copy = Buffer.from(content);
  copy[content.length >> 1]! ^= 1;
  return copy;
};

/** A store with the image `hello`; ada may push and pull it. */
async function storeOfAda(t: Test, configure = quiet) {
  const store = await startStore(t, configure);
  await declare(store, 'ada', 'hello');
  const client = await logIn(store, await uploadLogin(await store.as('ada'), 'hello'));
  const readFindings = async (more = '') => {
    const { out } = await larder(`verify ${more} --json --yes --data ${store.directory}`);
    const { blobs } = JSON.parse(out) as { blobs: Record<'damaged' | 'missing' | 'unreadable', string[]> };
    return blobs;
  };
  // The charm that the image is for was declared without any file.
  const { missing: fromTheBeginning } = await readFindings();
  const verify = async (more = '') => {
    const { damaged, missing, unreadable } = await readFindings(more);
    return [damaged.length, missing.filter((digest) => !fromTheBeginning.includes(digest)).length, unreadable.length];
  };
  return { store, client, verify };
}

t.test('pushed blobs are only there, are verified, are quarantined when corrupt, and return', async (t) => {
  const server = await sharedSwift(root);
  const { store, client, verify } = await storeOfAda(t);
  const { place, keys, read, write, remove } = behind(server, store);
  const content = randomBytes(600_000);
  const sent = async (): Promise<number> =>
    Number(/^larder_s3_bytes_total\{direction="sent"\} (\d+)$/m.exec((await store.anyone.get('/metrics')).body)?.[1]);
  const before = await sent();
  t.match(await client.blob(content), { status: 201 });
  t.equal((await sent()) - before, content.length, 'it is sent once');
  const at = `blobs/${digestOf(content)}`;
  t.match(await client.call('GET', at, undefined, { range: 'bytes=5-9' }), { status: 206 });
  t.ok((await keys()).includes(place(content)));
  t.same(readdirSync(join(store.directory, 'blobs/tmp')), []);
  t.same(readdirSync(join(store.directory, 'blobs')).includes('sha3'), false, 'and not here');
  t.same(await verify(), whole);

  await write(place(content), damaged(content));
  t.same(await verify(), [1, 0, 0]);
  const got = await client.call('GET', at).catch(() => 'cut off');
  t.ok(got === 'cut off' || (got as { status: number }).status === 500);
  await until(async () => !(await keys()).includes(place(content)));
  t.match(await store.beside.records.damagedBlobs.list(10), [{ sha3_384: sha3(content) }]);
  t.ok((await keys()).includes(`quarantine/${sha3(content)}`));

  await write(`quarantine/${sha3(content)}`, content);
  t.same(await verify('--restore-quarantined'), whole);
  t.same(await read(place(content)), content);
  t.match(await client.call('GET', at), { status: 200 });

  await write(place(content), damaged(content));
  t.same(await verify('--quarantine'), [1, 0, 0]);
  t.match(await client.blob(content), { status: 201 });
  t.same(await verify(), whole, 'the same content, pushed again, mends it');

  await remove(place(content));
  t.same(await verify(), [0, 1, 0]);
});

t.test('a backup contains the blobs there, and restores missing ones', async (t) => {
  const server = await sharedSwift(root);
  const { store, client, verify } = await storeOfAda(t);
  const { place, keys, remove } = behind(server, store);
  const content = randomBytes(100_000);
  t.match(await client.blob(content), { status: 201 });
  const file = join(t.testdir(), 'full.tar');
  t.match(await larder(`backup ${file} --even-so --data ${store.directory}`), { code: 0 });
  await remove(place(content));
  t.same(await verify(), [0, 1, 0]);
  await larder(`restore ${file} --missing --data ${store.directory}`);
  t.same(await verify(), whole);

  for (const key of await keys()) await remove(key);
  const problems = async () => (await store.anyone.get('/readyz')).body.problems as string[];
  await until(async () => (await problems()).length > 0);
  t.match(await problems(), [/larder-store.json, is not in .* any more, so objects were removed there; .*: until/]);
  t.match(await client.blob('what no start would find'), { status: 503 });
  t.same(await keys(), []);
  const { err } = await larder(`verify --data ${store.directory}`);
  t.match(
    err,
    /it is empty, but this store has content already; .* 'larder restore FILE --missing', or name the right/,
  );
  const back = await larder(`restore ${file} --missing --data ${store.directory}`);
  t.match(back.out, /blobs? (?:is|are) restored, each verified against its digest/);
  t.same(await verify(), whole);
  await until(async () => (await problems()).length === 0);
  t.match(await client.blob('and it goes on'), { status: 201 });
});

t.test('a bucket that lost its marker alone is looked over, and is the place of the store again', async (t) => {
  const server = await sharedSwift(root);
  let isReadOnly = false;
  const endpoint = await startFront(t, (request, response) => {
    if (!isReadOnly || request.method !== 'PUT' || !request.url!.includes('/larder-store.json'))
      return pass(request, response, new URL(server.endpoint));
    request.resume();
    response.writeHead(403, { 'content-type': 'application/xml' });
    response.end('<Error><Code>AccessDenied</Code></Error>');
  });
  const { store, client, verify } = await storeOfAda(t, (text) =>
    quiet(text).replace('[blobs]', at(t, server, endpoint)),
  );
  const { place, keys, read, write, remove } = behind(server, store);
  const files = ['one', 'two', 'three'].map((content) => Buffer.from(content));
  for (const content of files) t.match(await client.blob(content), { status: 201 });
  // The charm that the image is for has no file.
  const needed = files.length + 1;
  await write(`quarantine/${sha3(files[1]!)}`, files[1]!);
  await remove(place(files[1]!));
  await remove(place(files[2]!));
  await write(place(Buffer.from('left over')), Buffer.from('left over'));

  const entries = async () => {
    const { out } = await larder(`audit list --action accept_bucket --json --data ${store.directory}`);
    return (JSON.parse(out) as { entries: { details: object }[] }).entries.map(({ details }) => details);
  };
  const accept = (more: string, how?: Parameters<typeof larder>[1]) =>
    larder(`bucket accept ${more} --data ${store.directory}`, how);
  const expectedPlace = {
    place: `${endpoint}/${store.beside.config.blobs.s3!.slice(endpoint.length + 1)}`.replace(/\/$/, ''),
  };
  t.match(await accept('--yes'), { code: 0, out: /bears the marker of this store; nothing was changed/ });

  const marker = await read('larder-store.json');
  await remove('larder-store.json');
  const problems = async () => (await store.anyone.get('/readyz')).body.problems as string[];
  await until(async () => (await problems()).length > 0);
  t.match(await problems(), [/if the files are still there, run 'larder bucket accept'/]);
  t.match(await client.blob('more'), { status: 503 });
  t.match(await larder(`verify --data ${store.directory}`), {
    err: /it contains objects already \(.*\), but no marker of larder; .* run 'larder bucket accept'/,
  });

  t.match(await accept(''), { code: 2, err: /there is no terminal; add --yes to confirm/ });
  for (const [text, pattern] of [
    ['{"larder":1,"store":"store-of-bob"}', /it belongs to another store/],
    ['dear bob', /its larder-store.json is not a marker of larder; check that object, remove it, and run/],
  ] as const) {
    await write('larder-store.json', Buffer.from(text));
    t.match(await accept('--yes'), { code: 1, err: pattern });
    t.equal((await read('larder-store.json')).toString(), text);
  }
  await remove('larder-store.json');
  const no = await accept('', {
    terminal: true,
    typed: (async function* () {
      yield 'n\r';
    })(),
  });
  t.match(no, {
    code: 1,
    err: /has no marker; of 4 files that this store needs 2 are there, and 1 that it does not need\.\s+The bucket/,
  });
  t.same(await entries(), [], 'and nothing is done');

  isReadOnly = true;
  t.match(await accept('--yes'), { code: 1, err: /do not permit listing, reading, writing and removing/ });
  t.same(await entries(), [{ ...expectedPlace, needed, there: 2, others: 1 }], 'the log knows before the bucket does');
  t.notOk((await keys()).includes('larder-store.json'));
  isReadOnly = false;
  const done = await accept('--yes --json');
  t.same(JSON.parse(done.out), { ...expectedPlace, accepted: true, needed, there: 2, others: 1 });
  t.same(await read('larder-store.json'), marker);
  t.equal((await entries()).length, 2);
  await until(async () => (await problems()).length === 0);
  t.match(await client.blob(files[2]!), { status: 201 }, 'what serves it goes on by itself');
  t.same(await verify(), [0, 1, 0]);
});

t.test('a bucket without content of the store is refused', async (t) => {
  const { store, client } = await storeOfAda(t);
  const { keys, write, remove } = behind(await sharedSwift(root), store);
  const accept = () => larder(`bucket accept --yes --data ${store.directory}`);
  const empty = async (): Promise<void> => {
    for (const key of await keys()) await remove(key);
  };
  t.match(await client.blob('hello'), { status: 201 });
  await empty();
  t.match(await accept(), { code: 1, err: /it is empty, but this store has content already; .*--missing/ });
  await write('letters/1', Buffer.from('dear bob'));
  t.match(await accept(), {
    code: 1,
    err: /none of the 2 files that this store needs, but it contains other objects \(letters\/1\); name the right bucket/,
  });
  t.same(await keys(), ['letters/1']);

  const other = await startStore(t, quiet);
  const itsPlace = behind(await sharedSwift(root), other);
  await itsPlace.remove('larder-store.json');
  await itsPlace.write('letters/1', Buffer.from('dear bob'));
  const acceptIt = () => larder(`bucket accept --yes --data ${other.directory}`);
  t.match(await acceptIt(), { code: 1, err: /\(letters\/1\), and this store has no files yet to recognize/ });
  await itsPlace.remove('letters/1');
  t.match(await acceptIt(), { code: 0, out: /it is empty, and this store needs no file yet/ }, 'both are empty');
  t.same(await itsPlace.keys(), ['larder-store.json']);
});

t.test('in a bucket that lists late, or lists lost objects, each object is checked', async (t) => {
  const server = await sharedSwift(root);
  const { store, client, verify } = await storeOfAda(t);
  const { place, keys, leaveOut, write } = behind(server, store);
  const [late, lost, other] = [randomBytes(100_000), randomBytes(1000), randomBytes(2000)];
  for (const content of [late, lost, other]) t.match(await client.blob(content), { status: 201 });
  const lacking = async (name: string, ...more: string[]) => {
    const line = ['backup', join(folder, name), ...more, '--json', '--data', store.directory];
    const { code, out } = await larder(line.join(' '));
    const made = JSON.parse(out) as { lacking: { sha3_384: string; why: string }[]; 'blobs-in-this-file': number };
    const ours = [late, lost, other].map(sha3);
    return {
      code,
      fresh: made['blobs-in-this-file'],
      lacking: made.lacking
        .filter(({ sha3_384 }) => ours.includes(sha3_384))
        .map((entry) => [entry.sha3_384, entry.why] as const),
    };
  };
  const folder = t.testdir();
  await leaveOut(place(late));
  t.notOk((await keys()).includes(place(late)), 'it is not listed');
  const { fresh, lacking: ofNone } = await lacking('late.tar');
  t.same(ofNone, [], 'and in the backup all the same');
  t.match(await lacking('since.tar', '--since', join(folder, 'late.tar')), { fresh: 0, lacking: [] });

  server.lose(lost);
  t.ok((await keys()).includes(place(lost)), 'it is listed');
  await write(place(other), damaged(other));
  const both = new Map([
    [sha3(other), 'damaged'],
    [sha3(lost), 'missing'],
  ]);
  const ofBoth = await lacking('lacking.tar');
  t.match(ofBoth, { code: 1, fresh: fresh - 2 });
  t.same(new Map(ofBoth.lacking), both);
  await write(place(other), other.subarray(1));
  t.same(new Map((await lacking('since-late.tar', '--since', join(folder, 'late.tar'))).lacking), both);
  await write(place(late), damaged(late));
  await leaveOut(place(late));
  t.same(await verify(), [2, 1, 0], 'what is not listed is read too');
});

t.test('an object that the server cannot give is named, and without the server there is no backup', async (t) => {
  const server = await sharedSwift(root);
  const cable = await startCable(server.port);
  t.teardown(() => cable.end());
  const folder = t.testdir();
  const credentials = join(folder, 'credentials');
  writeFileSync(credentials, 'access_key_id = "larder:ada"\nsecret_access_key = "secret-of-ada"\n');
  const place = `http://127.0.0.1:${String(cable.port)}/${server.bucket}/${server.newPlace().prefix}`;
  const lines = `[blobs]\ns3 = "${place}"\ncredentials_file = "${credentials}"`;
  const { store, client } = await storeOfAda(t, (text) => quiet(text).replace('[blobs]', lines));
  const [large, small] = [randomBytes(600_000), randomBytes(1000)];
  for (const content of [large, small]) t.match(await client.blob(content), { status: 201 });
  const file = join(folder, 'cut.tar');
  cable.cutAfter = 200_000;
  const { code, out } = await larder(`backup ${file} --json --data ${store.directory}`);
  const { lacking } = JSON.parse(out) as { lacking: { sha3_384: string; why: string }[] };
  t.equal(code, 1);
  t.match(
    lacking.filter(({ why: reason }) => reason !== 'missing'),
    [{ sha3_384: sha3(large), why: 'unreadable' }],
  );
  t.ok(readFileSync(file).includes(small));
  cable.cutAfter = 0;
  const away = await larder(`backup ${file}.2 --data ${store.directory}`);
  t.match(away, { code: 1, err: /does not answer/ });
  t.notOk(existsSync(`${file}.2`));
});

t.test('a snap is reviewed, and deltas and downloads of devices work as from a folder', async (t) => {
  const { store, verify } = await storeOfAda(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  const upload = await ada.upload(await snapFixture('app-xz'));
  const pushed = await ada.post('/v1/snap/tiny-app/revisions', { 'upload-id': upload });
  let review: { status: string } | undefined;
  await until(async () => {
    [review] = (await ada.get(pushed.body['status-url'] as string)).body.revisions as [{ status: string }];
    return ['rejected', 'approved'].includes(review.status);
  });
  t.match(review, { status: 'approved' });
  t.same(await verify(), whole);
  const { body } = await store.anyone.get('/metrics');
  t.match(body, /^larder_s3_requests_total\{request="PutObject"\} [1-9]/m);
  t.match(body, /^larder_s3_bytes_total\{direction="sent"\} [1-9]/m);
});

t.test('doctor reports the state of the server, and the checks that it does not support', async (t) => {
  const { store } = await storeOfAda(t);
  // Its still clock is not that of the server.
  const { out } = await larder(`doctor --json --data ${store.directory}`);
  const { findings } = JSON.parse(out) as { findings: { what: string; says: string }[] };
  t.match(
    findings.find(({ what: subject }) => subject === 'Server of the files'),
    { level: 'notice', says: /takes, gives and removes files; .*does not report whether it removes objects itself/ },
  );
});

t.test('without the server the store reports it, and works again by itself when it is back', async (t) => {
  const server = await startSwift();
  t.teardown(() => server.end());
  const credentials = join(t.testdir(), 'credentials');
  const knowBy = (secret: string): void => {
    writeFileSync(credentials, `access_key_id = "larder:ada"\nsecret_access_key = "${secret}"\n`);
  };
  knowBy('secret-of-ada');
  const configure = (text: string): string => {
    const { endpoint, bucket } = server;
    const lines = [`s3 = "${endpoint}/${bucket}/x"`, `credentials_file = "${credentials}"`];
    return quiet(text).replace('[blobs]', ['[blobs]', ...lines].join('\n'));
  };
  const { store, client } = await storeOfAda(t, configure);
  const jobs = store.appliance.jobs().map(({ name }) => name);
  t.ok(jobs.includes('sweep-temporary'), 'what was left there half sent has to wait for no next start');
  const content = randomBytes(100_000);
  t.match(await client.blob(content), { status: 201 });
  const begun = (await client.call('POST', 'blobs/uploads/')).headers.get('location')!;
  await server.stop();
  const away = await fetch(`${store.url}/unscanned-upload/`, {
    method: 'POST',
    body: (() => {
      const form = new FormData();
      form.append('binary', new Blob([content]), 'f');
      return form;
    })(),
  });
  t.equal(away.status, 503);
  t.equal(away.headers.get('retry-after'), '5');
  t.match(await client.call('GET', `blobs/${digestOf(content)}`), { status: 503 });
  t.match(
    await client.call('PATCH', begun, 'a chunk'),
    { status: 503 },
    'and no chunk is acknowledged that nobody can go on with',
  );
  t.match(await client.blob('another one'), { status: 503 });
  const problems = async () => (await store.anyone.get('/readyz')).body.problems as string[];
  await until(async () => (await problems()).length > 0);
  t.match(await problems(), [/^The bucket of the store does not work \(no server listens there; check .*\): /]);
  await server.start();
  await until(async () => (await problems()).length === 0);
  t.match(await client.call('GET', `blobs/${digestOf(content)}`), { status: 200 });

  await server.stop();
  await server.start('new-secret-of-ada');
  const refused = /\(the secret_access_key of credentials_file does not belong to its access_key_id\)/;
  await until(async () => refused.test((await problems()).join()));
  const sent = await client.blob('another one');
  t.match(sent, { status: 503 });
  t.equal(sent.headers.get('retry-after'), '300');
  knowBy('new-secret-of-ada');
  await until(async () => (await problems()).length === 0);
  t.match(await client.blob('another one'), { status: 201 }, 'nothing had to be started again');
});

t.test('a read-only bucket is reported, and its blobs are served', async (t) => {
  const server = await sharedSwift(root);
  let isReadOnly = false;
  const endpoint = await startFront(t, (request, response) => {
    if (!isReadOnly || request.method !== 'PUT') return pass(request, response, new URL(server.endpoint));
    request.resume();
    response.writeHead(403, { 'content-type': 'application/xml' });
    response.end('<Error><Code>AccessDenied</Code></Error>');
  });
  const { store, client } = await storeOfAda(t, (text) => quiet(text).replace('[blobs]', at(t, server, endpoint)));
  t.match(await client.blob('hello'), { status: 201 });
  const ready = async () => {
    const { status, body } = await store.anyone.get('/readyz');
    return { status, problems: body.problems as string[] };
  };
  isReadOnly = true;
  const refused = await client.blob('more');
  t.match(refused, {
    status: 503,
    text: /refuses this request. Nothing was changed. Ask the administrator of the store to check/,
  });
  t.equal(refused.headers.get('retry-after'), '300');
  await until(async () => (await ready()).problems.length > 0);
  t.match(await ready(), {
    status: 200,
    problems: [/^The bucket of the store refuses changes: the credentials in credentials_file/],
  });
  t.match(await client.call('GET', `blobs/${digestOf('hello')}`), { status: 200, text: 'hello' });
  isReadOnly = false;
  await until(async () => (await ready()).problems.length === 0);
  t.match(await client.blob('more'), { status: 201 });
});

t.test('an impossible configuration is refused in one sentence, and nothing is changed', async (t) => {
  const { store } = await storeOfAda(t);
  const { keys } = behind(await sharedSwift(root), store);
  const before = await keys();
  const configuration = join(store.directory, 'larder.toml');
  const folder = t.testdir();
  const wrongSecret = join(folder, 'wrong');
  writeFileSync(wrongSecret, 'access_key_id = "larder:ada"\nsecret_access_key = "not that"\n');
  const notToml = join(folder, 'not-toml');
  writeFileSync(notToml, 'my secret\n');
  const { s3, credentials_file: right } = store.beside.config.blobs;
  for (const [change, pattern] of [
    [
      { 'blobs.credentials_file': wrongSecret },
      /secret_access_key of credentials_file does not belong to its access_key_id/,
    ],
    [{ 'blobs.credentials_file': notToml }, /^cannot use .*not-toml: it must have two lines of TOML/],
    [
      { 'blobs.credentials_file': '/nowhere' },
      /cannot find the credentials for the server of S3: there is no \/nowhere/,
    ],
    [{ 'blobs.s3': s3!.replace('larder-tests', 'no-such-bucket') }, /the server has no bucket no-such-bucket/],
    [{ 'blobs.s3': `${s3!}-elsewhere` }, /it is empty, but this store has content already/],
  ] as const) {
    changeConfig(configuration, { 'blobs.s3': s3, 'blobs.credentials_file': right, ...change });
    if (/content already/.test(String(pattern))) await store.anyone.upload('some bytes');
    const { code, err } = await larder(`verify --data ${store.directory}`);
    t.match({ code, err }, { code: /[^0]/, err: new RegExp(pattern.source.replace('^', '')) });
    t.notMatch(err, /my secret|not that"/);
  }
  t.same(
    (await keys()).filter((key) => !key.startsWith('sha3/')),
    before.filter((key) => !key.startsWith('sha3/')),
  );
});
