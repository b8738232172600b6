// Rebuilds the catalog entries of public snaps and charms when their packages change.
import type { Logger } from 'pino';

import { parseAssertion } from '#assertions/format/assertion.ts';
import { series } from '#assertions/format/types.ts';
import { searchWordsOf, levels, placesOf, chooseShownRelease, publicReleases } from '#domain/packages/snap-catalog.ts';
import { parseChannel } from '#domain/releases/channel.ts';
import { charmSearchWordsOf } from '#domain/packages/charm-catalog.ts';
import { minutes, timestamp, type Now } from '#domain/clock.ts';
import type { CatalogRecord } from '#records/packages/catalog.ts';
import type { EphemeralRecords, StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import type { RevisionDetails, RevisionForDevices } from '#records/revisions/revisions.ts';
import { readDeviceFacts, noDeviceFacts } from '#review/snaps/device-facts.ts';
import { createRoundRunner, type RoundRunner } from '../rounds.ts';
import type { BackgroundJob } from '../runner.ts';

export interface CatalogKeeper {
  /**
   * Resolves when the catalog includes every change committed before the call. If many packages wait, as after an upgrade or an import, it
   * resolves earlier: then most entries are still old, and new packages are missing.
   */
  upToDate(): Promise<void>;
  /** Processes all waiting packages. */
  job: BackgroundJob;
  /** Resolves when no run is in progress. */
  idle(): Promise<void>;
}

/** Packages per transaction. Other changes wait for the transaction, which takes about 10 ms. */
const batchSize = 10;

type Tx = EphemeralRecords['catalog'];

export function createCatalogKeeper({
  records,
  now,
  log,
}: {
  records: Pick<StoreRecords, 'catalog' | 'ephemeral'>;
  now: Now;
  log: Logger;
}): CatalogKeeper {
  const some = (): Promise<number> =>
    records.ephemeral(async ({ catalog }) => {
      const stale = await catalog.stale(batchSize);
      for (const id of stale) await rebuildEntry(id, catalog, now);
      return stale.length;
    });
  const warn = (error: unknown): void => {
    log.error({ err: error }, 'cannot update the catalog; it is tried again within a minute');
  };
  const few: RoundRunner<number> = createRoundRunner(some, warn);
  async function all(): Promise<Record<string, unknown>> {
    for (let made = 0; ;) {
      const done = await few.run();
      made += done;
      if (done < batchSize) return made === 0 ? {} : { made };
    }
  }
  return {
    async upToDate() {
      if ((await records.catalog.stale(1)).length === 0) return;
      // A run in progress may have started before the caller's changes.
      await few.idle();
      for (let batch = 0; batch < 20; batch++) {
        const made = await few.run().catch(warn);
        if (made !== batchSize) return;
      }
    },
    job: { name: 'keep-catalog', inDoubt: 'runs', every: minutes(1), run: all },
    idle: few.idle,
  };
}

async function rebuildEntry(id: string, catalog: Tx, now: Now): Promise<void> {
  const { sources } = catalog;
  const subject = await sources.package(id);
  const isFound = subject?.status === 'published' && !subject.private;
  const map = isFound ? publicReleases(await sources.releases(id, timestamp(now()))) : [];
  const held = new Map<number, RevisionForDevices>();
  for (const { revision } of map) {
    const loaded = held.has(revision) ? undefined : await sources.revision(id, revision);
    if (loaded !== undefined) held.set(revision, loaded);
  }
  const put: CatalogUpdate | undefined =
    subject?.namespace === 'charm'
      ? charmOf(subject, map, held)
      : subject && (await snapOf(subject, map, held, catalog));
  await catalog.put(id, put?.catalogued, put?.words ?? new Map());
}

/** A catalog entry with its search terms. */
interface CatalogUpdate {
  catalogued: CatalogRecord;
  words: Map<string, number>;
}

type RevisionsByNumber = ReadonlyMap<number, RevisionForDevices>;

/** Builds the entry of a charm for juju. Uses only revisions that are released to all clients, not branches or progressive releases. */
function charmOf(charm: PublishedPackage, map: readonly Release[], held: RevisionsByNumber): CatalogUpdate | undefined {
  const releases = map.filter(({ revision }) => held.has(revision));
  if (releases.length === 0) return undefined;
  const all = [...new Set(releases.map(({ revision }) => held.get(revision)!.details))];
  const each = (of: (details: RevisionDetails) => readonly string[] | undefined): string[] => [
    ...new Set(all.flatMap((details) => of(details) ?? [])),
  ];
  const words = charmSearchWordsOf({
    ...charm,
    traits: {
      type: [charm.type],
      publisher: [charm.publisher.username],
      channel: [...new Set(releases.map(({ channel }) => parseChannel(channel)!.name))],
      platform: each(({ bases }) => bases?.map(({ architecture }) => architecture)),
      category: each(({ said: traits }) => traits?.categories),
      requires: each(({ said: traits }) => traits?.requires),
      provides: each(({ said: traits }) => traits?.provides),
    },
  });
  const { id: packageId, namespace, name } = charm;
  return { catalogued: { packageId, namespace, name, confinement: '', entry: '' }, words };
}

/** Builds the entries of a snap for devices. */
async function snapOf(
  snap: PublishedPackage,
  map: readonly Release[],
  held: RevisionsByNumber,
  { sources }: Tx,
): Promise<CatalogUpdate | undefined> {
  const { id, namespace, name, publisher } = snap;
  const architectures = [...new Set(map.map(({ architecture }) => architecture ?? 'all'))].sort();
  const shown = (level: (typeof levels)[number], architecture: string) => {
    const match = chooseShownRelease(map, level, architecture, snap.defaultTrack);
    return match && held.get(match.held.revision);
  };
  const [first] = architectures.flatMap((architecture) => shown('any', architecture) ?? []);
  if (first === undefined) return undefined;
  const places = architectures.flatMap((architecture) => {
    const confinements = levels.map((level) => {
      const revision = shown(level, architecture);
      return revision && confinementOf(revision);
    });
    return placesOf(architecture, confinements);
  });
  const { commonIds, aliases } = first.packageYaml === null ? noDeviceFacts : readDeviceFacts(first.packageYaml);
  const declared = await sources.assertion(`snap-declaration/${series}/${id}`);
  const allAliases = [...new Set([...aliasesOf(declared?.text), ...aliases])];
  const entry = entryOf(snap, first, allAliases);
  return {
    catalogued: { packageId: id, namespace, name, confinement: confinementOf(first), entry },
    words: searchWordsOf({ ...snap, publisher: publisher.username, commonIds, places }),
  };
}

const confinementOf = ({ details }: RevisionForDevices): string => details.confinement ?? 'strict';

/** Returns the entry of a snap in the list of all names. The field names are snapd's. */
const entryOf = (
  { name, summary }: PublishedPackage,
  { version, details }: RevisionForDevices,
  aliases: string[],
): string =>
  JSON.stringify({
    package_name: name,
    version,
    summary: summary ?? '',
    aliases: aliases.map((alias) => ({ name: alias })),
    apps: details.apps ?? [],
  });

/** Returns the aliases in a snap-declaration. */
function aliasesOf(text: string | undefined): string[] {
  const aliases = text === undefined ? undefined : parseAssertion(text).headers['aliases'];
  if (!Array.isArray(aliases)) return [];
  return aliases.flatMap((alias) => {
    const name =
      typeof alias === 'object' && !Array.isArray(alias) ? (alias as Record<string, unknown>)['name'] : undefined;
    return typeof name === 'string' ? [name] : [];
  });
}
