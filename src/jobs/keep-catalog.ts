// Rebuilds the catalog entries of public snaps and charms when their packages change.
import type { Logger } from 'pino';

import { parseAssertion } from '#assertions/assertion.ts';
import { series } from '#assertions/types.ts';
import { findableBy, levels, placesOf, shownIn, toldOf } from '#domain/catalog.ts';
import { parseChannel } from '#domain/channel.ts';
import { charmFindableBy } from '#domain/charm-catalog.ts';
import { minutes, timestamp, type Now } from '#domain/clock.ts';
import type { Catalogued } from '#records/catalog.ts';
import type { Passing, Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';
import type { RevisionDetails, RevisionForDevices } from '#records/revisions.ts';
import { announcedIn, nothingAnnounced } from '#review/announced.ts';
import { rounds, type Rounds } from './rounds.ts';
import type { Job } from './runner.ts';

export interface CatalogKeeping {
  /**
   * Resolves when the catalog includes every change committed before the call. If many packages wait, as after an upgrade or an import, it
   * resolves earlier: then most entries are still old, and new packages are missing.
   */
  upToDate(): Promise<void>;
  /** Processes all waiting packages. */
  job: Job;
  /** Resolves when no run is in progress. */
  idle(): Promise<void>;
}

/** Packages per transaction. Other changes wait for the transaction, which takes about 10 ms. */
const together = 10;

type Tx = Passing['catalog'];

export function catalogKeeping({
  records,
  now,
  log,
}: {
  records: Pick<Records, 'catalog' | 'passing'>;
  now: Now;
  log: Logger;
}): CatalogKeeping {
  const some = (): Promise<number> =>
    records.passing(async ({ catalog }) => {
      const stale = await catalog.stale(together);
      for (const id of stale) await makeAnew(id, catalog, now);
      return stale.length;
    });
  const warn = (error: unknown): void => {
    log.error({ err: error }, 'cannot bring the catalog up to date; it is tried again within the minute');
  };
  const few: Rounds<number> = rounds(some, warn);
  async function all(): Promise<Record<string, unknown>> {
    for (let made = 0; ;) {
      const done = await few.run();
      made += done;
      if (done < together) return made === 0 ? {} : { made };
    }
  }
  return {
    async upToDate() {
      if ((await records.catalog.stale(1)).length === 0) return;
      // A run in progress may have started before the caller's changes.
      await few.idle();
      for (let batch = 0; batch < 20; batch++) {
        const made = await few.run().catch(warn);
        if (made !== together) return;
      }
    },
    job: { name: 'keep-catalog', inDoubt: 'runs', every: minutes(1), run: all },
    idle: few.idle,
  };
}

async function makeAnew(id: string, catalog: Tx, now: Now): Promise<void> {
  const { sources } = catalog;
  const found = await sources.package(id);
  const isFound = found?.status === 'published' && !found.private;
  const map = isFound ? toldOf(await sources.releases(id, timestamp(now()))) : [];
  const held = new Map<number, RevisionForDevices>();
  for (const { revision } of map) {
    const one = held.has(revision) ? undefined : await sources.revision(id, revision);
    if (one !== undefined) held.set(revision, one);
  }
  const put: Put | undefined =
    found?.namespace === 'charm' ? charmOf(found, map, held) : found && (await snapOf(found, map, held, catalog));
  await catalog.put(id, put?.found, put?.words ?? new Map());
}

/** A catalog entry with its search terms. */
interface Put {
  found: Catalogued;
  words: Map<string, number>;
}

type Held = ReadonlyMap<number, RevisionForDevices>;

/** Builds the entry of a charm for juju. Uses only revisions that are released to all clients, not branches or progressive releases. */
function charmOf(charm: PublishedPackage, map: readonly Release[], held: Held): Put | undefined {
  const told = map.filter(({ revision }) => held.has(revision));
  if (told.length === 0) return undefined;
  const all = [...new Set(told.map(({ revision }) => held.get(revision)!.details))];
  const each = (of: (details: RevisionDetails) => readonly string[] | undefined): string[] => [
    ...new Set(all.flatMap((details) => of(details) ?? [])),
  ];
  const words = charmFindableBy({
    ...charm,
    traits: {
      type: [charm.type],
      publisher: [charm.publisher.username],
      channel: [...new Set(told.map(({ channel }) => parseChannel(channel)!.name))],
      platform: each(({ bases }) => bases?.map(({ architecture }) => architecture)),
      category: each(({ said }) => said?.categories),
      requires: each(({ said }) => said?.requires),
      provides: each(({ said }) => said?.provides),
    },
  });
  const { id: packageId, namespace, name } = charm;
  return { found: { packageId, namespace, name, confinement: '', entry: '' }, words };
}

/** Builds the entries of a snap for devices. */
async function snapOf(
  snap: PublishedPackage,
  map: readonly Release[],
  held: Held,
  { sources }: Tx,
): Promise<Put | undefined> {
  const { id, namespace, name, publisher } = snap;
  const architectures = [...new Set(map.map(({ architecture }) => architecture ?? 'all'))].sort();
  const shown = (level: (typeof levels)[number], architecture: string) => {
    const found = shownIn(map, level, architecture, snap.defaultTrack);
    return found && held.get(found.held.revision);
  };
  const [first] = architectures.flatMap((architecture) => shown('any', architecture) ?? []);
  if (first === undefined) return undefined;
  const places = architectures.flatMap((architecture) => {
    const confinements = levels.map((level) => {
      const one = shown(level, architecture);
      return one && confinementOf(one);
    });
    return placesOf(architecture, confinements);
  });
  const { commonIds, aliases } = first.packageYaml === null ? nothingAnnounced : announcedIn(first.packageYaml);
  const declared = await sources.assertion(`snap-declaration/${series}/${id}`);
  const allAliases = [...new Set([...aliasesOf(declared?.text), ...aliases])];
  const entry = entryOf(snap, first, allAliases);
  return {
    found: { packageId: id, namespace, name, confinement: confinementOf(first), entry },
    words: findableBy({ ...snap, publisher: publisher.username, commonIds, places }),
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
  const said = text === undefined ? undefined : parseAssertion(text).headers['aliases'];
  if (!Array.isArray(said)) return [];
  return said.flatMap((one) => {
    const name = typeof one === 'object' && !Array.isArray(one) ? (one as Record<string, unknown>)['name'] : undefined;
    return typeof name === 'string' ? [name] : [];
  });
}
