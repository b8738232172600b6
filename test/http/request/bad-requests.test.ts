// Requests that no honest client sends, byte by byte: each gets a clear 4xx and leaves nothing behind.
import t from 'tap';

import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { footprint } from '#test/fixtures/footprint.ts';
import { raw, request, type RawReply } from '#test/fixtures/clients/raw.ts';

let store: TestAppliance;
let authorization: string;
let before: ReturnType<typeof footprint>;

t.before(async () => {
  store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  authorization = `Authorization: Macaroon ${ada.token}`;
  before = footprint(store.directory);
});

type Test = Pick<typeof t, 'equal' | 'match' | 'notMatch' | 'same'>;

function nothingHappened(t: Test): void {
  t.same(footprint(store.directory), before, 'nothing was left behind');
  t.notMatch(store.log.join(''), '"level":"error"', 'nothing went wrong on our side');
}

/** Sends bytes and expects a refusal of this status, whole and in our words. */
async function expectRefusal(
  t: Test,
  label: string,
  status: number,
  ...pieces: (string | Uint8Array)[]
): Promise<RawReply | undefined> {
  const reply = await raw(store.url, ...pieces);
  t.equal(reply?.status, status, label);
  t.equal(reply?.headers['content-type'], 'application/json', `${label}: JSON`);
  t.equal(reply?.headers['publishergw-version'], '61', `${label}: the version`);
  t.match(reply?.headers['x-request-id'], /^[0-9a-f-]{36}$/, `${label}: the request's id`);
  t.match(reply?.headers['x-view-name'], /^larder\./, `${label}: the view's name`);
  const { 'error-list': errors } = JSON.parse(reply?.body ?? '{}') as { 'error-list'?: unknown[] };
  t.match(errors, [{ code: /^[a-z-]+$/, message: /.{10,}/ }], `${label}: a code and a sentence`);
  return reply;
}

const post = (body: string | Uint8Array, ...headers: string[]): [string, string | Uint8Array] => [
  [
    'POST /v1/snap HTTP/1.1',
    'Host: store',
    authorization,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
    '',
    '',
  ].join('\r\n'),
  body,
];
const json = 'Content-Type: application/json';

t.test('a request that could be read in two ways is refused', async (t) => {
  const get = (target: string, ...headers: string[]): string => request(`GET ${target}`, [authorization, ...headers]);
  for (const [label, text] of [
    ['two Host headers', get('/v1/tokens/whoami', 'Host: other')],
    ['two equal Host headers', get('/v1/tokens/whoami', 'host: store')],
    ['no Host header', `GET / HTTP/1.1\r\n${authorization}\r\n\r\n`],
    ['an absolute target with a user', get('http://ada@store/v1/tokens/whoami')],
    ['an absolute target of another kind', get('ftp://store/v1/tokens/whoami')],
    ['an absolute target with a host that is none', get('http://st"ore/v1/tokens/whoami')],
    ['an absolute target with dot segments', get('http://store/v1/../tokens')],
    ['an absolute target with empty segments', get('http://store//v1/tokens')],
    ['an absolute target and two Host headers', get('http://store/v1/tokens/whoami', 'Host: other')],
    ['an asterisk', request('OPTIONS *')],
    ['an encoded slash', get('/v1/snap%2fhello')],
    ['an encoded slash in capitals', get('/v1/snap/hello%2Frevisions')],
    ['an encoded backslash', get('/v1/snap%5chello')],
    ['a backslash', get('/v1\\snap')],
    ['an encoded NUL', get('/v1/snap/hello%00')],
    ['dot segments', get('/v1/snap/../tokens/whoami')],
    ['dot segments at the end', get('/v1/snap/hello/..')],
    ['a dot', get('/v1/./tokens')],
    ['encoded dot segments', get('/v1/snap/%2e%2e/tokens')],
    ['half encoded dot segments', get('/v1/snap/.%2E/tokens')],
    ['empty segments', get('/v1//tokens')],
    ['two slashes before a host', get('//other/v1/tokens')],
    ['encoding that is none', get('/v1/snap/%zz')],
    ['encoding cut short', get('/v1/snap/%e')],
    ['encoding of half a character', get('/v1/snap/%c3')],
    ['encoding of a surrogate', get('/v1/snap/%ed%a0%80')],
    ['a member of the query twice', get('/v1/snap?fields=name&fields=id')],
    ['a member twice in other spelling', get('/v1/snap?fields=name&%66ields=id')],
    ['an unknown member twice', get('/v1/snap?x=1&x=1')],
    ['a target too long', get(`/v1/snap?fields=${'x'.repeat(9000)}`)],
    ['two lengths', post('{}', 'Content-Length: 3', json).join('')],
    ['a length and chunks', post('{}', 'Transfer-Encoding: chunked', json).join('')],
    ['chunks of another coding', request('POST /v1/snap', ['Transfer-Encoding: gzip, identity', authorization])],
    ['a negative length', request('POST /v1/snap', ['Content-Length: -1', authorization])],
    ['a length in words', request('POST /v1/snap', ['Content-Length: two', authorization])],
    ['a header with a space before its colon', get('/v1/tokens', 'X-Odd : 1')],
    ['a folded header', get('/v1/tokens', 'X-Odd: 1\r\n 2')],
    ['a header with a NUL', get('/v1/tokens', 'X-Odd: a\0b')],
    ['a header without a name', get('/v1/tokens', ': value')],
    ['lines that end without CR', get('/v1/tokens').replaceAll('\r\n', '\n')],
    ['a version to come', request('GET /').replace('HTTP/1.1', 'HTTP/3.0')],
    ['no HTTP at all', 'nonsense\r\n\r\n'],
    ['a handshake of TLS', Buffer.from('16030100500100004c0303', 'hex')],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ] as const) {
    await expectRefusal(t, label, 400, text);
  }
  nothingHappened(t);
});

