// The catalog: the public snaps that devices find, and the charms and bundles that juju finds, by words. It is derived from other records,
// one package at a time.
import { exactly, type WordRange } from '#domain/packages/snap-catalog.ts';
import type { PackageNamespace } from '#domain/packages/namespace.ts';
import { list, sql, type Queries, type ReadQueries } from '#engine/database.ts';
import { assertions } from '../assertions/assertions.ts';
import { packages } from './packages.ts';
import { releases } from '../releases/releases.ts';
import { revisions } from '../revisions/revisions.ts';

/** A search reads at most this many snaps with the rarest word of the query, so that it takes a few milliseconds. */
const maxExaminedSnaps = 1000;
/** All charms of a large store: juju searches rarely. */
const maxCharms = 20_000;
const nothing: WordRange = { from: '', to: '' };

export interface CatalogQuery {
  /** The beginnings of words that all must match, at most five. */
  words: readonly WordRange[];
  /** The places; one of them must match. Empty matches all. */
  places: readonly string[];
  /** The name to list first. */
  name: string;
}

export interface CharmCatalogQuery extends CatalogQuery {
  /** Exact words that all must match. */
  traits: readonly string[];
}

/** A page of the result. */
export interface CatalogPage {
  limit: number;
  offset: number;
}

/** A package in the catalog. */
export interface CatalogRecord {
  packageId: string;
  namespace: PackageNamespace;
  name: string;
  /** Empty for a charm, like its entry. */
  confinement: string;
  entry: string;
}

export const catalog = (db: Pick<ReadQueries, 'get' | 'all'>) => {
  const countMatches = async ({ from, to }: WordRange, maxMatches: number): Promise<number> =>
    (await db.get<{ count: number }>(sql`
      SELECT COUNT(*) AS count
      FROM (
        SELECT 1 FROM catalog_words WHERE word >= ${from} AND word < ${to} LIMIT ${maxMatches + 1}) AS found LIMIT 1
    `))!.count;

  /** Sorts words by the number of packages with them, fewest first. */
  const rarestFirst = async (
    words: readonly WordRange[],
    maxMatches: number,
  ): Promise<{ word: WordRange; count: number }[]> => {
    const counts = await Promise.all(words.map((word) => countMatches(word, maxMatches)));
    return words.map((word, at) => ({ word, count: counts[at]! })).sort((a, b) => a.count - b.count);
  };

  /** Returns the packages that match all words of the query, best match first. Reads the packages with the word `first`. */
  const findMatching = async (
    { words, places, name, traits }: CharmCatalogQuery,
    first: WordRange,
    { limit, offset }: CatalogPage,
    maxMatches: number,
  ): Promise<string[]> => {
    const others = words.filter((word) => word !== first);
    const [a = nothing, b = nothing, c = nothing, d = nothing, e = nothing] = others;
    const rows = await db.all<{ id: string }>(sql`
      SELECT found.package_id AS id
      FROM (
        SELECT package_id, weight FROM catalog_words
        WHERE word >= ${first.from} AND word < ${first.to} ORDER BY word LIMIT ${maxMatches}) AS found
      CROSS JOIN catalog_packages AS package
      WHERE package.package_id = found.package_id
        AND (${traits.length} = 0 OR ${traits.length} = (
          SELECT COUNT(*) FROM catalog_words WHERE package_id = found.package_id AND word IN ${list(traits)}))
        AND (${places.length} = 0 OR EXISTS (
          SELECT 1 FROM catalog_words WHERE package_id = found.package_id AND word IN ${list(places)}))
        AND (${a.to} = '' OR EXISTS (
          SELECT 1 FROM catalog_words WHERE package_id = found.package_id AND word >= ${a.from} AND word < ${a.to}))
        AND (${b.to} = '' OR EXISTS (
          SELECT 1 FROM catalog_words WHERE package_id = found.package_id AND word >= ${b.from} AND word < ${b.to}))
        AND (${c.to} = '' OR EXISTS (
          SELECT 1 FROM catalog_words WHERE package_id = found.package_id AND word >= ${c.from} AND word < ${c.to}))
        AND (${d.to} = '' OR EXISTS (
          SELECT 1 FROM catalog_words WHERE package_id = found.package_id AND word >= ${d.from} AND word < ${d.to}))
        AND (${e.to} = '' OR EXISTS (
          SELECT 1 FROM catalog_words WHERE package_id = found.package_id AND word >= ${e.from} AND word < ${e.to}))
      GROUP BY found.package_id, package.name
      ORDER BY CASE WHEN package.name = ${name} THEN 0 ELSE 1 END, MIN(found.weight), package.name
      LIMIT ${limit} OFFSET ${offset}`);
    return rows.map(({ id }) => id);
  };

  /** Returns the packages at one of the places, by name. */
  const atPlaces = async ({ places, traits }: CharmCatalogQuery, { limit, offset }: CatalogPage): Promise<string[]> => {
    const rows = await db.all<{ id: string }>(sql`
      SELECT package.package_id AS id
      FROM (
        SELECT package_id FROM catalog_words WHERE word IN ${list(places)} LIMIT ${maxExaminedSnaps}) AS found
      CROSS JOIN catalog_packages AS package
      WHERE package.package_id = found.package_id
        AND (${traits.length} = 0 OR ${traits.length} = (
          SELECT COUNT(*) FROM catalog_words WHERE package_id = found.package_id AND word IN ${list(traits)}))
      GROUP BY package.package_id, package.name
      ORDER BY package.name LIMIT ${limit} OFFSET ${offset}`);
    return rows.map(({ id }) => id);
  };

  return {
    /** Finds the ids of snaps, best match first. For words of very many snaps, not all snaps are examined. */
    async find(sought: CatalogQuery, limit: number): Promise<string[]> {
      const [rarest] = await rarestFirst(sought.words, maxExaminedSnaps);
      const part = { limit, offset: 0 };
      if (rarest !== undefined) return findMatching({ ...sought, traits: [] }, rarest.word, part, maxExaminedSnaps);
      return atPlaces({ ...sought, traits: [] }, part);
    },

    /** Finds the ids of charms and bundles, best match first. */
    async findCharms(sought: CharmCatalogQuery, part: CatalogPage): Promise<string[]> {
      const { words, traits, places } = sought;
      const [rarest] = await rarestFirst([...words, ...traits.map(exactly)], maxCharms);
      if (rarest !== undefined && (words.length > 0 || rarest.count <= maxExaminedSnaps))
        return findMatching(sought, rarest.word, part, maxCharms);
      if (places.length > 0) {
        const at = await Promise.all(places.map((place) => countMatches(exactly(place), maxExaminedSnaps)));
        if (at.reduce((sum, count) => sum + count) <= maxExaminedSnaps) return atPlaces(sought, part);
      }
      // Without words there is no best match, so a very large result is sorted by name.
      const rows = await db.all<{ id: string }>(sql`
        SELECT package_id AS id FROM catalog_packages AS package
        WHERE namespace = 'charm'
          AND (${traits.length} = 0 OR ${traits.length} = (
            SELECT COUNT(*) FROM catalog_words WHERE package_id = package.package_id AND word IN ${list(traits)}))
          AND (${places.length} = 0 OR EXISTS (
            SELECT 1 FROM catalog_words WHERE package_id = package.package_id AND word IN ${list(places)}))
        ORDER BY name LIMIT ${part.limit} OFFSET ${part.offset}`);
      return rows.map(({ id }) => id);
    },

    /** Lists the entries of snaps for the list of all names, by name, beginning after `after`. */
    entries: (after: string, limit: number) =>
      db.all<Pick<CatalogRecord, 'name' | 'confinement' | 'entry'>>(sql`
        SELECT name, confinement, entry FROM catalog_packages
        WHERE namespace = 'snap' AND name > ${after} ORDER BY name LIMIT ${limit}`),

    /** Lists the packages with outdated catalog entries. */
    stale: async (limit: number) =>
      (await db.all<{ id: string }>(sql`SELECT package_id AS id FROM catalog_stale LIMIT ${limit}`)).map(
        ({ id }) => id,
      ),
  };
};

