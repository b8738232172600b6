import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

import t from 'tap';

import { largeTest } from '#test/fixtures/large.ts';
import { declare, digestOf, logIn, uploadLogin, type RegistryClient } from '#test/fixtures/packages/images.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { contentFiles } from '#test/fixtures/contents.ts';
import { footprint } from '#test/fixtures/footprint.ts';
import { raw } from '#test/fixtures/clients/raw.ts';
import { until } from '#test/fixtures/until.ts';

async function adasClient(
  t: Parameters<typeof startStore>[0],
  configure?: (text: string) => string,
): Promise<{ store: TestAppliance; client: RegistryClient }> {
  const store = await startStore(t, configure);
  await declare(store, 'ada', 'hello');
  return { store, client: await logIn(store, await uploadLogin(await store.as('ada'), 'hello')) };
}

const begin = async (client: RegistryClient): Promise<string> => {
  const { headers } = await client.call('POST', 'blobs/uploads/');
  return headers.get('location') ?? '';
};

t.test('a blob is sent in chunks, and each response has the received size', async (t) => {
  const { store, client } = await adasClient(t);
  const content = 'first second third';
  const begun = await client.call('POST', 'blobs/uploads/');
  t.equal(begun.status, 202);
  t.equal(begun.headers.get('range'), '0-0');
  t.match(begun.headers.get('location'), /^\/v2\/images\/[a-z0-9]{32}\/image\/blobs\/uploads\/[0-9a-f-]{36}\?/);
  t.equal(begun.headers.get('docker-distribution-api-version'), 'registry/2.0');
  let location = begun.headers.get('location') ?? '';
  t.match(await client.call('GET', location), { status: 204 });

  const first = await client.call('PATCH', location, 'first ', { 'content-range': '0-5' });
  t.equal(first.status, 202);
  t.equal(first.headers.get('range'), '0-5');
  location = first.headers.get('location') ?? '';
  const second = await client.call('PATCH', location, 'second ', { 'content-range': '6-13' });
  t.equal(second.status, 202, 'also when the end is counted as charmcraft does');
  t.equal(second.headers.get('range'), '0-12');
  location = second.headers.get('location') ?? '';
  const state = await client.call('GET', location);
  t.equal(state.status, 204);
  t.equal(state.headers.get('range'), '0-12');

  const done = await client.call('PUT', `${location}&digest=${digestOf(content)}`, 'third');
  t.equal(done.status, 201);
  t.equal(done.headers.get('docker-content-digest'), digestOf(content));
  const blob = await client.call('GET', done.headers.get('location') ?? '');
  t.match(blob, { status: 200, text: content });
  t.equal(
    (await client.call('PUT', `${location}&digest=${digestOf(content)}`)).code,
    'BLOB_UPLOAD_UNKNOWN',
    'it has ended',
  );
  t.equal(contentFiles(store.directory).length, 1);
});

t.test('a blob is sent at once, by POST or by PUT, announced or not, and an empty one too', async (t) => {
  const { client } = await adasClient(t);
  for (const content of ['content', '', 'x'.repeat(3_000_000)]) {
    t.match(await client.blob(content), { status: 201 });
    const put = await client.call('PUT', `${await begin(client)}&digest=${digestOf(content)}`, content);
    t.match(put, { status: 201 });
    const streamed = await client.call(
      'PUT',
      `${await begin(client)}&digest=${digestOf(content)}`,
      new Blob([content]).stream(),
    );
    t.match(streamed, { status: 201 });
    t.match(await client.call('GET', `blobs/${digestOf(content)}`), { status: 200, text: content });
  }
});

