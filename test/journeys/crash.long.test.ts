// The process is killed or stopped during load, again and again. Each acknowledged change exists, and there are no
// partial changes.
import { createHash, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import t, { type Test } from 'tap';

import { callStore, requestToken } from '#cli/store/prove/client.ts';
import { findLost, newLedger, publish, type Ledger } from '#cli/store/prove/publisher.ts';
import { recordsPlace } from '#data/records-place.ts';
import { inspectDatabase } from '#engine/place.ts';
import { auditHash, type AuditRow } from '#records/audit/audit.ts';
import { readConfig } from '#configuration/config.ts';
import { rowsIn } from '#test/fixtures/records/behind.ts';
import { halfReceived, readContent } from '#test/fixtures/contents.ts';
import { kill } from '#test/fixtures/processes/kill.ts';
import { dataFolder, larder, serve } from '#test/fixtures/processes/served.ts';
import { snapFixture } from '#test/fixtures/appliance.ts';
import { until } from '#test/fixtures/until.ts';

const long = process.env['LARDER_LONG'] === '1';
const kills = long ? 30 : 3;
const stops = long ? 20 : 2;
const clients = 4;
t.setTimeout(1_800_000);

t.test('killed, it loses nothing that was acknowledged, and leaves nothing half done', (t) =>
  interrupted(t, kills, 'SIGKILL'),
);

t.test('a stop under load ends in order, and loses no acknowledged change', (t) => interrupted(t, stops, 'SIGTERM'));

async function interrupted(t: Test, times: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const data = dataFolder(t);
  const made = await larder('init', '--data', data);
  const credential = readFileSync(made['admin-macaroon-file'] ?? '', 'utf8');
  const snap = await snapFixture('app-xz');
  let token = '';
  const ledgers = Array.from({ length: clients }, (_, at) =>
    at === 0 ? newLedger('snap', 'tiny-app') : newLedger('bin', `package-${at}`),
  );

  for (let round = 0; round <= times; round++) {
    t.equal((await larder('audit', 'verify', '--data', data))['good'], true, 'the audit log is whole, and sealed');
    const served = await serve(data);
    t.teardown(() => kill(served.process));
    t.same(halfReceived(data), [], 'no upload is left half received');
    const client = { url: served.url, credential, token };
    if (token === '') {
      token = client.token = ((await requestToken(client)).body as { macaroon: string }).macaroon;
      for (const { namespace, name } of ledgers)
        t.equal((await callStore(client, 'POST', `/v1/${namespace}`, { name })).status, 200);
    }
    for (const ledger of ledgers) {
      t.same(await findLost(ledger, client), [], `${ledger.name}: nothing is lost`);
      holdsUploads(t, data, ledger);
    }
    await isWhole(t, data);
    if (round === times) {
      t.equal(await served.stop(), 0, 'and it can still be stopped in order');
      break;
    }

    const before = ledgers.map(({ uploads }) => uploads.size);
    const work = { choose: (limit: number) => randomInt(limit), snap, isOver: () => served.process.killed };
    const all = Promise.all(ledgers.map((ledger) => publish(ledger, client, work)));
    // On a slow machine too, each client has an acknowledged change at the end; in the last round, a release.
    await until(
      () =>
        ledgers.every(({ uploads }, at) => uploads.size > before[at]!) &&
        (round + 1 < times || ledgers.some(hasMuchToLose)),
      all,
    );
    await sleep(randomInt(0, 850));
    served.process.kill(signal);
    if (served.process.exitCode === null && served.process.signalCode === null) await once(served.process, 'exit');
    await all;
    for (const { name, serverErrors } of ledgers) t.same(serverErrors, [], `${name}: no request failed before`);
    if (signal === 'SIGTERM') {
      t.equal(served.process.exitCode, 0);
      t.match(served.log(), /"msg":"stopping"\}[^]*"msg":"stopped"\}\n$/);
      t.notMatch(served.log(), /"level":"(?:error|fatal)"/);
      t.equal((await larder('verify', '--data', data))['good'], true, 'and all is as it was written');
    }
  }
  for (const { name, revisions, uploads } of ledgers) {
    t.ok(uploads.size > 0, `${name}: ${uploads.size} uploads and ${revisions.size} revisions were acknowledged`);
  }
  t.ok(ledgers.some(hasMuchToLose), 'there was something to lose');
}

const hasMuchToLose = ({ revisions, channels }: Ledger): boolean => revisions.size > 1 && channels.size > 0;

/** Finds each acknowledged upload in the database, with its digest. */
function holdsUploads(t: Tap, data: string, { name, uploads }: Ledger): void {
  const rows = rowsIn<{ id: string; sha3_384: string }>(data, 'SELECT id, sha3_384 FROM uploads');
  const digests = new Map(rows.map(({ id, sha3_384: digest }) => [id, digest]));
  t.same(
    [...uploads].filter(([upload, digest]) => digests.get(upload) !== digest),
    [],
    `${name}: each upload is there`,
  );
}

/** Looks at the data itself: every row has its content, every chain its links. */
async function isWhole(t: Tap, data: string): Promise<void> {
  const place = recordsPlace(data, readConfig(join(data, 'larder.toml')), undefined);
  t.same(await inspectDatabase(place, {}), { pages: [], rows: [] });
  const contents = rowsIn<{ sha3_384: string; size: number }>(
    data,
    'SELECT sha3_384, size FROM uploads UNION SELECT sha3_384, size FROM revisions',
  );
  const damaged = contents.filter(({ sha3_384: digest, size }) => {
    const bytes = readContent(data, digest);
    return bytes.length !== size || createHash('sha3-384').update(bytes).digest('hex') !== digest;
  });
  t.same(damaged, [], `each of ${contents.length} contents is there and has its digest`);
  t.same(
    rowsIn(
      data,
      `SELECT id FROM uploads WHERE status = 'approved' AND NOT EXISTS (
      SELECT 1 FROM revisions WHERE revisions.package_id = uploads.package_id AND revisions.revision = uploads.revision)`,
    ),
    [],
    'what is approved has its revision',
  );
  let previous = '0'.repeat(64);
  const rows = rowsIn<AuditRow>(
    data,
    'SELECT seq, at, actor, session_id AS "sessionId", action, object, request_id AS "requestId", details, previous, hash, outcome FROM audit ORDER BY seq',
  );
  const broken = rows.filter((row, at) => {
    const follows = row.seq === at + 1 && row.previous === previous && row.hash === auditHash(row);
    previous = row.hash;
    return !follows;
  });
  t.same(broken, [], `the audit log of ${rows.length} rows is one chain`);
}

type Tap = Pick<typeof t, 'same'>;
