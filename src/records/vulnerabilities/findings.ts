// Findings: the advisories that apply to the components of revisions and images. They are derived from bills of materials
// and feeds, so they are written without the audit log and are in no backup. Revisions share components: a new feed
// changes the advisories of components, and not the rows of revisions.
import type { ComponentEcosystem } from '#domain/vulnerabilities/bill-of-materials.ts';
import type {
  BillMatch,
  ComponentAdvisory,
  MatchCoverage,
  MatchedComponent,
  VulnerabilityFinding,
} from '#domain/vulnerabilities/finding.ts';
import { columns, sql, type Queries, type ReadQueries } from '#engine/database.ts';
import type { Repository } from '../images/images.ts';
import { feedIndexes } from './feed-indexes.ts';
import { readInBatches } from './in-batches.ts';

/** The findings of a revision or an image; undefined if it was not matched yet. */
export interface MatchedFindings extends BillMatch {
  findings: VulnerabilityFinding[];
}

/** How many revisions and images have a coverage. */
export interface CoverageCount {
  coverage: MatchCoverage;
  release: string | null;
  count: number;
}

interface FindingRow extends Omit<VulnerabilityFinding, 'component' | 'names' | 'score' | 'exploited'> {
  release: string;
  ecosystem: ComponentEcosystem;
  name: string;
  version: string;
  sourceName: string;
  sourceVersion: string;
  names: string;
  score: string | null;
}

const findingColumns = columns`
  release, ecosystem, name, version, source_name AS "sourceName", source_version AS "sourceVersion", feed,
  passing_component_advisories.advisory, passing_component_advisories.severity, fixed, score, summary, names,
  published_at AS "publishedAt", modified_at AS "modifiedAt"`;

const toFinding = ({
  release,
  ecosystem,
  name,
  version,
  sourceName,
  sourceVersion,
  names,
  score,
  ...row
}: FindingRow): Omit<VulnerabilityFinding, 'exploited'> => ({
  ...row,
  component: {
    release,
    ecosystem,
    name,
    version,
    source: sourceName === '' ? null : { name: sourceName, version: sourceVersion },
  },
  names: JSON.parse(names) as string[],
  score: score === null ? null : Number(score),
});

type MatchRow = Omit<BillMatch, 'unchecked' | 'isIncomplete'> & { unchecked: string; incomplete: number };

const matchColumns = columns`coverage, release, unchecked, incomplete`;

const toMatch = ({ unchecked, incomplete, ...row }: MatchRow): BillMatch => ({
  ...row,
  isIncomplete: incomplete === 1,
  unchecked: JSON.parse(unchecked) as ComponentEcosystem[],
});

/** Notes which findings are in the catalog of exploited vulnerabilities. A search for each finding would take longer than all else. */
async function markExploited(
  db: ReadQueries,
  findings: readonly Omit<VulnerabilityFinding, 'exploited'>[],
): Promise<VulnerabilityFinding[]> {
  const names = findings.flatMap((finding) => finding.names);
  const exploited = new Set(await readInBatches(names, feedIndexes(db).exploitedAmong));
  return findings.map((finding) => ({ ...finding, exploited: finding.names.some((name) => exploited.has(name)) }));
}

