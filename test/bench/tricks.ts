// The savings of single optimizations, each beside the plain way: processor time, which does not depend on other
// processes. Optimizations that only show in a whole request are measured by `permissions`.
import { createHmac, createSecretKey, hash, hkdfSync, randomBytes } from 'node:crypto';
import { mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import Router from '@koa/router';
import SQLite from 'better-sqlite3';
import { pino } from 'pino';

import { readAuthorization } from '#access/header-tokens.ts';
import { toBlockList } from '#http/request/client-address.ts';
import { createTriggers } from '#engine/sqlite/digest-triggers.ts';
import { defineDigest } from '#engine/sqlite/row-digests.ts';
import { operations } from '#operations/index.ts';
import { openRecords } from '#test/fixtures/records/writable.ts';
import { median } from './harness/measure.ts';

/** Prints microseconds of each way. */
export async function tricks(): Promise<void> {
  console.log('tricks for speed: processor time of one call');
  keys();
  statements();
  await triggers();
  addresses();
  copies();
  lines();
  lists();
  calls();
  tokens();
  bits();
}

/** `hmacText` of macaroons/codec/macaroon.ts, and the keys that records/audit/audit-seals.ts keeps. */
function keys(): void {
  const key = randomBytes(32);
  const [text, data] = [key.toString('latin1'), randomBytes(80)];
  const object = createSecretKey(key);
  const asText = { encoding: 'latin1' } as const;
  cost('a keyed digest', 20_000, {
    'key and digest as text': () => createHmac('sha256', text, asText).update(data).digest('binary'),
    'as Buffers': () => createHmac('sha256', key).update(data).digest(),
    'as a key object': () => createHmac('sha256', object).update(data).digest(),
  });
  const derivedKeys = new Map([['purpose', key]]);
  cost('a key derived for a purpose', 20_000, {
    kept: () => derivedKeys.get('purpose'),
    'derived each time': () => hkdfSync('sha256', key, '', 'purpose', 32),
  });
}

/** `sqliteText` and the statements kept of engine/sqlite/driver.ts, `commitCounter`, and `readThroughWriter`. */
function statements(): void {
  const directory = mkdtempSync(join(tmpdir(), 'larder-tricks-'));
  const db = new SQLite(join(directory, 'larder.db'));
  db.pragma('journal_mode = WAL');
  db.exec(`
    CREATE TABLE packages (id TEXT PRIMARY KEY, name TEXT, ended_at TEXT, owner TEXT) STRICT;
    CREATE TABLE accounts (id TEXT PRIMARY KEY, username TEXT) STRICT;
    CREATE INDEX by_name ON packages (name) WHERE ended_at IS NULL;
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
      INSERT INTO packages SELECT 'p' || i, 'n' || i, NULL, 'a' || (i % 100) FROM n;
    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO accounts SELECT 'a' || i, 'u' || i FROM n;
    ANALYZE`);
  const text = (parameter: string): string => `
    SELECT packages.id, accounts.username FROM packages JOIN accounts ON accounts.id = packages.owner
    WHERE name = ${parameter} AND ended_at IS NULL`;
  const [hidden, plain] = [db.prepare(text('+?')), db.prepare(text('?'))];
  let number = 0;
  const name = (): string => `n${String(number++ % 10_000)}`;
  cost('a join', 10_000, {
    'its value as +?': () => hidden.get(name()),
    'as ?': () => plain.get(name()),
    'prepared anew each time': () => db.prepare(text('+?')).get(name()),
  });

  const index = openSync(join(directory, 'larder.db-shm'), 'r');
  const [current, last] = [Buffer.alloc(48), Buffer.alloc(48)];
  const version = db.prepare('PRAGMA data_version').pluck();
  cost('whether anything was committed', 20_000, {
    'the header of the WAL index': () => readSync(index, current, 0, 48, 0) + current.compare(last),
    'PRAGMA data_version': () => version.get(),
  });
  const other = new SQLite(join(directory, 'larder.db'));
  const elsewhere = other.prepare(text('+?'));
  const change = db.prepare(`UPDATE packages SET owner = ? WHERE id = 'p1'`);
  const commit = (): unknown => change.run(`a${String(number % 100)}`);
  cost('a commit and a read after it', 2000, {
    'through the connection that commits': () => (commit(), hidden.get(name())),
    'through another one': () => (commit(), elsewhere.get(name())),
  });
  other.close();
  db.close();
  rmSync(directory, { recursive: true, force: true });
}

/** `DigestTriggers` of engine/sqlite/digest-triggers.ts. */
async function triggers(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'larder-tricks-'));
  await (await openRecords(directory, { siteKey: randomBytes(32) })).close();
  const connect = (work?: (db: SQLite.Database) => void) => () => {
    const db = new SQLite(join(directory, 'larder.db'));
    db.prepare('SELECT 1 FROM accounts').get();
    work?.(db);
    db.close();
  };
  cost('a connection with the triggers for row digests', 10, {
    'of three tables': connect((db) => createTriggers(db, ['accounts', 'packages', 'releases'])),
    'of all tables': connect((db) => createTriggers(db)),
    'of none': connect(),
  });
  const db = new SQLite(join(directory, 'larder.db'));
  const tables = ['accounts', 'packages', 'releases'];
  defineDigest(db);
  createTriggers(db, tables);
  const change = db.prepare('DELETE FROM releases WHERE 0');
  cost('the change after a refused one', 100, {
    'triggers kept': () => change.run(),
    'triggers made again': () => {
      createTriggers(db, tables);
      change.run();
    },
  });
  db.close();
  rmSync(directory, { recursive: true, force: true });
}

