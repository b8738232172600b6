// The records of a store that many interleavings use one after the other, on either engine.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { migrations, newStore } from '#data/upgrade.ts';
import { sql } from '#engine/database.ts';
import { migrate } from '#engine/migrate.ts';
import { records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { startPostgres } from '#test/fixtures/servers/postgres.ts';
import type { LoggedEntry } from '../model.ts';
import { approvalPolicy, approver } from './approval-policy.ts';
import { connectToFile, connectToServer, type Connect, type Connection } from './store-process.ts';

export type EngineName = 'sqlite' | 'postgres';

export const owner = 'A'.repeat(32);

const at = '2026-03-01T12:00:00.000Z';

export interface TestStore {
  /** For files that are received. */
  folder: string;
  rootKeyId: string;
  /** Owned by `owner`. */
  package: PublishedPackage;
  /** Its releases wait for an approval; it has the revisions 1 and 2. */
  gated: PublishedPackage;
  /** An open connection that no process uses. */
  connect: Connect;
  addUploads(ids: readonly string[]): Promise<void>;
  /** Ends a session as the restore of a backup would: the versions of the tables are those from before. */
  replaceSession(sessionId: string): Promise<void>;
  lastEntry(): Promise<number>;
  readLog(after: number): Promise<LoggedEntry[]>;
  close(): Promise<void>;
}

/** In memory if the host has such a folder: no interleaving cuts the power. */
const memoryFolder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Where the records of stores are made, one store after the other. */
export interface StorePlace {
  newStore(): Promise<TestStore>;
  end(): Promise<void>;
}

export async function openPlace(engine: EngineName): Promise<StorePlace> {
  const newFolder = (): string => mkdtempSync(join(memoryFolder, 'larder-records-'));
  if (engine === 'sqlite') {
    return {
      async newStore() {
        const folder = newFolder();
        return makeStore(engine, connectToFile(join(folder, 'larder.db')), folder);
      },
      end: async () => undefined,
    };
  }
  const server = await startPostgres();
  return {
    newStore: async () => makeStore(engine, connectToServer(server.folder, await server.newDatabase()), newFolder()),
    end: () => server.end(),
  };
}

async function makeStore(engine: EngineName, connect: Connect, folder: string): Promise<TestStore> {
  const direct = await connect();
  await migrate(direct.db, migrations(engine), newStore(engine));
  const own = records(direct.db);
  const rootKeyId = randomUUID();
  await own.change({ at, actor: 'test', action: 'begin', object: 'store' }, async (tx) => {
    const fill = filler(tx, at);
    await fill.account(owner, 'ada');
    await fill.account(approver, 'bob');
    await tx.totpSecrets.set(approver, 'sealed', at);
    await tx.approvalPolicy.set(approvalPolicy, at);
    await fill.package({ id: 'tool', namespace: 'bin', name: 'tool', publisherId: owner });
    await fill.package({ id: 'gated', namespace: 'bin', name: 'gated', publisherId: owner });
    for (const revision of [1, 2]) await fill.revision({ packageId: 'gated', revision, createdBy: owner });
    await tx.rootKeys.add({ id: rootKeyId, sealed: 'sealed', createdAt: at });
  });
  const idle: Connection[] = [];
  return {
    folder,
    rootKeyId,
    package: (await own.packages.byId('tool'))!,
    gated: (await own.packages.byId('gated'))!,
    async connect() {
      const connection = idle.pop() ?? (await connect());
      return { ...connection, close: async () => void idle.push(connection) };
    },
    addUploads: (ids) =>
      own.ephemeral(async ({ unclaimedUploads }) => {
        const rest = { sha256: '0'.repeat(64), size: 1, address: '127.0.0.1', receivedAt: at };
        for (const id of ids) await unclaimedUploads.add({ id, sha3_384: id.padEnd(96, '0'), ...rest });
      }),
    replaceSession: (sessionId) =>
      direct.db.transaction(async (queries) => {
        const version = sql`SELECT version FROM noun_versions WHERE noun = 'macaroons'`;
        const before = (await queries.get<{ version: number }>(version))!;
        await queries.run(
          sql`UPDATE macaroons SET revoked_at = ${at}, revoked_by = 'test' WHERE session_id = ${sessionId}`,
        );
        await queries.run(sql`UPDATE noun_versions SET version = ${before.version} WHERE noun = 'macaroons'`);
      }),
    lastEntry: async () => (await own.audit.head())!.seq,
    async readLog(after) {
      const rows = await own.audit.list(after, 10_000);
      return rows.map(({ seq, action, object, actor, requestId, details, outcome }) => ({
        seq,
        action,
        object,
        actor,
        requestId,
        outcome: outcome ?? 'done',
        details: JSON.parse(details) as Record<string, unknown>,
      }));
    },
    async close() {
      for (const connection of idle) await connection.close();
      await direct.close();
      rmSync(folder, { recursive: true });
    },
  };
}
