// Sequences of several requests succeed if each request comes to another host than the one before: hosts that share
// only PostgreSQL and S3.
// Own process: it puts the records and blobs of the tests after it on servers.
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

process.env['LARDER_RECORDS'] = 'postgres';
process.env['LARDER_BLOBS'] = 's3';
const { journeysInTurn, storeBehind } = await import('#test/fixtures/processes/in-turn.ts');
const { pass, startFront } = await import('#test/fixtures/servers/front.ts');
const { furtherHostHas, newHost } = await import('#test/fixtures/processes/hosts.ts');

t.setTimeout(1_800_000);

let next = 0;
const turns: number[] = [];
const urls: string[] = [];
const url = await startFront(t, (request, response) => {
  const at = next++ % 2;
  turns.push(at);
  pass(request, response, new URL(urls[at]!));
});

const store = await storeBehind(t, url);
const further = join(t.testdir(), 'further');
mkdirSync(further, { mode: 0o700 });
for (const name of furtherHostHas(store.directory)) {
  cpSync(join(store.directory, name), join(further, name), { recursive: true });
}
for (const [at, data] of [store.directory, further].entries()) {
  const host = await newHost(t, `store-${at + 1}`, data, url);
  await host.start();
  urls.push(host.url);
}
store.url = url;

/** Twice, begun at each of the two. */
async function fromBoth(journey: (first: number) => Promise<void>): Promise<void> {
  for (const first of [0, 1]) {
    next = first;
    const from = turns.length;
    await journey(first);
    t.ok(turns.length > from + 1);
  }
}

for (const [name, journey] of Object.entries(journeysInTurn)) {
  t.test(name, (t) => journey(t, { store, urls, fromBoth }));
}