/** `createRouteTable` of http/route-table.ts. */
function addresses(): void {
  const paths = [...new Set(operations.map(({ path }) => path))];
  const byPath = new Map(paths.map((path) => [path, path]));
  const router = new Router({ strict: true, sensitive: true });
  for (const path of paths) router.register(path, ['GET'], () => undefined);
  const address = '/internal/v1/package-permissions';
  cost('the operation at an address without parameters', 5_000, {
    'by its name': () => byPath.get(address),
    'matched as the others are': () => router.match(address, ''),
  });
}

/** `asPackage` of records/packages/packages.ts. */
function copies(): void {
  const row = Object.fromEntries(Array.from('abcdefghijklmnopq', (name) => [name, `value of ${name}`]));
  cost('a row without one of its members', 20_000, {
    'member by member': () => ({
      a: row['a'],
      b: row['b'],
      c: row['c'],
      d: row['d'],
      e: row['e'],
      f: row['f'],
      g: row['g'],
      h: row['h'],
      i: row['i'],
      j: row['j'],
      k: row['k'],
      l: row['l'],
      m: row['m'],
      n: row['n'],
      o: row['o'],
      p: row['p'],
    }),
    'what is left over': () => {
      const { q, ...rest } = row;
      return q === undefined ? row : rest;
    },
  });
}

/** `gathered` of log.ts: thirty lines and more are written together. */
function lines(): void {
  const together = 16_000;
  const nowhere = { dest: '/dev/null', sync: true };
  const ofBytes = pino.destination({ ...nowhere, contentMode: 'buffer' }) as unknown as {
    write(bytes: Buffer): void;
  };
  const ofText = pino.destination({ ...nowhere, minLength: together });
  const bytes = Buffer.allocUnsafe(2 * together);
  let [used, number] = [0, 0];
  const line = (): string => `${JSON.stringify({ level: 30, requestId: 'x'.repeat(36), number: number++ })}\n`;
  cost('a line of the log', 100_000, {
    'gathered as bytes': () => {
      used += bytes.write(line(), used);
      if (used < together) return;
      ofBytes.write(Buffer.from(bytes.subarray(0, used)));
      used = 0;
    },
    'gathered as text': () => ofText.write(line()),
    'making it': line,
  });
}

