// Shares: the part of a common amount that each process holds. They are ephemeral: each ends with its process.
import { columns, sql, type Queries, type ReadQueries } from '#engine/database.ts';

/** The amount of a share that one process holds. */
export interface Share {
  name: string;
  holder: string;
  amount: number;
}

const asShare = columns`name, holder, amount`;

export const shares = (db: ReadQueries) => ({
  /** Lists the shares of all processes. */
  all: () => db.all<Share>(sql`SELECT ${asShare} FROM passing_shares`),

  /** Lists the shares of all processes in one thing. */
  of: (name: string) => db.all<Share>(sql`SELECT ${asShare} FROM passing_shares WHERE name = ${name}`),

  /** Lists the holders of all shares. */
  holders: async (): Promise<string[]> =>
    (await db.all<{ holder: string }>(sql`SELECT DISTINCT holder FROM passing_shares`)).map(({ holder }) => holder),
});

export const ephemeralShares = (db: Queries) => ({
  ...shares(db),

  /** Sets the amount of a share; 0 removes it. */
  set: ({ name, holder, amount }: Share) =>
    db.run(
      amount === 0
        ? sql`DELETE FROM passing_shares WHERE name = ${name} AND holder = ${holder}`
        : sql`
            INSERT INTO passing_shares (name, holder, amount) VALUES (${name}, ${holder}, ${amount})
            ON CONFLICT (name, holder) DO UPDATE SET amount = excluded.amount`,
    ),

  /** Releases all shares of a holder. */
  releaseAll: (holder: string) => db.run(sql`DELETE FROM passing_shares WHERE holder = ${holder}`),
});
