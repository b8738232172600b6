// A stop waits for the handlers at work, whether or not their client is still there.
import t from 'tap';
import { once } from 'node:events';
import { request } from 'node:http';

import { anyone } from '#access/access-rules.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { createServer } from '#http/server.ts';
import type { ServerServices } from '#http/services.ts';
import { followConnections } from '#appliance/draining.ts';
import { close, listen } from '#appliance/listening.ts';

t.test('a stop waits for a handler even if its client has left', async (t) => {
  const begun = Promise.withResolvers<undefined>();
  const gone = Promise.withResolvers<undefined>();
  const work = Promise.withResolvers<undefined>();
  let done = false;
  const slow = operation({
    name: 'slow',
    method: 'GET',
    path: '/slow',
    since: 0,
    summary: 'Take long.',
    access: anyone,
    produces: ['text/plain'],
    async handle(call) {
      call.request.socket.once('close', () => {
        gone.resolve(undefined);
      });
      begun.resolve(undefined);
      await work.promise;
      done = true;
      return new OperationResponse({ status: 200, headers: { 'content-type': 'text/plain' }, body: 'done' });
    },
  });
  const services = {
    config: { http: { trusted_proxies: [] } },
    newId: { uuid: () => '0' },
    unknownProxies: { see: () => undefined },
    metrics: { answered: () => undefined },
    log: { info: () => undefined, error: () => undefined },
  } as unknown as ServerServices;
  const connections = { requests: 16, ofClient: 16, all: 16 };
  const listening = createServer({ operations: [slow], services: () => services, checkAnswers: false, connections });
  const drain = followConnections(listening.server);
  const url = await listen(listening.server, '127.0.0.1:0');

  const asking = request(`${url}/slow`, { agent: false }).end();
  asking.on('error', () => undefined);
  await begun.promise;
  asking.destroy();
  await gone.promise;
  let closed = false;
  const closing = close(listening, () => drain({ minutes: 1, elapsed: () => 0 })).then(() => (closed = true));
  await once(listening.server, 'close');
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(closed, 'there is no connection any more, and the handler is at work');
  work.resolve(undefined);
  await closing;
  t.ok(done, 'it has come to its end');
});
