// What takes several requests succeeds when each of them comes to another worker than the one before.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import t from 'tap';

import { journeysInTurn, site } from '#test/fixtures/in-turn.ts';
import { pass } from '#test/fixtures/two-processes.ts';
import { serveByWorkers } from '#test/fixtures/workers.ts';
import { startIdentity } from '#test/identity/world.ts';

/** What each request was called, in the order in which they came to the front; each goes on by a connection of its own. */
const requests: Promise<string>[] = [];
/** Where they serve, once they do. */
const behind = { url: '' };
const front = createServer((request, response) => {
  const { promise, resolve } = Promise.withResolvers<string>();
  requests.push(promise);
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => typeof response;
  response.writeHead = (...args: unknown[]) => {
    resolve((args[1] as Record<string, string>)['x-request-id']!);
    return writeHead(...args);
  };
  pass(request, response, new URL(behind.url));
}).listen(0, '127.0.0.1');
await once(front, 'listening');
const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
t.teardown(() => {
  front.closeAllConnections();
  front.close();
});

const configure = (text: string): string =>
  text
    .replace(/^base_url = .*$/m, `base_url = "${url}"`)
    .replace(/^# redirect_urls = .*$/m, `redirect_urls = ["${site}"]`);
const store = await startIdentity(t, configure, new Date());
await store.appliance.stop();
Object.defineProperty(store.clock, 'now', { get: () => new Date() });
const workers = await serveByWorkers(t, store.directory);
behind.url = workers.url;
store.url = url;

/** Twice, begun at each of the two; where two requests are under way at once, one worker may have two in succession. */
async function fromBoth(journey: (first: number) => Promise<void>): Promise<void> {
  for (const first of [0, 1]) {
    const from = requests.length;
    await journey(first);
    const ids = await Promise.all(requests.slice(from));
    const turns: number[] = [];
    for (const id of ids) turns.push(await workers.workerOf(id));
    const changes = turns.filter((worker, at) => at > 0 && worker !== turns[at - 1]).length;
    t.ok(changes > (turns.length - 1) * 0.6, `of ${turns.length} requests ${changes} came to another worker`);
    // One request more has the other one's turn come.
    if (turns.length % 2 === 0) await workers.ask('/healthz');
  }
}

for (const [name, journey] of Object.entries(journeysInTurn)) {
  t.test(name, (t) => journey(t, { store, urls: [url, url], fromBoth }));
}
