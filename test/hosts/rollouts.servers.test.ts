// Two hosts that share PostgreSQL and S3 count the reports of devices together, and one of them stops a rollout.
// Own process: it puts the records and blobs of the tests after it on servers.
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

process.env['LARDER_RECORDS'] = 'postgres';
process.env['LARDER_BLOBS'] = 's3';
const { stopsOnce, storeToServe } = await import('#test/jobs/releases/rollout-on-processes.ts');
const { furtherHostHas, newHost } = await import('#test/fixtures/processes/hosts.ts');

t.setTimeout(1_200_000);

t.test('two hosts stop a rollout once, within a minute', async (t) => {
  const url = 'http://127.0.0.1:8080';
  const served = await storeToServe(t, url);
  const { directory } = served.store;
  const further = join(t.testdir(), 'further');
  mkdirSync(further, { mode: 0o700 });
  for (const name of furtherHostHas(directory)) cpSync(join(directory, name), join(further, name), { recursive: true });
  const urls: string[] = [];
  for (const [at, data] of [directory, further].entries()) {
    const host = await newHost(t, `store-${at + 1}`, data, url);
    await host.start();
    urls.push(host.url);
  }
  await stopsOnce(t, served, urls);
});
