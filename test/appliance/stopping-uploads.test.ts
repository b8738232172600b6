// A stop does not wait for uploads that receive no bytes.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import t from 'tap';

import { seconds } from '#domain/clock.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { until } from '#test/fixtures/until.ts';

const boundary = 'b0undary';
const content = 'x'.repeat(1000);
const body = [
  `--${boundary}\r\nContent-Disposition: form-data; name="binary"; filename="f"\r\n\r\n`,
  content,
  `\r\n--${boundary}--\r\n`,
].join('');

/** An upload with only its beginning sent, and the reply. */
async function begin(url: string): Promise<{ socket: Socket; answer: Promise<string> }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let response = '';
  socket.setEncoding('latin1').on('data', (text: string) => (response += text));
  socket.on('error', () => undefined);
  const answer = once(socket, 'close').then(() => response);
  await once(socket, 'connect');
  const head = [
    'POST /unscanned-upload/ HTTP/1.1',
    'Host: store',
    `Content-Type: multipart/form-data; boundary=${boundary}`,
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 300)}`);
  return { socket, answer };
}

t.test('a stalled upload is cut ten seconds after a stop has begun', async (t) => {
  const store = await startStore(t);
  const { answer } = await begin(store.url);
  await until(async () => /larder_uploads|process_/.test(await (await fetch(`${store.url}/metrics`)).text()));
  const over = new AbortController();
  const restarted = store.restart().finally(() => {
    over.abort();
  });
  let advanced = 0;
  while (!over.signal.aborted && advanced < 120) {
    store.clock.advance(seconds(2));
    advanced += 2;
    await pause(150);
  }
  await restarted;
  t.ok(advanced >= 10 && advanced < 50, `it was waited for ${String(advanced)} seconds of the clock`);
  t.notMatch(await answer, /^HTTP\/1.1 200/);
});

t.test('a moving upload completes, even if it is slow', async (t) => {
  const store = await startStore(t);
  const { socket, answer } = await begin(store.url);
  const restarted = store.restart();
  for (let sent = 300; sent < body.length; sent += 40) {
    store.clock.advance(seconds(8));
    socket.write(body.slice(sent, sent + 40));
    await pause(150);
  }
  await restarted;
  t.match(await answer, /^HTTP\/1.1 200/);
});
