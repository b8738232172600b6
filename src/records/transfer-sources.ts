// Whose transfers are let in here: the keys that must have signed them, and what they may bring.
import { columns, sql, type Queries } from '#engine/database.ts';

export interface TransferSource {
  name: string;
  /** Ed25519 public keys, base64url. */
  keys: string[];
  /** How many of them must have signed. */
  threshold: number;
  /** What it may bring: globs of `namespace/name`. */
  packages: string[];
  /** Whether what it brings may be released; otherwise revisions come in, and channels stay as they are. */
  mayRelease: boolean;
  /** The highest sequence number that was let in. */
  floor: number;
  addedAt: string;
  /** As the audit log writes it. */
  addedBy: string;
}

type Row = Omit<TransferSource, 'keys' | 'packages' | 'mayRelease'> & {
  keys: string;
  packages: string;
  mayRelease: 0 | 1;
};

const asSource = ({ keys, packages, mayRelease, ...row }: Row): TransferSource => ({
  ...row,
  keys: JSON.parse(keys) as string[],
  packages: JSON.parse(packages) as string[],
  mayRelease: mayRelease === 1,
});

const sourceColumns = columns`
  name, keys, threshold, packages, may_release AS "mayRelease", floor, added_at AS "addedAt", added_by AS "addedBy"`;

export const transferSources = (db: Pick<Queries, 'get' | 'all'>) => ({
  async find(name: string): Promise<TransferSource | undefined> {
    const row = await db.get<Row>(sql`SELECT ${sourceColumns} FROM transfer_sources WHERE name = ${name}`);
    return row && asSource(row);
  },

  list: async (): Promise<TransferSource[]> =>
    (await db.all<Row>(sql`SELECT ${sourceColumns} FROM transfer_sources ORDER BY name LIMIT 1000`)).map(asSource),
});

export const transferSourceChanges = (db: Queries) => ({
  ...transferSources(db),

  /** Adds a source, or changes it; its floor stays. */
  set: (s: Omit<TransferSource, 'floor'>) =>
    db.run(sql`
      INSERT INTO transfer_sources (name, keys, threshold, packages, may_release, added_at, added_by)
      VALUES (${s.name}, ${JSON.stringify(s.keys)}, ${s.threshold}, ${JSON.stringify(s.packages)}, ${Number(s.mayRelease)},
        ${s.addedAt}, ${s.addedBy})
      ON CONFLICT (name) DO UPDATE
      SET keys = excluded.keys, threshold = excluded.threshold, packages = excluded.packages,
        may_release = excluded.may_release, added_at = excluded.added_at, added_by = excluded.added_by`),

  /** Raises the floor; it never sinks. */
  raiseFloor: (name: string, sequence: number) =>
    db.run(sql`UPDATE transfer_sources SET floor = ${sequence} WHERE name = ${name} AND floor < ${sequence}`),

  remove: (name: string) => db.run(sql`DELETE FROM transfer_sources WHERE name = ${name}`),
});