t.test('parts of HTTP beyond plain requests are refused or ignored', async (t) => {
  await expectRefusal(t, 'a tunnel', 405, request('CONNECT other:443'));
  await expectRefusal(t, 'a trace', 405, request('TRACE /v1/tokens'));
  await expectRefusal(t, 'a method of its own', 400, request('BREW /v1/tokens'));
  const upgraded = await raw(
    store.url,
    request('GET /v1/tokens/whoami', [authorization, 'Connection: Upgrade', 'Upgrade: websocket']),
  );
  t.equal(upgraded?.status, 200, 'nobody here changes protocols');
  const expecting = await raw(store.url, request('GET /v1/tokens/whoami', [authorization, 'Expect: the-unexpected']));
  t.equal(expecting?.status, 200);
  nothingHappened(t);
});

t.test('an honest spelling of the same goes through', async (t) => {
  for (const [target, status] of [
    ['/v1/tokens/whoami', 200],
    ['/v1/snap/%68ello', 200],
    ['/v1/snap?fields=name&include-collaborations=true', 200],
    ['/v1/snap?', 200],
    ['/v1/snap/h%C3%A9llo', 404],
    ['/v1/snap/...', 404],
    ['/v1/snap/hello%20', 404],
    ['http://store/v1/tokens/whoami', 200],
    ['HTTPS://other.example:8443/v1/snap?fields=name', 200],
    ['http://[::1]:8080/v1/nothing', 404],
    ['http://store?x=1', 200],
  ] as const) {
    const reply = await raw(store.url, request(`GET ${target}`, [authorization]));
    t.equal(reply?.status, status, target);
  }
  const old = await raw(store.url, `GET / HTTP/1.0\r\n\r\n`);
  t.equal(old?.status, 200, 'HTTP/1.0 has no Host header');
  nothingHappened(t);
});

t.test('headers beyond the limit are refused, those within it are read', async (t) => {
  const large = await expectRefusal(
    t,
    'a token of 80 KiB',
    431,
    request('GET /v1/tokens', [`Authorization: Macaroon ${'A'.repeat(80 * 1024)}`]),
  );
  t.match(large?.body, 'header-too-large');
  await expectRefusal(
    t,
    'a token of 60 KiB',
    401,
    request('GET /v1/tokens', [`Authorization: Macaroon ${'A'.repeat(60 * 1024)}`]),
  );
  await expectRefusal(
    t,
    'a hundred kilobytes of small ones',
    431,
    request(
      'GET /',
      Array.from({ length: 2000 }, (_, at) => `X-${at}: ${'y'.repeat(50)}`),
    ),
  );
  nothingHappened(t);
});

