// Counts: how much the store contains.
import { sql, type Queries, type SqlStatement } from '#engine/database.ts';
import { embeddedText } from '#platform/embedded.ts';

export interface StoreCounts {
  packages: number;
  revisions: number;
  accounts: number;
  unclaimed: number;
  waiting: number;
  approved: number;
  rejected: number;
  blobBytes: number;
  auditEntries: number;
  damagedBlobs: number;
}

type StoreCountsRow = Omit<StoreCounts, 'approved'> & { uploads: number };

export const counts = (db: Pick<Queries, 'get' | 'all' | 'hasTable'>) => ({
  async all(): Promise<StoreCounts> {
    const row = (await db.get<StoreCountsRow>(sql`
      SELECT
        (SELECT row_count FROM noun_versions WHERE noun = 'packages') AS packages,
        (SELECT row_count FROM noun_versions WHERE noun = 'revisions') AS revisions,
        (SELECT COUNT(*) FROM accounts) AS accounts,
        (SELECT COUNT(*) FROM damaged_blobs) AS "damagedBlobs",
        (SELECT row_count FROM noun_versions WHERE noun = 'uploads') AS uploads,
        (SELECT COUNT(*) FROM uploads WHERE package_id IS NULL) AS unclaimed,
        (SELECT COUNT(*) FROM uploads WHERE status IN ('new', 'scanned')) AS waiting,
        (SELECT COUNT(*) FROM uploads WHERE status = 'rejected') AS rejected,
        (SELECT bytes FROM noun_versions WHERE noun = 'packages') AS "blobBytes",
        (SELECT COALESCE(MAX(seq), 0) FROM audit) AS "auditEntries"`))!;
    const { uploads, ...counted } = row;
    const { unclaimed, waiting, rejected } = counted;
    return { ...counted, approved: uploads - unclaimed - waiting - rejected };
  },

  /** Returns the number of rows of each table, by the names of this release's schema. */
  async tables(): Promise<Record<string, number>> {
    const rowCounts: Record<string, number> = {};
    for (const { table, statement } of tableCounts()) {
      if (await db.hasTable(table)) rowCounts[table] = (await db.get<{ number: number }>(statement))!.number;
    }
    return rowCounts;
  },

  /** Lists the migrations that have run on this database, oldest first. */
  migrations: async (): Promise<string[]> =>
    (await db.all<{ name: string }>(sql`SELECT name FROM migrations ORDER BY name`)).map(({ name }) => name),
});

let knownTableCounts: { table: string; statement: SqlStatement }[] | undefined;

/** Returns the statements that count the rows of each table. Table names come from the schema in this program, so they need no escaping. */
function tableCounts(): { table: string; statement: SqlStatement }[] {
  const schema = embeddedText('src/records/new-store.sql');
  knownTableCounts ??= [...schema.matchAll(/^CREATE TABLE "?(\w+)"? \(/gm)].map(([, table = '']) => ({
    table,
    statement: { text: [`SELECT COUNT(*) AS number FROM "${table}"`], values: [] },
  }));
  return knownTableCounts;
}
