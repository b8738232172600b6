// Sequences of several requests succeed if each request comes to another worker than the one before.

import t from 'tap';

import { journeysInTurn, storeBehind } from '#test/fixtures/processes/in-turn.ts';
import { pass, startFront } from '#test/fixtures/servers/front.ts';
import { serveByWorkers } from '#test/fixtures/processes/workers.ts';

/** The names of the requests in the order of their arrival; each is forwarded on a connection of its own. */
const requests: Promise<string>[] = [];
/** Their addresses, once they serve. */
const behind = { url: '' };
const url = await startFront(t, (request, response) => {
  const { promise, resolve } = Promise.withResolvers<string>();
  requests.push(promise);
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => typeof response;
  response.writeHead = (...args: unknown[]) => {
    resolve((args[1] as Record<string, string>)['x-request-id']!);
    return writeHead(...args);
  };
  pass(request, response, new URL(behind.url));
});

const store = await storeBehind(t, url);
const workers = await serveByWorkers(t, store.directory);
behind.url = workers.url;
store.url = url;

/** Twice, starting at each of the two; with two concurrent requests, one worker may get two in succession. */
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
