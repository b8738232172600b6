// The writes of a change as plain statements: a database with the tables and the indexes of a store and none of its
// triggers, one commit per change, each synced. It is a process of its own beside the measured store, and measures a
// number of changes on request. Over HTTP it does the same change for each request, and commits waiting changes
// together: the upper bound for everything built on node:http.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

import SQLite from 'better-sqlite3';

import type { Measured } from './load.ts';

/** The kind of change, the names for it in order, and the revision to release. */
export interface RawWrites {
  change: 'register_name' | 'release';
  names: string[];
  revision: number;
}

const db = new SQLite(process.argv[2] ?? '');
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
db.pragma('cache_size = -16384');
const triggers = db.prepare<[], string>(`SELECT name FROM sqlite_master WHERE type = 'trigger'`).pluck();
for (const name of triggers.all()) db.exec(`DROP TRIGGER "${name}"`);

const at = new Date().toISOString();
const text = (bytes: number): string => randomBytes(bytes).toString('hex');
const account = db.prepare<[], string>('SELECT id FROM accounts').pluck().get()!;
const newest = db.prepare<[string], string>("SELECT id FROM packages WHERE namespace = 'snap' AND name = ?").pluck();
const seqOf = db
  .prepare<[string], number>('SELECT coalesce(max(seq), 0) FROM past_releases WHERE package_id = ?')
  .pluck();
let seq = db.prepare<[], number>('SELECT max(seq) FROM audit').pluck().get()!;

const addPackage = db.prepare(`
  INSERT INTO packages (id, namespace, name, type, publisher_id, private, status, links, created_at)
  VALUES (?, 'snap', ?, 'snap', ?, 0, 'registered', '{}', ?)`);
const fill = db.prepare(`
  INSERT INTO releases (package_id, channel, slot, progressive, architecture, revision, resources, released_at)
  VALUES (?, 'latest/stable', 'amd64', 0, 'amd64', ?, '[]', ?)
  ON CONFLICT DO UPDATE SET revision = excluded.revision, released_at = excluded.released_at`);
const addPast = db.prepare(`
  INSERT INTO past_releases (package_id, seq, channel, slot, revision, before, released_at, released_by)
  VALUES (?, ?, 'latest/stable', 'amd64', ?, ?, ?, ?)`);
const mark = db.prepare(`UPDATE revisions SET status = 'released' WHERE package_id = ? AND revision = ?`);
const digest = db.prepare(`
  INSERT INTO row_digests (of_table, row, digest) VALUES (?, json_array(?, ?), ?) ON CONFLICT DO UPDATE SET digest = excluded.digest`);
const addAudit = db.prepare(`
  INSERT INTO audit (seq, at, actor, session_id, action, object, request_id, details, previous, hash, outcome)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'done')`);
const end = db.prepare(`UPDATE noun_versions SET version = ?, hash = ?, mac = ? WHERE noun = 'audit'`);
const raise = db.prepare(`UPDATE noun_versions SET version = version + 1 WHERE noun = ?`);

function audit(action: string, object: string, details: string): void {
  const hash = text(32);
  addAudit.run(++seq, at, account, text(16), action, object, text(16), details, text(32), hash);
  end.run(seq, hash, text(32));
}

const changes: Record<RawWrites['change'], (name: string, revision: number) => void> = {
  register_name(name) {
    const id = text(16);
    addPackage.run(id, name, account, at);
    digest.run('packages', id, null, randomBytes(16));
    raise.run('packages');
    audit('register_name', `snap/${name}`, JSON.stringify({ id, account }));
  },
  release(name, revision) {
    const id = newest.get(name)!;
    const past = (seqOf.get(id) ?? 0) + 1;
    fill.run(id, revision, at);
    digest.run('releases', id, 'latest/stable', randomBytes(16));
    addPast.run(id, past, revision, revision, at, account);
    digest.run('past_releases', id, past, randomBytes(16));
    mark.run(id, revision);
    digest.run('revisions', id, revision, randomBytes(16));
    raise.run('revisions');
    audit('push_releases', `snap/${name}`, JSON.stringify({ releases: [['latest/stable', revision]] }));
  },
};

const commits = {
  register_name: db.transaction(changes.register_name).immediate,
  release: db.transaction(changes.release).immediate,
};

process.on('message', (message: RawWrites | 'stop') => {
  if (message === 'stop') process.exit(0);
  const { change, names, revision } = message;
  const times: number[] = [];
  const began = performance.now();
  for (const name of names) {
    const sent = performance.now();
    commits[change](name, revision);
    times.push(performance.now() - sent);
  }
  const took = performance.now() - began;
  times.sort((a, b) => a - b);
  const part = (share: number): number => times[Math.floor(times.length * share)] ?? NaN;
  const measured: Measured = {
    requests: times.length,
    requestsPerSecond: (times.length / took) * 1000,
    p50: part(0.5),
    p99: part(0.99),
    failures: 0,
  };
  process.send?.(measured);
});

/** Does what a request of a publisher asks for, to register a name or to release a revision of a package. */
async function answer(request: IncomingMessage): Promise<unknown> {
  const body = (await json(request)) as { name: string } | [{ revision: number }];
  if ('name' in body) await together(() => changes.register_name(body.name, 0));
  else await together(() => changes.release(request.url!.split('/')[3]!, body[0].revision));
  return body;
}

let waiting: { change: () => void; done: () => void }[] = [];
const commitAll = db.transaction((all: typeof waiting) => {
  for (const { change } of all) change();
}).immediate;

function together(change: () => void): Promise<void> {
  return new Promise((done) => {
    if (waiting.push({ change, done }) > 1) return;
    setImmediate(() => {
      const all = waiting;
      waiting = [];
      commitAll(all);
      for (const waiter of all) waiter.done();
    });
  });
}

const server = createServer((request, response) => {
  void answer(request).then((result) => {
    const body = JSON.stringify(result);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
  });
});
server.keepAliveTimeout = 600_000; // a client that measures waits for its turn
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