t.test('chunks out of order are refused with 416, and the upload continues from its size', async (t) => {
  const { client } = await adasClient(t);
  const location = await begin(client);
  t.match(await client.call('PATCH', location, 'second', { 'content-range': '5-10' }), {
    status: 416,
    code: 'RANGE_INVALID',
  });
  t.match(await client.call('PATCH', location, 'first', { 'content-range': '0-4' }), { status: 202 });
  for (const range of ['0-4', '4-8', '6-10']) {
    const refused = await client.call('PATCH', location, 'again', { 'content-range': range });
    t.match(refused, { status: 416, code: 'RANGE_INVALID' }, range);
    t.equal(refused.headers.get('range'), '0-4');
    t.ok(refused.headers.get('location'));
  }
  for (const range of ['5-99', '10-5', 'x', '-5', 'bytes 5-', '99999999999999999999-5']) {
    t.match(
      await client.call('PATCH', location, 'second', { 'content-range': range }),
      { status: 400, code: 'BLOB_UPLOAD_INVALID' },
      range,
    );
  }
  t.match(
    await client.call('PUT', `${location}&digest=${digestOf('firstsecond')}`, 'second', { 'content-range': '5-10' }),
    { status: 201 },
  );
});

t.test('a chunk that is sent a second time to the same address is not appended again', async (t) => {
  const { client, store } = await adasClient(t);
  const location = await begin(client);
  const sent = await client.call('PATCH', location, 'first');
  t.match(sent, { status: 202 });
  const again = await client.call('PATCH', location, 'first');
  t.match(again, { status: 416, code: 'RANGE_INVALID' });
  t.equal(again.headers.get('range'), '0-4');
  t.equal(again.headers.get('location'), sent.headers.get('location'), 'where the next chunk goes');
  t.match(await client.call('PUT', `${location}&digest=${digestOf('firstfirst')}`, 'first'), { status: 416 });
  const streamed = new Blob(['first']).stream();
  t.match(await client.call('PATCH', location, streamed), { status: 416 }, 'nor one whose length is not announced');
  const digest = digestOf('first');
  t.match(
    await client.call('PUT', `${location}&digest=${digest}`),
    { status: 201 },
    'without content any address does',
  );
  t.match(await client.call('GET', `blobs/${digest}`), { status: 200, text: 'first' });
  t.match(store.url, /^http/);
});

t.test('an image is pushed through a proxy that changes the name and the port', async (t) => {
  const { store, client } = await adasClient(t, (text) =>
    text
      .replace(/^base_url = .*$/m, 'base_url = "http://store.example:8443"')
      .replace('[tls]', '[tls]\nnames = ["other.example", "10.1.2.3"]'),
  );
  const ask = async (headers: Record<string, string>) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const reply = await raw(store.url, `GET /v2/ HTTP/1.1\r\n${lines.join('')}\r\n`);
    return reply?.headers['www-authenticate'];
  };
  const realm = (origin: string) => `Bearer realm="${origin}/registry/token",service="store.example:8443"`;
  t.equal(await ask({ host: 'store.example' }), realm('http://store.example:8443'), 'a proxy has dropped the port');
  t.equal(await ask({ host: '127.0.0.1:8080' }), realm('http://store.example:8443'), 'it names the upstream');
  t.equal(await ask({ host: 'evil.example:8443' }), realm('http://store.example:8443'), 'somebody else');
  t.equal(await ask({ host: 'other.example:8443' }), realm('http://other.example:8443'), 'a name of the store');
  t.equal(await ask({ host: '10.1.2.3:8443' }), realm('http://10.1.2.3:8443'));
  t.equal(await ask({ host: 'other.example' }), realm('http://store.example:8443'), 'without its port');
  t.match((await client.call('POST', 'blobs/uploads/')).headers.get('location'), /^\/v2\/images\//);
  const charmcraft = { 'user-agent': 'python-requests/2.32.3' };
  t.match(
    (await client.call('POST', 'blobs/uploads/', undefined, charmcraft)).headers.get('location'),
    /^http:\/\/store\.example:8443\/v2\/images\//,
    'charmcraft takes absolute addresses only',
  );
});