/** `toBlockList` of http/request/client-address.ts, which every request asks. */
function lists(): void {
  const networks = ['10.0.0.0/8', '192.168.0.0/16'];
  cost('the networks of the configuration', 5_000, {
    'kept by the configuration': () => toBlockList(networks),
    'made anew each time': () => toBlockList([...networks]),
  });
}

/** `handlerCall` of http/handler-call.ts. */
function calls(): void {
  const services = Object.fromEntries(Array.from({ length: 42 }, (_, at) => [`service${at}`, at]));
  const parts = { params: {}, query: {}, request: {}, response: {}, address: '', requestId: '', body: {} };
  cost('the argument of a handler', 5_000, {
    'inherits the services': () => Object.assign(Object.create(services) as object, parts),
    'copies the services': () => ({ ...services, ...parts }),
  });
}

/** `readAuthorization` of access/header-tokens.ts. Its list is the key under which macaroons/token-checker.ts finds verified tokens. */
function tokens(): void {
  const header = `Macaroon ${'x'.repeat(400)}`;
  const socket = new Socket();
  const verified = new Map([[hash('sha256', 'x'.repeat(400), 'base64'), {}]]);
  const verifiedLists = new WeakMap([[readAuthorization({ socket }, header), {}]]);
  cost('the verified tokens of a request', 20_000, {
    'by their list': () => verifiedLists.get(readAuthorization({ socket }, header)),
    'by their digest': () => {
      const [text = ''] = readAuthorization({ socket: Object.create(Socket.prototype) as Socket }, header);
      return verified.get(hash('sha256', text, 'base64'));
    },
  });
}

/** The range coder of review/squashfs/lzma2.ts, which takes a step for every bit of a snap that it unpacks. */
function bits(): void {
  const input = randomBytes(1 << 16);
  const coder = { range: -1, code: 0x1234567, at: 0 };
  const signed = (probability: number): number => {
    const bound = Math.imul(coder.range >>> 11, probability);
    const isLow = coder.code >>> 0 < bound >>> 0;
    coder.range = isLow ? bound : (coder.range - bound) | 0;
    if (!isLow) coder.code = (coder.code - bound) | 0;
    if (coder.range >>> 24 === 0) {
      coder.range <<= 8;
      coder.code = (coder.code << 8) | input[coder.at++ & 0xffff]!;
    }
    return isLow ? 0 : 1;
  };
  const plain = { range: 0xffffffff, code: 0x1234567, at: 0 };
  const unsigned = (probability: number): number => {
    const bound = (plain.range >>> 11) * probability;
    const isLow = plain.code < bound;
    plain.range = isLow ? bound : plain.range - bound;
    if (!isLow) plain.code -= bound;
    if (plain.range < 0x1000000) {
      plain.range = (plain.range << 8) >>> 0;
      plain.code = ((plain.code << 8) | input[plain.at++ & 0xffff]!) >>> 0;
    }
    return isLow ? 0 : 1;
  };
  const thousand = (bit: (probability: number) => number) => (): number => {
    let ones = 0;
    for (let index = 0; index < 1000; index++) ones += bit(1024 + (index & 511));
    return ones;
  };
  cost('a thousand bits that LZMA unpacks', 2_000, {
    'numbers kept as signed ones': thousand(signed),
    'as unsigned ones': thousand(unsigned),
  });
}

/** The last result. Keeping it stops the compiler from removing unused work. */
const lastResults: unknown[] = Array.from({ length: 100 });

/** The median of several rounds, after a warm-up round. */
function cost(title: string, times: number, ways: Record<string, () => unknown>): void {
  console.log(`  ${title}`);
  for (const [way, call] of Object.entries(ways)) {
    const rounds: number[] = [];
    for (let round = 0; round <= 7; round++) {
      const before = process.cpuUsage();
      for (let time = 0; time < times; time++) lastResults[time % lastResults.length] = call();
      const { user, system } = process.cpuUsage(before);
      if (round > 0) rounds.push((user + system) / times);
    }
    console.log(`    ${way.padEnd(28)} ${median(rounds).toFixed(2).padStart(8)} µs`);
  }
}
