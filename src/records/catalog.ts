// The catalog of public snaps: what devices find, and by which words. It is made of other records, package by package.
import type { Beginning } from '#domain/catalog.ts';
import { list, sql, type Queries, type Reading } from '#engine/database.ts';
import { assertions } from './assertions.ts';
import { packages } from './packages.ts';
import { releases } from './releases.ts';
import { revisions } from './revisions.ts';

/** So many of what a word names are looked at: what has to be looked at more closely than by a word stays a few milliseconds. */
const mostLookedAt = 1000;
const nothing: Beginning = { from: '', to: '' };

export interface Sought {
  /** What its words begin with, five at most, each of them. */
  words: readonly Beginning[];
  /** The places at one of which it is. */
  places: readonly string[];
  /** The name that comes first. */
  name: string;
}

/** A snap as the catalog has it. */
export interface Catalogued {
  packageId: string;
  name: string;
  confinement: string;
  entry: string;
}

export const catalog = (db: Pick<Reading, 'get' | 'all'>) => {
  const howMany = async ({ from, to }: Beginning): Promise<number> =>
    (await db.get<{ count: number }>(sql`
      SELECT COUNT(*) AS count
      FROM (
        SELECT 1 FROM catalog_words WHERE word >= ${from} AND word < ${to} LIMIT ${mostLookedAt + 1}) AS found LIMIT 1
    `))!.count;
  return {
    /** The ids of what is found, what says it best first. Of words that name very many snaps not all are looked at. */
    async find({ words, places, name }: Sought, limit: number): Promise<string[]> {
      const counts = await Promise.all(words.map(howMany));
      const sorted = words.map((word, at) => ({ word, count: counts[at]! })).sort((a, b) => a.count - b.count);
      const [rarest = nothing, a = nothing, b = nothing, c = nothing, d = nothing] = sorted.map(({ word }) => word);
      const found =
        words.length === 0
          ? await db.all<{ id: string }>(sql`
              SELECT snap.package_id AS id
              FROM (
                SELECT package_id FROM catalog_words WHERE word IN ${list(places)} LIMIT ${mostLookedAt}) AS found
              CROSS JOIN catalog_snaps AS snap
              WHERE snap.package_id = found.package_id
              GROUP BY snap.package_id, snap.name
              ORDER BY snap.name LIMIT ${limit}`)
          : await db.all<{ id: string }>(sql`
              SELECT snap.package_id AS id
              FROM (
                SELECT package_id, weight FROM catalog_words
                WHERE word >= ${rarest.from} AND word < ${rarest.to} ORDER BY word LIMIT ${mostLookedAt}) AS found
              CROSS JOIN catalog_snaps AS snap
              WHERE snap.package_id = found.package_id
                AND EXISTS (SELECT 1 FROM catalog_words WHERE package_id = snap.package_id AND word IN ${list(places)})
                AND (${a.to} = '' OR EXISTS (
                  SELECT 1 FROM catalog_words WHERE package_id = snap.package_id AND word >= ${a.from} AND word < ${a.to}))
                AND (${b.to} = '' OR EXISTS (
                  SELECT 1 FROM catalog_words WHERE package_id = snap.package_id AND word >= ${b.from} AND word < ${b.to}))
                AND (${c.to} = '' OR EXISTS (
                  SELECT 1 FROM catalog_words WHERE package_id = snap.package_id AND word >= ${c.from} AND word < ${c.to}))
                AND (${d.to} = '' OR EXISTS (
                  SELECT 1 FROM catalog_words WHERE package_id = snap.package_id AND word >= ${d.from} AND word < ${d.to}))
              GROUP BY snap.package_id, snap.name
              ORDER BY CASE WHEN snap.name = ${name} THEN 0 ELSE 1 END, MIN(found.weight), snap.name LIMIT ${limit}`);
      return found.map(({ id }) => id);
    },

    /** What the list of all names says of the snaps after one, in the order of their names. */
    entries: (after: string, limit: number) =>
      db.all<Pick<Catalogued, 'name' | 'confinement' | 'entry'>>(sql`
        SELECT name, confinement, entry FROM catalog_snaps WHERE name > ${after} ORDER BY name LIMIT ${limit}`),

    /** The snaps of which it has to be made anew. */
    stale: async (limit: number) =>
      (await db.all<{ id: string }>(sql`SELECT package_id AS id FROM catalog_stale LIMIT ${limit}`)).map(
        ({ id }) => id,
      ),
  };
};

export const catalogPassing = (db: Queries) => ({
  ...catalog(db),

  /** What the catalog is made of, as it stands in the transaction that makes it. */
  sources: {
    package: packages(db).byId,
    releases: releases(db).current,
    revision: revisions(db).forDevices,
    assertion: assertions(db).find,
  },

  /** Says what is found of a snap and by which words, or with `undefined` that nothing is. */
  async put(packageId: string, snap: Catalogued | undefined, words: ReadonlyMap<string, number>): Promise<void> {
    await db.run(sql`DELETE FROM catalog_stale WHERE package_id = ${packageId}`);
    if (snap === undefined) {
      await db.run(sql`DELETE FROM catalog_snaps WHERE package_id = ${packageId}`);
      return;
    }
    await db.run(sql`
      INSERT INTO catalog_snaps (package_id, name, confinement, entry)
      VALUES (${packageId}, ${snap.name}, ${snap.confinement}, ${snap.entry})
      ON CONFLICT (package_id) DO UPDATE
      SET name = excluded.name, confinement = excluded.confinement, entry = excluded.entry
      WHERE catalog_snaps.name <> excluded.name OR catalog_snaps.confinement <> excluded.confinement
        OR catalog_snaps.entry <> excluded.entry`);
    const known = await db.all<{ word: string; weight: number }>(sql`
      SELECT word, weight FROM catalog_words WHERE package_id = ${packageId}`);
    for (const { word, weight } of known) {
      if (words.get(word) !== weight)
        await db.run(sql`DELETE FROM catalog_words WHERE word = ${word} AND package_id = ${packageId}`);
    }
    const kept = new Map(known.map(({ word, weight }) => [word, weight]));
    for (const [word, weight] of words) {
      if (kept.get(word) !== weight)
        await db.run(sql`
          INSERT INTO catalog_words (word, package_id, weight) VALUES (${word}, ${packageId}, ${weight})`);
    }
  },
});