t.test('a false digest is refused with 400, and leaves nothing', async (t) => {
  const { store, client } = await adasClient(t);
  const before = footprint(store.directory);
  const lie = digestOf('something else');
  t.match(await client.call('POST', `blobs/uploads/?digest=${lie}`, 'content'), {
    status: 400,
    code: 'DIGEST_INVALID',
  });
  t.match(await client.call('PUT', `${await begin(client)}&digest=${lie}`, 'content'), {
    status: 400,
    code: 'DIGEST_INVALID',
  });
  const location = await begin(client);
  await client.call('PATCH', location, 'content');
  t.match(await client.call('PUT', `${location}&digest=${lie}`), { status: 400, code: 'DIGEST_INVALID' });
  t.match(await client.call('GET', location), { status: 404 }, 'the upload is over');
  for (const odd of [
    'md5:abc',
    'sha256:abc',
    `sha256:${'A'.repeat(64)}`,
    'x',
    '',
    `sha512:${'0'.repeat(64)}`,
    `sha384:${'0'.repeat(96)}`,
  ]) {
    t.match(
      await client.call('POST', `blobs/uploads/?digest=${odd}`, 'content'),
      { status: 400, code: 'DIGEST_INVALID' },
      odd,
    );
    t.match(await client.call('GET', `blobs/${odd || 'x'}`), { status: 400, code: 'DIGEST_INVALID' }, odd);
  }
  t.match(await client.call('PUT', await begin(client), 'content'), { status: 400 }, 'without a digest');
  t.same(footprint(store.directory), before);
});

t.test('a cancelled upload is gone, with its received bytes', async (t) => {
  const { store, client } = await adasClient(t);
  const location = await begin(client);
  await client.call('PATCH', location, 'content');
  t.equal(readdirSync(join(store.directory, 'blobs/tmp')).length, 1);
  t.match(await client.call('DELETE', location), { status: 204 });
  t.equal(readdirSync(join(store.directory, 'blobs/tmp')).length, 0);
  t.match(await client.call('DELETE', location), { status: 404, code: 'BLOB_UPLOAD_UNKNOWN' });
  t.match(await client.call('PATCH', location, 'more'), { status: 404, code: 'BLOB_UPLOAD_UNKNOWN' });
});

t.test('an upload is continued after a broken connection', async (t) => {
  const { store, client } = await adasClient(t);
  const location = await begin(client);
  const { pathname, search } = new URL(location, store.url);
  const head = [
    `PATCH ${pathname}${search} HTTP/1.1`,
    'Host: store',
    `Authorization: Bearer ${client.token}`,
    'Content-Length: 100',
  ];
  const { hostname, port } = new URL(store.url);
  const socket = connect(Number(port), hostname);
  socket.write(`${head.join('\r\n')}\r\n\r\nthe first part`);
  const range = async (): Promise<string | null> => (await client.call('GET', location)).headers.get('range');
  await until(async () => (await range()) === '0-13');
  t.match(
    await client.call('PATCH', location, 'x'),
    { status: 409, code: 'BLOB_UPLOAD_INVALID' },
    'one sender at a time',
  );
  socket.destroy();
  await until(async () => (await client.call('PATCH', location, '', { 'content-range': '14-13' })).status === 202);
  t.equal(await range(), '0-13', 'what came before is kept');
  const content = 'the first part and the rest';
  const done = await client.call('PUT', `${location}&digest=${digestOf(content)}`, ' and the rest', {
    'content-range': '14-26',
  });
  t.match(done, { status: 201 });
});

t.test('an upload is not there for another repository, nor for another account in the same one', async (t) => {
  const { store, client } = await adasClient(t);
  await declare(store, 'ada', 'other');
  const other = await logIn(store, await uploadLogin(await store.as('ada'), 'other'));
  const root = await logIn(store, await uploadLogin(await store.as('root'), 'hello'));
  const location = await begin(client);
  t.match(await client.call('PATCH', location, 'first'), { status: 202 });
  const id = new URL(location, store.url).pathname.split('/').at(-1) ?? '';
  const digest = digestOf('first');
  for (const stranger of [other, root]) {
    for (const [method, path] of [
      ['GET', `blobs/uploads/${id}`],
      ['PATCH', `blobs/uploads/${id}`],
      ['PUT', `blobs/uploads/${id}?digest=${digest}`],
      ['DELETE', `blobs/uploads/${id}`],
    ] as const) {
      t.match(
        await stranger.call(method, path, method === 'GET' || method === 'DELETE' ? undefined : 'more'),
        { status: 404, code: 'BLOB_UPLOAD_UNKNOWN' },
        `${method} ${stranger.repository}`,
      );
    }
  }
  t.match(await other.call('PATCH', location, 'more'), { status: 401 }, 'its own address takes another token');
  const again = await logIn(store, await uploadLogin(await store.as('ada'), 'hello'));
  t.match(await again.call('PUT', `${location}&digest=${digest}`), { status: 201 }, 'new credentials go on');
});