t.test('a body that is no JSON is refused', async (t) => {
  const deep = (open: string, close: string, levels: number): string => open.repeat(levels) + close.repeat(levels);
  for (const [label, body, message] of [
    ['nothing but an opening brace', '{', /not JSON/],
    ['words', 'name=hello', /not JSON/],
    ['two documents', '{"name":"x1"}{"name":"x2"}', /not JSON/],
    ['a comment', '{"name":"x1"/* */}', /not JSON/],
    ['a trailing comma', '{"name":"x1",}', /not JSON/],
    ['single quotes', "{'name':'x1'}", /not JSON/],
    ['NaN', '{"name":NaN}', /not JSON/],
    ['a byte order mark', '\ufeff{"name":"x1"}', /not JSON/],
    ['a control character in a text', '{"name":"x\n1"}', /not JSON/],
    ['an escape that is none', '{"name":"\\x31"}', /not JSON/],
    ['a lone surrogate', '{"name":"x1\\ud800"}', /surrogate/],
    ['a NUL', '{"name":"x1\\u0000"}', /NUL/],
    ['a NUL in a member', '{"name":"x1","\\u0000":1}', /NUL/],
    ['a member twice', '{"name":"x1","name":"x2"}', /'name' appears twice/],
    ['a member twice in other spelling', '{"name":"x1","n\\u0061me":"x2"}', /'name' appears twice/],
    ['a member twice deep within', '{"name":"x1","a":[{"b":{"c":1,"c":2}}]}', /'c' appears twice/],
    ['__proto__ twice', '{"__proto__":1,"__proto__":2}', /appears twice/],
    ['65 levels of lists', deep('[', ']', 65), /nested/],
    ['65 levels of objects', '{"a":'.repeat(65) + '1' + '}'.repeat(65), /nested/],
    ['levels without end', deep('[', ']', 100_000), /nested|not JSON/],
    ['64 levels of lists, which is no object', deep('[', ']', 64), /not of type object/],
    ['__proto__ as a member', '{"name":"x1","__proto__":{"private":true}}', /'__proto__' was unexpected/],
    ['constructor as a member', '{"name":"x1","constructor":{}}', /'constructor' was unexpected/],
    ['a number too large for anything', '{"name":1e400}', /not of type string/],
  ] as const) {
    const reply = await expectRefusal(t, label, 400, ...post(body, json));
    t.match(reply?.body, message, label);
  }
  for (const [label, bytes] of [
    ['half a character', Buffer.from('7b226e616d65223a2278c3227d', 'hex')],
    ['a byte of no character', Buffer.from('7b226e616d65223a2278ff227d', 'hex')],
    ['an overlong spelling', Buffer.from('7b226e616d65223a2278c0af227d', 'hex')],
    ['UTF-16', Buffer.from('{"name":"x1"}', 'utf16le')],
    ['gzip', Buffer.from('1f8b080000000000000aab56ca4bcc4d55b2', 'hex')],
  ] as const) {
    await expectRefusal(t, label, 400, ...post(bytes, json));
  }
  nothingHappened(t);
});

t.test('a body of another kind is refused with 415', async (t) => {
  const body = '{"name":"x1"}';
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'application/xml',
    'json',
    '*/*',
    'application/merge-patch+json',
  ]) {
    const reply = await expectRefusal(t, type, 415, ...post(body, `Content-Type: ${type}`));
    t.match(reply?.body, 'unsupported-media-type');
  }
  await expectRefusal(t, 'gzip', 415, ...post(body, json, 'Content-Encoding: gzip'));
  nothingHappened(t);
});

