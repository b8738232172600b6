// Failed attempts, counted by their subject, and the places that accounts have logged in from. Both are ephemeral.
import { sql, type Queries, type ReadQueries } from '#engine/database.ts';

export type FailureKind = 'login' | 'exchange';

/** The number of failures of a key. They no longer count after `endsAt`. */
export interface FailureRecord {
  count: number;
  endsAt: string;
}

export const failures = (db: ReadQueries) => ({
  /** Returns the number of failures of a key; undefined if there are none or they have expired by `now`. */
  find: (kind: FailureKind, key: string, now: string) =>
    db.get<FailureRecord>(sql`
      SELECT count, ends_at AS "endsAt" FROM passing_failures WHERE kind = ${kind} AND key = ${key} AND ends_at > ${now}`),

  isFamiliar: async (key: string, now: string) =>
    undefined !== (await db.get(sql`SELECT 1 FROM passing_familiar_places WHERE key = ${key} AND ends_at > ${now}`)),

  /** Returns the time until which a place is familiar; undefined if it is not. */
  familiarUntil: async (key: string) =>
    (await db.get<{ endsAt: string }>(sql`SELECT ends_at AS "endsAt" FROM passing_familiar_places WHERE key = ${key}`))
      ?.endsAt,
});

export const ephemeralFailures = (db: Queries) => ({
  ...failures(db),

  /** Sets the failures of a key and makes it the newest. */
  async set(kind: FailureKind, key: string, { count, endsAt }: FailureRecord) {
    await db.run(sql`DELETE FROM passing_failures WHERE kind = ${kind} AND key = ${key}`);
    await db.run(sql`
      INSERT INTO passing_failures (kind, key, count, ends_at) VALUES (${kind}, ${key}, ${count}, ${endsAt})`);
  },

  forget: (kind: FailureKind, key: string) =>
    db.run(sql`DELETE FROM passing_failures WHERE kind = ${kind} AND key = ${key}`),

  /** Keeps the newest `maxKeys` keys of a kind, and removes the keys with the oldest failures. */
  bound: (kind: FailureKind, maxKeys: number) =>
    db.run(sql`
      DELETE FROM passing_failures WHERE kind = ${kind} AND seq <= (
        SELECT seq FROM passing_failures WHERE kind = ${kind} ORDER BY seq DESC LIMIT 1 OFFSET ${maxKeys})`),

  /** Adds a place, or makes it the most recently used. */
  async addFamiliar(key: string, endsAt: string) {
    await db.run(sql`DELETE FROM passing_familiar_places WHERE key = ${key}`);
    await db.run(sql`INSERT INTO passing_familiar_places (key, ends_at) VALUES (${key}, ${endsAt})`);
  },

  /** Keeps the `maxPlaces` most recently used places, and removes the others. */
  boundFamiliar: (maxPlaces: number) =>
    db.run(sql`
      DELETE FROM passing_familiar_places WHERE seq <= (
        SELECT seq FROM passing_familiar_places ORDER BY seq DESC LIMIT 1 OFFSET ${maxPlaces})`),

  sweep: async (now: string) =>
    (await db.run(sql`DELETE FROM passing_failures WHERE ends_at <= ${now}`)) +
    (await db.run(sql`DELETE FROM passing_familiar_places WHERE ends_at <= ${now}`)),
});
