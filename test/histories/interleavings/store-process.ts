// A process of a store, as far as it changes and reads records: its own connections, caches, leases and clock.
import { randomUUID } from 'node:crypto';

import SQLite from 'better-sqlite3';

import { createActs } from '#acts/door.ts';
import type { Acts } from '#acts/act.ts';
import type { Database, Queries } from '#engine/database.ts';
import { openPostgres } from '#engine/postgres/driver.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { records, type WritableRecords } from '#records/index.ts';
import { createLeases, type OwnLeases } from '#shared/leases.ts';
import { createExclusiveRemoval } from '#shared/exclusive-removal.ts';
import { S3Contents } from '#src/blobs/s3/contents.ts';
import { latestTime, type LatestTime } from '#src/macaroons/latest-time.ts';
import { startProxy, type Proxy } from '#test/fixtures/servers/postgres-proxy.ts';
import { runAs, type Door, type Doors, type Passenger } from './doors.ts';
import type { MemoryBucket } from './memory-bucket.ts';
import { approvalPolicy } from './approval-policy.ts';

/** A connection to the database of a store, which can be broken as by the end of its process. */
export interface Connection {
  db: Database;
  break(): void;
  /** A failure of a change at the database; undefined for one that it brings about itself. */
  failChange(): Error | undefined;
  close(): Promise<void>;
}

/** Opens the records of a store. */
export type Connect = () => Promise<Connection>;

/** Opens a database file; the connections of a process that ends are closed with their locks. */
export const connectToFile =
  (file: string): Connect =>
  async () => {
    const opened = new Set<SQLite.Database>();
    const { pragma } = SQLite.prototype;
    SQLite.prototype.pragma = function (this: SQLite.Database, ...rest: Parameters<typeof pragma>) {
      opened.add(this);
      return pragma.apply(this, rest);
    };
    try {
      const db = openSqlite(file);
      return {
        db,
        break: () => opened.forEach((connection) => connection.close()),
        failChange: () => new SQLite.SqliteError('database or disk is full', 'SQLITE_FULL'),
        close: () => db.close(),
      };
    } finally {
      SQLite.prototype.pragma = pragma;
    }
  };

/** Opens a database on a server, through a proxy of its own; a failing change loses its connection at the commit. */
export const connectToServer =
  (folder: string, address: string): Connect =>
  async () => {
    const proxy: Proxy = await startProxy(folder);
    const db = await openPostgres(address.replace(encodeURIComponent(folder), encodeURIComponent(proxy.folder)));
    let cuts = 0;
    return {
      db,
      break: () => void proxy.end(),
      failChange: () => {
        proxy.next = cuts++ % 2 === 0 ? 'is cut behind' : 'is cut before';
        return undefined;
      },
      async close() {
        await db.close();
        await proxy.end();
      },
    };
  };

const actRules = { approvals: () => approvalPolicy, reauthentication: { acts: [], minutes: 0 } };

/** The clocks of two hosts differ by this much. */
const maxShiftMs = 3000;

export class StoreProcess implements Passenger {
  readonly name: string;
  readonly #doors: Doors;
  readonly #connection: Connection;
  readonly records: WritableRecords;
  readonly acts: Acts;
  readonly leases: OwnLeases;
  readonly contents: S3Contents;
  readonly latestTime: LatestTime;
  readonly #ended = Promise.withResolvers<undefined>();
  readonly intervals = new Set<NodeJS.Timeout>();
  hasEnded = false;
  shiftMs = 0;

  constructor(name: string, connection: Connection, { doors, bucket, time }: ProcessSurroundings) {
    this.name = name;
    this.#doors = doors;
    this.#connection = connection;
    const now = (): Date => new Date(time() + this.shiftMs);
    const elapsed = time;
    this.records = records(this.#throughDoors(connection.db));
    this.acts = createActs(this.records, now, () => actRules);
    this.leases = createLeases({ records: this.records, holder: `${name} ${randomUUID()}`, now });
    this.latestTime = latestTime(now, elapsed);
    const removals = createExclusiveRemoval({ records: this.records, now, elapsed });
    const parts = { bucket: bucket.seenBy(this), removals, now, isMd5: true, remember: () => undefined };
    this.contents = new S3Contents('/nowhere', parts);
  }

  /** Runs the work of a client; undefined if the process ends before it has an answer. */
  run<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    return Promise.race([runAs(this.#doors, this, work), this.#ended.promise]);
  }

  end(): void {
    this.hasEnded = true;
    for (const interval of this.intervals) clearInterval(interval);
    this.#connection.break();
    this.#ended.resolve(undefined);
  }

  setClock(): void {
    this.shiftMs = this.shiftMs === 0 ? maxShiftMs : -this.shiftMs;
  }

  failureAt(door: Door): Error | undefined {
    if (door === 'blobs') return new Error('the bucket is away');
    return door === 'change' ? this.#connection.failChange() : undefined;
  }

  async close(): Promise<void> {
    if (!this.hasEnded) await this.#connection.close();
  }

  #throughDoors(db: Database): Database {
    const pass = (door: Door): Promise<void> => this.#doors.pass(this, door);
    const read = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      await pass('database');
      const result = await work();
      await pass('answer');
      return result;
    };
    const through = (queries: Queries): Queries => ({
      ...queries,
      async run(statement) {
        await pass('change');
        return queries.run(statement);
      },
    });
    return {
      ...db,
      get: (statement) => read(() => db.get(statement)),
      all: (statement) => read(() => db.all(statement)),
      version: db.server === undefined ? db.version : () => read(async () => db.version()),
      async transaction(work) {
        await pass('database');
        try {
          return await db.transaction((queries, commit) => work(through(queries), commit));
        } finally {
          await pass('answer');
        }
      },
    };
  }
}

export interface ProcessSurroundings {
  doors: Doors;
  bucket: MemoryBucket;
  /** The true time, in milliseconds since 1970. */
  time: () => number;
}