largeTest('a refused or cut upload leaves no file, on every path', async (t) => {
  const { store, client } = await adasClient(t);
  const before = footprint(store.directory);
  const { pathname, search } = new URL(await begin(client), store.url);
  const { hostname, port } = new URL(store.url);
  const head = `Host: store\r\nAuthorization: Bearer ${client.token}\r\nContent-Length: 1000000\r\n\r\n`;
  const temporary = (): string[] => readdirSync(join(store.directory, 'blobs/tmp'));
  for (const line of [
    `POST /v2/${client.repository}/blobs/uploads/?digest=${digestOf('x')}`,
    `PUT ${pathname}${search}&digest=${digestOf('x')}`,
  ]) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(`${line} HTTP/1.1\r\n${head}${'x'.repeat(500_000)}`);
    await until(async () => temporary().length === 1);
    socket.destroy();
    if (line.startsWith('PUT')) {
      // The received bytes are kept for a continuation; there is none.
      await until(async () => (await client.call('DELETE', `http://${hostname}:${port}${pathname}`)).status === 204);
    }
    await until(async () => temporary().length === 0);
  }
  t.same(footprint(store.directory), before);
});

t.test('a blob larger than the store accepts is refused with 413, announced or not', async (t) => {
  const { store, client } = await adasClient(t, (text) =>
    text
      .replace(/^\[uploads\]$/m, '[uploads]\nmax_size = "1 MiB"')
      .replace(/^# ?\[uploads\]$/m, '[uploads]\nmax_size = "1 MiB"'),
  );
  const content = 'x'.repeat(1024 * 1024 + 1);
  const before = contentFiles(store.directory);
  t.match(await client.blob(content), { status: 413, code: 'SIZE_INVALID' });
  const streamed = await client.call('PATCH', await begin(client), new Blob([content]).stream());
  t.match(streamed, { status: 413, code: 'SIZE_INVALID' });
  const location = await begin(client);
  t.match(await client.call('PATCH', location, content.slice(1)), { status: 202 });
  t.match(await client.call('PUT', `${location.split('?')[0]!}?digest=${digestOf(content)}`, 'x'), { status: 413 });
  await client.call('DELETE', location);
  t.same(contentFiles(store.directory), before);
});

t.test('the same blob in several repositories is stored once, and known only in those', async (t) => {
  const { store, client } = await adasClient(t);
  await declare(store, 'ada', 'other');
  const other = await logIn(store, await uploadLogin(await store.as('ada'), 'other'));
  await client.blob('content');
  t.match(await other.call('HEAD', `blobs/${digestOf('content')}`), { status: 404 });
  await other.blob('content');
  t.match(await other.call('HEAD', `blobs/${digestOf('content')}`), { status: 200 });
  t.equal(contentFiles(store.directory).length, 1);
});

t.test('a blob is mounted from a repository that the token may read, else the client sends it', async (t) => {
  const { store, client } = await adasClient(t);
  await declare(store, 'bob', 'other');
  const bob = await logIn(store, await uploadLogin(await store.as('bob'), 'other'));
  await bob.blob('content');
  const digest = digestOf('content');
  const theirs = await client.call('POST', `blobs/uploads/?mount=${digest}&from=${bob.repository}`);
  const nobodys = await client.call('POST', `blobs/uploads/?mount=${digestOf('unknown')}&from=${bob.repository}`);
  t.equal(theirs.status, 202);
  t.equal(nobodys.status, 202, 'nothing is learned about what others have');
  t.match(await client.call('HEAD', `blobs/${digest}`), { status: 404 });

  await client.blob('mine');
  for (const from of ['', `&from=${client.repository}`]) {
    const mounted = await client.call('POST', `blobs/uploads/?mount=${digestOf('mine')}${from}`);
    t.equal(mounted.status, 201);
    t.equal(mounted.headers.get('docker-content-digest'), digestOf('mine'));
  }
});

t.test('a blob is read whole or in a range, and HEAD sends nothing', async (t) => {
  const { client } = await adasClient(t);
  await client.blob('0123456789');
  const path = `blobs/${digestOf('0123456789')}`;
  const head = await client.call('HEAD', path);
  t.match(head, { status: 200, text: '' });
  t.equal(head.headers.get('content-length'), '10');
  t.equal(head.headers.get('docker-content-digest'), digestOf('0123456789'));
  for (const [range, status, text, contentRange] of [
    ['bytes=0-0', 206, '0', 'bytes 0-0/10'],
    ['bytes=2-5', 206, '2345', 'bytes 2-5/10'],
    ['bytes=8-', 206, '89', 'bytes 8-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-30', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=5-99', 206, '56789', 'bytes 5-9/10'],
    ['bytes=0-1,3-4', 200, '0123456789', null],
    ['lines=1-2', 200, '0123456789', null],
    ['bytes=5-2', 200, '0123456789', null],
  ] as const) {
    const reply = await client.call('GET', path, undefined, { range });
    t.match(reply, { status, text }, range);
    t.equal(reply.headers.get('content-range'), contentRange, range);
  }
  for (const range of ['bytes=10-', 'bytes=10-20', 'bytes=-0', 'bytes=999999999999999-']) {
    const reply = await client.call('GET', path, undefined, { range });
    t.match(reply, { status: 416, code: 'RANGE_INVALID' }, range);
    t.equal(reply.headers.get('content-range'), 'bytes */10', range);
  }
  t.match(await client.call('GET', `blobs/${digestOf('other')}`), { status: 404, code: 'BLOB_UNKNOWN' });
});

t.test('an unfinished upload does not survive the process, and a finished one does', async (t) => {
  const { store, client } = await adasClient(t);
  const login = await uploadLogin(await store.as('ada'), 'hello');
  await client.blob('finished');
  const location = await begin(client);
  await client.call('PATCH', location, 'begun');
  await store.restart();
  t.equal(readdirSync(join(store.directory, 'blobs/tmp')).length, 0);
  // The client uses the earlier address of the store; its token is valid at the present one.
  const again = await logIn(store, login);
  t.match(await again.call('GET', `blobs/${digestOf('finished')}`), { status: 200, text: 'finished' });
  t.match(await again.call('GET', `blobs/uploads/${new URL(location, store.url).pathname.split('/').at(-1)}`), {
    status: 404,
  });
});

t.test('a repository has at most so many uploads under way', async (t) => {
  const { client } = await adasClient(t);
  for (let begun = 0; begun < 32; begun++) t.equal((await client.call('POST', 'blobs/uploads/')).status, 202);
  const refused = await client.call('POST', 'blobs/uploads/');
  t.match(refused, { status: 429, code: 'TOOMANYREQUESTS' });
  t.ok(refused.headers.get('retry-after'));
});

t.test('an upload that ends with an invalid digest, or without one, makes room for the next', async (t) => {
  const { client } = await adasClient(t);
  for (let nth = 0; nth < 40; nth++) {
    const location = await begin(client);
    const digest = ['&digest=sha1:00', '&digest=x', ''][nth % 3] ?? '';
    const { status, code } = await client.call('PUT', location + digest, 'content');
    t.match([status, code], [400, 'DIGEST_INVALID']);
    t.equal((await client.call('GET', location)).code, 'BLOB_UPLOAD_UNKNOWN');
  }
  t.equal((await client.call('POST', 'blobs/uploads/')).status, 202);
});