t.test('a body over its limit is refused, with any encoding', async (t) => {
  const large = JSON.stringify({ name: 'x'.repeat(1024 * 1024) });
  await expectRefusal(t, 'announced', 413, ...post(large, json));
  await expectRefusal(
    t,
    'announced and not sent',
    413,
    `POST /v1/snap HTTP/1.1\r\nHost: store\r\n${authorization}\r\nContent-Length: 99999999999\r\n\r\n`,
  );
  const chunk = `${(64 * 1024).toString(16)}\r\n${'x'.repeat(64 * 1024)}\r\n`;
  const head = `POST /v1/snap HTTP/1.1\r\nHost: store\r\n${authorization}\r\n${json}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  await expectRefusal(t, 'in chunks', 413, head, ...Array.from({ length: 20 }, () => chunk), '0\r\n\r\n');
  await expectRefusal(t, 'in chunks that never end', 413, head, ...Array.from({ length: 20 }, () => chunk));
  await expectRefusal(
    t,
    'without a token',
    401,
    ...[`POST /v1/snap HTTP/1.1\r\nHost: store\r\nContent-Length: ${large.length}\r\n${json}\r\n\r\n`, large],
  );
  const many = JSON.stringify({ filters: Array.from({ length: 20_000 }, () => ({ type: 'snap', id: 'x' })) });
  await expectRefusal(
    t,
    'a list too long',
    400,
    request('POST /internal/v1/package-permissions', [authorization], many),
  );
  nothingHappened(t);
});

t.test('a body that is missing or cut off is refused', async (t) => {
  const missing = await expectRefusal(t, 'without a body', 400, ...post('', json));
  t.match(missing?.body, 'has no body');
  await expectRefusal(t, 'neither length nor body', 400, request('POST /v1/snap', [authorization]));
  await expectRefusal(t, 'blank', 400, ...post('   ', json));
  await expectRefusal(
    t,
    'chunks that are none',
    400,
    `POST /v1/snap HTTP/1.1\r\nHost: store\r\n${authorization}\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n`,
  );
  nothingHappened(t);
});

t.test('an unexpected body is not read', async (t) => {
  const reply = await raw(store.url, request('GET /v1/tokens/whoami', [authorization], 'nonsense'));
  t.equal(reply?.status, 200);
  const large = await raw(store.url, request('GET /v1/tokens/whoami', [authorization], 'x'.repeat(3_000_000)));
  t.equal(large?.status, 200);
  nothingHappened(t);
});

t.test('two requests on one connection get two answers', async (t) => {
  const twice = request('GET /healthz') + request('GET /healthz', ['Connection: close']);
  const reply = await raw(store.url, twice);
  t.equal(reply?.status, 200);
  const refusedThenFine = await raw(
    store.url,
    request('POST /v1/snap', [authorization], '{') + request('GET /healthz', ['Connection: close']),
  );
  t.equal(refusedThenFine?.status, 400, 'a refused request does not spoil the connection');
  nothingHappened(t);
});

t.test('unusual but honest bodies are read', async (t) => {
  const ada = await store.as('ada');
  before = footprint(store.directory);
  const filters = JSON.stringify({ filters: [{ type: 'snap', id: 'x' }] });
  const at = 'POST /internal/v1/package-permissions HTTP/1.1\r\nHost: store';
  const chunked = Array.from(filters)
    .map((chunk) => `1\r\n${chunk}\r\n`)
    .join('');
  for (const [label, text] of [
    [
      'one byte a chunk',
      `${at}\r\n${authorization}\r\n${json}\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}0\r\n\r\n`,
    ],
    [
      'a charset',
      `${at}\r\n${authorization}\r\nContent-Type: Application/JSON; charset=utf-8\r\nContent-Length: ${filters.length}\r\n\r\n${filters}`,
    ],
    ['no type', `${at}\r\n${authorization}\r\nContent-Length: ${filters.length}\r\n\r\n${filters}`],
    [
      'an identity encoding',
      `${at}\r\n${authorization}\r\n${json}\r\nContent-Encoding: identity\r\nContent-Length: ${filters.length}\r\n\r\n${filters}`,
    ],
    [
      'space around',
      `${at}\r\n${authorization}\r\n${json}\r\nContent-Length: ${filters.length + 4}\r\n\r\n\n\t${filters}\r\n`,
    ],
  ] as const) {
    t.equal((await raw(store.url, text))?.status, 200, label);
  }
  t.equal((await ada.get('/v1/tokens/whoami')).status, 200);
  nothingHappened(t);
});

t.test('a browser gets a page for an unknown address, and every other client JSON', async (t) => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const page = await raw(store.url, request('GET /nowhere/%3Cscript%3E<b>', [`Accept: ${browser}`]));
  t.equal(page?.status, 404);
  t.equal(page?.headers['content-type'], 'text/html; charset=utf-8');
  t.match(page?.headers['content-security-policy'], /default-src 'none'/);
  t.match(page?.body, /There is nothing at <code>\/nowhere\/%3Cscript%3E&lt;b&gt;<\/code>/);
  t.match(page?.body, /href="\/console"/);
  for (const accept of ['application/json', '*/*', 'application/json, text/html', '']) {
    const reply = await raw(store.url, request('GET /nowhere', [`Accept: ${accept}`]));
    t.match(reply, { status: 404, headers: { 'content-type': 'application/json' } }, accept);
  }
  const posted = await raw(store.url, request('POST /nowhere', [`Accept: ${browser}`, 'Content-Length: 0']));
  t.match(posted, { status: 404, headers: { 'content-type': 'application/json' } });
  nothingHappened(t);
});