export const vulnerabilityFindings = (db: ReadQueries) => ({
  /** Returns the findings of a revision; undefined if it was not matched yet. */
  ofRevision: async (packageId: string, revision: number): Promise<MatchedFindings | undefined> => {
    const match = await db.get<MatchRow>(sql`
      SELECT ${matchColumns} FROM passing_matched_revisions
      WHERE package_id = ${packageId} AND revision = ${revision}`);
    if (match === undefined) return undefined;
    const rows = await db.all<FindingRow>(sql`
      SELECT ${findingColumns}
      FROM passing_revision_components
      JOIN passing_vulnerable_components ON passing_vulnerable_components.id = passing_revision_components.component
      JOIN passing_component_advisories
        ON passing_component_advisories.component = passing_revision_components.component
      JOIN passing_advisories ON passing_advisories.advisory = passing_component_advisories.advisory
        AND passing_advisories.feed_index IN (
          SELECT passing_feed_indexes.id FROM passing_feed_indexes WHERE in_force = 1 AND source = feed)
      WHERE package_id = ${packageId} AND revision = ${revision}
      ORDER BY name, version, passing_component_advisories.advisory`);
    return { ...toMatch(match), findings: await markExploited(db, rows.map(toFinding)) };
  },

  /** Returns the findings of an image, by the sha256 of its manifest; undefined if it was not matched yet. */
  ofImage: async ({ packageId, resource }: Repository, manifest: string): Promise<MatchedFindings | undefined> => {
    const match = await db.get<MatchRow>(sql`
      SELECT ${matchColumns} FROM passing_matched_images
      WHERE package_id = ${packageId} AND resource = ${resource} AND manifest = ${manifest}`);
    if (match === undefined) return undefined;
    const rows = await db.all<FindingRow>(sql`
      SELECT ${findingColumns}
      FROM passing_image_components
      JOIN passing_vulnerable_components ON passing_vulnerable_components.id = passing_image_components.component
      JOIN passing_component_advisories
        ON passing_component_advisories.component = passing_image_components.component
      JOIN passing_advisories ON passing_advisories.advisory = passing_component_advisories.advisory
        AND passing_advisories.feed_index IN (
          SELECT passing_feed_indexes.id FROM passing_feed_indexes WHERE in_force = 1 AND source = feed)
      WHERE package_id = ${packageId} AND resource = ${resource} AND manifest = ${manifest}
      ORDER BY name, version, passing_component_advisories.advisory`);
    return { ...toMatch(match), findings: await markExploited(db, rows.map(toFinding)) };
  },

  /** Counts revisions and images by their coverage, to list the releases that no feed covers. */
  coverage: async (): Promise<CoverageCount[]> => {
    const counts = await db.all<CoverageCount>(sql`
      SELECT coverage, release, COUNT(*) AS count FROM passing_matched_revisions
      WHERE coverage >= '' GROUP BY coverage, release`);
    const ofImages = await db.all<CoverageCount>(sql`
      SELECT coverage, release, COUNT(*) AS count FROM passing_matched_images
      WHERE coverage >= '' GROUP BY coverage, release`);
    for (const row of ofImages) {
      const counted = counts.find(({ coverage, release }) => coverage === row.coverage && release === row.release);
      if (counted === undefined) counts.push(row);
      else counted.count += row.count;
    }
    return counts;
  },

  /** Lists bills of revisions that were not matched with these indexes, after the given one. */
  unmatchedRevisions: (indexes: string, after: { packageId: string; revision: number }, limit: number) =>
    db.all<{ packageId: string; revision: number; bill: string }>(sql`
      SELECT revision_bills.package_id AS "packageId", revision_bills.revision, bill
      FROM revision_bills
      JOIN revisions ON revisions.package_id = revision_bills.package_id AND revisions.revision = revision_bills.revision
      LEFT JOIN passing_matched_revisions ON passing_matched_revisions.package_id = revision_bills.package_id
        AND passing_matched_revisions.revision = revision_bills.revision
      WHERE (revision_bills.package_id, revision_bills.revision) > (${after.packageId}, ${after.revision})
        AND deleted_at IS NULL AND (indexes IS NULL OR indexes <> ${indexes})
      ORDER BY revision_bills.package_id, revision_bills.revision LIMIT ${limit}`),

  /** Lists bills of images that were not matched with these indexes, after the given one. */
  unmatchedImages: (indexes: string, after: Repository & { manifest: string }, limit: number) =>
    db.all<Repository & { manifest: string; bill: string }>(sql`
      SELECT image_bills.package_id AS "packageId", image_bills.resource, image_bills.manifest, bill
      FROM image_bills
      LEFT JOIN passing_matched_images ON passing_matched_images.package_id = image_bills.package_id
        AND passing_matched_images.resource = image_bills.resource
        AND passing_matched_images.manifest = image_bills.manifest
      WHERE (image_bills.package_id, image_bills.resource, image_bills.manifest)
          > (${after.packageId}, ${after.resource}, ${after.manifest})
        AND (indexes IS NULL OR indexes <> ${indexes})
      ORDER BY image_bills.package_id, image_bills.resource, image_bills.manifest LIMIT ${limit}`),
});

/** Compares the stored components of a revision or an image with its present ones. */
function compareComponents(
  stored: readonly { component: number }[],
  present: ReadonlySet<number>,
): { added: number[]; removed: number[] } {
  const before = new Set(stored.map(({ component }) => component));
  return {
    added: [...present].filter((component) => !before.has(component)),
    removed: [...before].filter((component) => !present.has(component)),
  };
}

