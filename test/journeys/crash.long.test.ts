// The process is killed or stopped during load, again and again. Each acknowledged change exists, and there are no
// partial changes.
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import t, { type Test } from 'tap';

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

/** The changes that are acknowledged to one client. */
interface Told {
  namespace: 'bin' | 'snap';
  name: string;
  names: Map<string, string>;
  uploads: Map<string, string>;
  pushes: Set<string>;
  revisions: Map<number, string>;
  /** The newest revision in each channel; every release is of a newer one. */
  channels: Map<string, number>;
  title: number;
  revoked: Set<string>;
}

type Call = (method: string, path: string, body?: unknown, token?: string) => Promise<Answer>;
interface Answer {
  status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the caller knows the shape
  body: any;
}

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
  const told: Told[] = Array.from({ length: clients }, (_, at) => ({
    namespace: at === 0 ? 'snap' : 'bin',
    name: at === 0 ? 'tiny-app' : `package-${at}`,
    names: new Map(),
    uploads: new Map(),
    pushes: new Set(),
    revisions: new Map(),
    channels: new Map(),
    title: 0,
    revoked: new Set(),
  }));

  for (let round = 0; round <= times; round++) {
    t.equal((await larder('audit', 'verify', '--data', data))['good'], true, 'the audit log is whole, and sealed');
    const served = await serve(data);
    t.teardown(() => kill(served.process));
    t.same(halfReceived(data), [], 'no upload is left half received');
    const call: Call = async (method, path, body, bearer = token) => {
      const response = await fetch(served.url + path, {
        method,
        headers: { ...(bearer !== '' && { authorization: `Macaroon ${bearer}` }), 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const answer = { status: response.status, body: await response.json() };
      if (answer.status >= 500) throw new Error(`cannot go on: ${answer.status} to ${method} ${path}`);
      return answer;
    };
    if (token === '') {
      token = (
        (await call('POST', '/v1/tokens/offline/exchange', { macaroon: credential }, '')).body as { macaroon: string }
      ).macaroon;
      for (const { namespace, name } of told) await call('POST', `/v1/${namespace}`, { name });
    }
    await reviewed(call, told);
    for (const one of told) await holds(t, call, data, one);
    await isWhole(t, data);
    if (round === times) {
      t.equal(await served.stop(), 0, 'and it can still be stopped in order');
      break;
    }

    const before = told.map(({ uploads }) => uploads.size);
    const work = told.map((one) =>
      workUntilCutOff(one, call, served.url, credential, snap, () => served.process.killed),
    );
    // On a slow machine too, each client has an acknowledged change at the end; in the last round, a release.
    await until(
      () =>
        told.every(({ uploads }, at) => uploads.size > before[at]!) && (round + 1 < times || told.some(hasMuchToLose)),
      Promise.all(work),
    );
    await sleep(randomInt(0, 850));
    served.process.kill(signal);
    if (served.process.exitCode === null && served.process.signalCode === null) await once(served.process, 'exit');
    await Promise.all(work);
    if (signal === 'SIGTERM') {
      t.equal(served.process.exitCode, 0);
      t.match(served.log(), /"msg":"stopping"\}[^]*"msg":"stopped"\}\n$/);
      t.notMatch(served.log(), /"level":"(?:error|fatal)"/);
      t.equal((await larder('verify', '--data', data))['good'], true, 'and all is as it was written');
    }
  }
  for (const { name, revisions, uploads } of told) {
    t.ok(uploads.size > 0, `${name}: ${uploads.size} uploads and ${revisions.size} revisions were acknowledged`);
  }
  t.ok(told.some(hasMuchToLose), 'there was something to lose');
}

const hasMuchToLose = ({ revisions, channels }: Told): boolean => revisions.size > 1 && channels.size > 0;

