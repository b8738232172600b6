// A body counts by its content, not by its encoding.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { mock } from 'node:test';

import t from 'tap';

import { readBody } from '#http/request/body.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { raw } from '#test/fixtures/clients/raw.ts';

t.test('a body is read the same whether it comes with its headers, byte by byte, or in chunks', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const head = ['POST /v1/snap HTTP/1.1', 'Host: store', `Authorization: Macaroon ${ada.token}`, 'Connection: close'];
  const body = (name: string): string => JSON.stringify({ name, private: true });
  const withLength = (text: string): string => [...head, `Content-Length: ${text.length}`, '', ''].join('\r\n');
  const chunked = [...head, 'Transfer-Encoding: chunked', '', ''].join('\r\n');
  const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

  const ways: Record<string, string[]> = {
    whole: [withLength(body('whole')) + body('whole')],
    halves: [withLength(body('halves')) + body('halves').slice(0, 9), body('halves').slice(9)],
    bytes: [withLength(body('bytes')), ...Array.from(body('bytes'))],
    chunk: [chunked + chunk(body('chunk')) + chunk('')],
    chunks: [chunked, ...Array.from(body('chunks'), chunk), chunk('')],
  };
  for (const [name, pieces] of Object.entries(ways)) {
    const reply = await raw(store.url, ...pieces);
    t.equal(reply?.status, 200, name);
    t.match((await ada.get(`/v1/snap/${name}`)).body, { metadata: { name, private: true } });
  }
  t.equal((await raw(store.url, withLength('{"name":"\xff"}') + '{"name":"\xff"}'))?.status, 400);
});

t.test('a body that does not arrive is abandoned after a minute, and not before', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => {
    mock.timers.reset();
  });
  const request = new IncomingMessage(new Socket());
  request.headers['content-length'] = '20';
  let refused: unknown;
  const read = Promise.resolve(readBody(request, 100)).catch((error: unknown) => (refused = error));
  request.push('{"name":');
  mock.timers.tick(59_999);
  await new Promise(setImmediate);
  t.equal(refused, undefined, 'however slowly it comes');
  mock.timers.tick(1);
  await read;
  t.match(refused, { code: 'api-error', status: 400, message: /did not arrive within a minute/ });
});