export const ephemeralFindings = (db: Queries) => {
  /** The id of the next new component in this transaction. */
  let nextId: number | undefined;
  return {
    ...vulnerabilityFindings(db),

    /** Stores the advisories of a component. Returns the id of the component. */
    putComponent: async (
      { release, ecosystem, name, version, source }: MatchedComponent,
      advisories: readonly ComponentAdvisory[],
    ): Promise<number> => {
      const [sourceName, sourceVersion] = [source?.name ?? '', source?.version ?? ''];
      const stored = await db.get<{ id: number }>(sql`
      SELECT id FROM passing_vulnerable_components
      WHERE name = ${name} AND version = ${version} AND release = ${release} AND ecosystem = ${ecosystem}
        AND source_name = ${sourceName} AND source_version = ${sourceVersion}`);
      const id = stored?.id ?? nextId ?? (await nextComponent(db));
      if (stored === undefined) nextId = id + 1;
      if (stored === undefined) {
        await db.run(sql`
        INSERT INTO passing_vulnerable_components
          (id, release, ecosystem, name, version, source_name, source_version)
        VALUES (${id}, ${release}, ${ecosystem}, ${name}, ${version}, ${sourceName}, ${sourceVersion})`);
      }
      const before =
        stored === undefined
          ? []
          : await db.all<ComponentAdvisory>(sql`
      SELECT feed, advisory, severity, fixed FROM passing_component_advisories WHERE component = ${id}`);
      const keyOf = ({ feed, advisory }: ComponentAdvisory): string => `${feed}\n${advisory}`;
      const left = new Map(before.map((row) => [keyOf(row), row]));
      for (const advisory of advisories) {
        const listed = left.get(keyOf(advisory));
        left.delete(keyOf(advisory));
        if (listed?.severity === advisory.severity && listed.fixed === advisory.fixed) continue;
        await db.run(sql`
        INSERT INTO passing_component_advisories (component, feed, advisory, severity, fixed)
        VALUES (${id}, ${advisory.feed}, ${advisory.advisory}, ${advisory.severity}, ${advisory.fixed})
        ON CONFLICT (component, feed, advisory) DO UPDATE SET severity = excluded.severity, fixed = excluded.fixed`);
      }
      for (const { feed, advisory } of left.values()) {
        await db.run(sql`
        DELETE FROM passing_component_advisories
        WHERE component = ${id} AND feed = ${feed} AND advisory = ${advisory}`);
      }
      return id;
    },

    /** Stores the result for a revision, and its vulnerable components. */
    putRevision: async (
      { packageId, revision }: { packageId: string; revision: number },
      match: BillMatch & { indexes: string },
      components: ReadonlySet<number>,
    ): Promise<void> => {
      const { release, coverage, unchecked, isIncomplete, indexes } = match;
      await db.run(sql`
      INSERT INTO passing_matched_revisions (package_id, revision, release, coverage, unchecked, incomplete, indexes)
      VALUES (${packageId}, ${revision}, ${release}, ${coverage}, ${JSON.stringify(unchecked)},
         ${Number(isIncomplete)}, ${indexes})
      ON CONFLICT (package_id, revision) DO UPDATE
      SET release = excluded.release, coverage = excluded.coverage, unchecked = excluded.unchecked,
        incomplete = excluded.incomplete, indexes = excluded.indexes`);
      const before = await db.all<{ component: number }>(sql`
      SELECT component FROM passing_revision_components WHERE package_id = ${packageId} AND revision = ${revision}`);
      const { added, removed } = compareComponents(before, components);
      for (const component of added)
        await db.run(sql`
        INSERT INTO passing_revision_components (package_id, revision, component)
        VALUES (${packageId}, ${revision}, ${component})`);
      for (const component of removed)
        await db.run(sql`
        DELETE FROM passing_revision_components
        WHERE package_id = ${packageId} AND revision = ${revision} AND component = ${component}`);
    },

    /** Stores the result for an image, and its vulnerable components. */
    putImage: async (
      { packageId, resource, manifest }: Repository & { manifest: string },
      match: BillMatch & { indexes: string },
      components: ReadonlySet<number>,
    ): Promise<void> => {
      const { release, coverage, unchecked, isIncomplete, indexes } = match;
      await db.run(sql`
      INSERT INTO passing_matched_images (package_id, resource, manifest, release, coverage, unchecked, incomplete, indexes)
      VALUES
        (${packageId}, ${resource}, ${manifest}, ${release}, ${coverage}, ${JSON.stringify(unchecked)},
         ${Number(isIncomplete)}, ${indexes})
      ON CONFLICT (package_id, resource, manifest) DO UPDATE
      SET release = excluded.release, coverage = excluded.coverage, unchecked = excluded.unchecked,
        incomplete = excluded.incomplete, indexes = excluded.indexes`);
      const before = await db.all<{ component: number }>(sql`
      SELECT component FROM passing_image_components
      WHERE package_id = ${packageId} AND resource = ${resource} AND manifest = ${manifest}`);
      const { added, removed } = compareComponents(before, components);
      for (const component of added)
        await db.run(sql`
        INSERT INTO passing_image_components (package_id, resource, manifest, component)
        VALUES (${packageId}, ${resource}, ${manifest}, ${component})`);
      for (const component of removed)
        await db.run(sql`
        DELETE FROM passing_image_components
        WHERE package_id = ${packageId} AND resource = ${resource} AND manifest = ${manifest} AND component = ${component}`);
    },

    /** Removes components that no revision and no image contains, after the given id. Returns the last id that it looked at, or undefined at the end. */
    removeUnusedComponents: async (after: number, limit: number): Promise<number | undefined> => {
      const page = await db.all<{ id: number; unused: number }>(sql`
      SELECT id, CASE WHEN EXISTS (SELECT 1 FROM passing_revision_components WHERE component = id)
        OR EXISTS (SELECT 1 FROM passing_image_components WHERE component = id) THEN 0 ELSE 1 END AS unused
      FROM passing_vulnerable_components WHERE id > ${after} ORDER BY id LIMIT ${limit}`);
      for (const { id, unused } of page)
        if (unused === 1) await db.run(sql`DELETE FROM passing_vulnerable_components WHERE id = ${id}`);
      return page.length < limit ? undefined : page.at(-1)?.id;
    },
  };
};

const nextComponent = async (db: Queries): Promise<number> =>
  (await db.get<{ id: number }>(sql`SELECT coalesce(MAX(id), 0) + 1 AS id FROM passing_vulnerable_components`))!.id;