/** Does everything that a publisher does, and notes each answer, until there is none. */
async function workUntilCutOff(
  told: Told,
  call: Call,
  url: string,
  credential: string,
  snap: Buffer,
  isOver: () => boolean,
): Promise<void> {
  const { namespace, name } = told;
  const path = `/v1/${namespace}/${name}`;
  try {
    for (;;) {
      const random = randomBytes(randomInt(0, 100_000));
      // Bytes behind the end of a squashfs are allowed, and make another file of it.
      const content = namespace === 'snap' ? Buffer.concat([snap, random]) : random;
      const form = new FormData();
      form.set('binary', new Blob([content]), 'file');
      const sent = await fetch(`${url}/unscanned-upload/`, { method: 'POST', body: form });
      const { upload_id: upload } = (await sent.json()) as { upload_id: string };
      told.uploads.set(upload, createHash('sha3-384').update(content).digest('hex'));

      const pushed = await call('POST', `${path}/revisions`, { 'upload-id': upload });
      if (pushed.status !== 200) throw new Error(`cannot push: ${JSON.stringify(pushed.body)}`);
      told.pushes.add(upload);
      for (;;) {
        const [review] = (await call('GET', pushed.body['status-url'] as string)).body.revisions;
        if (review.status === 'rejected') throw new Error(`cannot go on: ${JSON.stringify(review)}`);
        if (review.status === 'approved') {
          told.revisions.set(review.revision, told.uploads.get(upload) ?? '');
          const channel = `latest/${['edge', 'beta', 'edge/branch'][randomInt(3)] ?? ''}`;
          const released = await call('POST', `${path}/releases`, [{ channel, revision: review.revision }]);
          if (released.status === 200) told.channels.set(channel, review.revision);
          break;
        }
        await sleep(5);
      }

      const changed = await call('PATCH', path, { title: String(told.title + 1) });
      if (changed.status === 200) told.title++;
      const other = `name-${randomBytes(6).toString('hex')}`;
      const registered = await call('POST', '/v1/bin', { name: other });
      if (registered.status === 200) told.names.set(other, registered.body.id);
      const { macaroon } = (await call('POST', '/v1/tokens/offline/exchange', { macaroon: credential }, '')).body;
      const { macaroons } = (await call('GET', '/v1/tokens', undefined, macaroon)).body as {
        macaroons: { 'session-id': string }[];
      };
      const session = sessionOf(
        macaroon as string,
        macaroons.map((one) => one['session-id']),
      );
      if ((await call('POST', '/v1/tokens/revoke', { 'session-id': session })).status === 200)
        told.revoked.add(macaroon);
    }
  } catch (error) {
    // fetch throws a TypeError when the connection ends, and JSON a SyntaxError when the answer was cut.
    if (isOver() && (error instanceof TypeError || error instanceof SyntaxError)) return;
    throw error;
  }
}

/** Which of the sessions a token is; its caveats are not secret to its holder. */
const sessionOf = (token: string, sessions: string[]): string | undefined => {
  const text = Buffer.from(token, 'base64url').toString('latin1');
  return sessions.find((session) => text.includes(session));
};

/** Waits for the end of the pending reviews. */
async function reviewed(call: Call, told: Told[]): Promise<void> {
  for (const { namespace, name } of told) {
    for (;;) {
      const { revisions } = (await call('GET', `/v1/${namespace}/${name}/revisions/review`)).body as {
        revisions: { status: string }[];
      };
      if (!revisions.some(({ status }) => status === 'new')) break;
      await sleep(10);
    }
  }
}

/** Compares the acknowledged changes of a client with the state of the store. */
async function holds(t: Tap, call: Call, data: string, told: Told): Promise<void> {
  const { namespace, name } = told;
  const path = `/v1/${namespace}/${name}`;
  const lost: string[] = [];
  for (const [other, id] of told.names) {
    const { body } = await call('GET', `/v1/bin/${other}?fields=id`);
    if (body.metadata?.id !== id) lost.push(`the name ${other}`);
  }
  const { revisions } = (await call('GET', `${path}/revisions?limit=500&fields=revision,sha3-384`)).body as {
    revisions: { revision: number; 'sha3-384': string }[];
  };
  t.same(
    revisions.map(({ revision }) => revision),
    [...revisions.keys()].map((at) => revisions.length - at),
    `${name}: no gap in the revisions`,
  );
  const held = new Map(revisions.map((one) => [one.revision, one['sha3-384']]));
  for (const [revision, digest] of told.revisions) if (held.get(revision) !== digest) lost.push(`revision ${revision}`);
  for (const upload of told.pushes) {
    const { status, body } = await call('GET', `${path}/revisions/review?upload-id=${upload}`);
    if (status !== 200 || body.revisions.length !== 1 || body.revisions[0].status !== 'approved')
      lost.push(`the push of ${upload}`);
  }
  const map = (await call('GET', `${path}/releases`)).body['channel-map'] as { channel: string; revision: number }[];
  for (const [channel, revision] of told.channels) {
    const now = map.find((entry) => entry.channel === channel)?.revision ?? 0;
    if (now < revision) lost.push(`the release of ${revision} to ${channel}, which holds ${now}`);
  }
  const { title } = (await call('GET', `${path}?fields=title`)).body.metadata as { title: string | null };
  if (Number(title ?? 0) < told.title) lost.push(`the title ${told.title}, which is ${String(title)}`);
  told.title = Math.max(told.title, Number(title ?? 0));
  for (const token of told.revoked) {
    if ((await call('GET', '/v1/tokens/whoami', undefined, token)).status !== 401)
      lost.push('the revocation of a token');
  }
  const uploads = rowsIn<{ id: string; sha3_384: string }>(data, 'SELECT id, sha3_384 FROM uploads');
  const digests = new Map(uploads.map((one) => [one.id, one.sha3_384]));
  for (const [upload, digest] of told.uploads) if (digests.get(upload) !== digest) lost.push(`the upload ${upload}`);
  t.same(lost, [], `${name}: nothing is lost`);
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
