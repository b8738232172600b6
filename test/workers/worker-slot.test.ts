// A connection that a worker did not accept before its end is closed, so that its client does not wait forever.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { closeWhatIsNeverTaken } from '#src/workers/worker-slot.ts';

/** A process with a channel to this one, which reads no message. */
async function startIdleWorker(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'larder-idle-'));
  const program = join(folder, 'idle.mjs');
  writeFileSync(program, 'process.send("here"); setInterval(() => undefined, 1000);');
  const child = fork(program, { execArgv: [], env: {} });
  t.teardown(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });
  closeWhatIsNeverTaken({ process: child });
  await once(child, 'message');
  return child;
}

/** Both ends of a connection; the handle is the one that `cluster` passes. */
async function openConnection(t: Test): Promise<{ client: Socket; handle: never }> {
  const server: Server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket & { _handle: never }]>;
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [{ _handle: handle }] = await accepted;
  server.close();
  t.teardown(() => client.destroy());
  return { client: client.on('error', () => undefined).resume(), handle };
}

t.test('a connection that was passed to a worker before its end is closed with it', async (t) => {
  const child = await startIdleWorker(t);
  const { client, handle } = await openConnection(t);
  child.kill('SIGSTOP');
  child.send({ act: 'newconn' }, handle);
  const closed = once(client, 'close');
  child.kill('SIGKILL');
  await closed;
  t.ok(client.destroyed);
});

t.test('a connection that is passed to a worker between its end and the end of its channel is closed', async (t) => {
  const child = await startIdleWorker(t);
  const { client, handle } = await openConnection(t);
  const closed = once(client, 'close');
  child.once('exit', () => child.send({ act: 'newconn' }, handle));
  child.kill('SIGKILL');
  await closed;
  t.ok(client.destroyed);
});
