// A store without free file descriptors reports it, with the time to retry.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import t from 'tap';

import { dataFolder, larder, serve } from '#test/fixtures/processes/served.ts';

/** So few that the files of some uploads find no place any more. */
const descriptors = 140;

t.test('with its descriptors used up the store answers 503, and is well when others have hung up', async (t) => {
  const data = dataFolder(t);
  await larder('init', '--data', data, '--base-url', 'http://127.0.0.1:8080');
  const store = await serve(data, '127.0.0.1:0', descriptors);
  t.teardown(() => store.stop());

  const { promise: refused, resolve } = Promise.withResolvers<string>();
  const sockets: Socket[] = [];
  t.teardown(() => sockets.forEach((socket) => socket.destroy()));
  for (let at = 0; at < 60; at++) {
    const socket = connect({
      host: '127.0.0.1',
      port: Number(new URL(store.url).port),
      localAddress: `127.0.0.${1 + (at % 6)}`,
    });
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => resolve(chunk.toString('latin1')));
  }
  // The store accepts all of them before it opens a file: a connection for which there is no descriptor gets no answer.
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  t.equal((await fetch(`${store.url}/healthz`)).status, 200);
  for (const socket of sockets)
    socket.write(
      'POST /unscanned-upload/ HTTP/1.1\r\nHost: store\r\nContent-Type: multipart/form-data; boundary=b\r\n' +
        'Content-Length: 100000\r\n\r\n--b\r\nContent-Disposition: form-data; name="binary"; filename="f"\r\n\r\nx',
    );
  const answer = await refused;
  t.match(answer, /^HTTP\/1\.1 503 /);
  t.match(answer, /^retry-after: 5\r$/im);
  t.match(answer, /"code":"too-many-connections","message":"The store has reached its limit of connections\. Try/);
  t.notMatch(answer, /EMFILE/, 'the words of the system are for the log');
  while (!store.log().includes('EMFILE')) await sleep(20);

  for (const socket of sockets) socket.destroy();
  const form = new FormData();
  form.set('binary', new Blob(['some bytes']), 'file');
  let status = 503;
  while (status === 503) status = await upload(store.url, form);
  t.equal(status, 200);
});

t.test('threads that find no descriptor, or cannot be started for want of one, are no fault of the server', (t) => {
  const env = { ...process.env };
  delete env['NODE_OPTIONS'];
  const program = [process.execPath, join(import.meta.dirname, 'no-descriptors.ts')];
  const snap = join(import.meta.dirname, '../fixtures/snaps/app-xz.snap');
  const shell = ['-c', 'ulimit -n 100; exec "$@"', 'bash', ...program, snap];
  const { stdout, stderr } = spawnSync('bash', shell, { encoding: 'utf8', env });
  const busy = '503 5 true';
  t.equal(stdout, `${JSON.stringify([busy, busy, busy, 'done'])}\n`, stderr);
  t.end();
});

/** Its status; 503 also when the connection was closed, as it is while the others are not all known to have gone. */
const upload = (url: string, form: FormData): Promise<number> =>
  fetch(`${url}/unscanned-upload/`, { method: 'POST', body: form }).then(
    (reply) => reply.status,
    () => 503,
  );
