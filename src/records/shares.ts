// Shares: what each process holds of something that all of a store have together. They pass: each ends with its process.
import { columns, sql, type Queries, type Reading } from '#engine/database.ts';

/** How much of something one process holds. */
export interface Share {
  name: string;
  holder: string;
  amount: number;
}

const asShare = columns`name, holder, amount`;

export const shares = (db: Reading) => ({
  /** Every share of every process. */
  all: () => db.all<Share>(sql`SELECT ${asShare} FROM passing_shares`),

  /** What each process holds of one thing. */
  of: (name: string) => db.all<Share>(sql`SELECT ${asShare} FROM passing_shares WHERE name = ${name}`),

  /** Everybody who holds something. */
  holders: async (): Promise<string[]> =>
    (await db.all<{ holder: string }>(sql`SELECT DISTINCT holder FROM passing_shares`)).map(({ holder }) => holder),
});

export const sharePassing = (db: Queries) => ({
  ...shares(db),

  /** Holds so much of something instead of what was held of it before; 0 for nothing. */
  set: ({ name, holder, amount }: Share) =>
    db.run(
      amount === 0
        ? sql`DELETE FROM passing_shares WHERE name = ${name} AND holder = ${holder}`
        : sql`
            INSERT INTO passing_shares (name, holder, amount) VALUES (${name}, ${holder}, ${amount})
            ON CONFLICT (name, holder) DO UPDATE SET amount = excluded.amount`,
    ),

  /** Gives back all that a holder has. */
  releaseAll: (holder: string) => db.run(sql`DELETE FROM passing_shares WHERE holder = ${holder}`),
});