export const ephemeralCatalog = (db: Queries) => ({
  ...catalog(db),

  /** The sources of the catalog, read within the transaction that updates it. */
  sources: {
    package: packages(db).byId,
    releases: releases(db).current,
    revision: revisions(db).forDevices,
    assertion: assertions(db).find,
  },

  /** Sets the entry of a package and its words; `undefined` removes the entry. */
  async put(
    packageId: string,
    catalogued: CatalogRecord | undefined,
    words: ReadonlyMap<string, number>,
  ): Promise<void> {
    await db.run(sql`DELETE FROM catalog_stale WHERE package_id = ${packageId}`);
    if (catalogued === undefined) {
      await db.run(sql`DELETE FROM catalog_packages WHERE package_id = ${packageId}`);
      return;
    }
    await db.run(sql`
      INSERT INTO catalog_packages (package_id, namespace, name, confinement, entry)
      VALUES (${packageId}, ${catalogued.namespace}, ${catalogued.name}, ${catalogued.confinement}, ${catalogued.entry})
      ON CONFLICT (package_id) DO UPDATE
      SET name = excluded.name, confinement = excluded.confinement, entry = excluded.entry
      WHERE catalog_packages.name <> excluded.name OR catalog_packages.confinement <> excluded.confinement
        OR catalog_packages.entry <> excluded.entry`);
    const storedWords = await db.all<{ word: string; weight: number }>(sql`
      SELECT word, weight FROM catalog_words WHERE package_id = ${packageId}`);
    for (const { word, weight } of storedWords) {
      if (words.get(word) !== weight)
        await db.run(sql`DELETE FROM catalog_words WHERE word = ${word} AND package_id = ${packageId}`);
    }
    const storedWeights = new Map(storedWords.map(({ word, weight }) => [word, weight]));
    for (const [word, weight] of words) {
      if (storedWeights.get(word) !== weight)
        await db.run(sql`
          INSERT INTO catalog_words (word, package_id, weight) VALUES (${word}, ${packageId}, ${weight})`);
    }
  },
});
