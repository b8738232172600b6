// Collects the selected packages of a store for a transfer, with their channels and everything that belongs to them.
import { createDigest } from '#domain/cryptography.ts';
import type {
  TransferAccount,
  TransferContent,
  TransferImage,
  TransferLibrary,
  TransferLeftOut,
  TransferPackage,
  TransferRelease,
  TransferResource,
} from '#contract/wire.ts';
import type { FleetSetting } from '#domain/fleets/fleet-view.ts';
import { isProgressive, unexpired } from '#domain/releases/channel-map.ts';
import { fitsGlob } from '#domain/packages/package-glob.ts';
import { PackedList, type SpillStorage, type Sequence } from '#domain/sequence.ts';
import type { StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import type { Revision } from '#records/revisions/revisions.ts';
import { iconMediaType } from '#review/icon.ts';
import { anyBytes, mediaTypes } from './media-types.ts';
import { namesUnder, listStandingNames } from './held-assertions.ts';
import { isSelectedChannel, isSelectedTrack, selectReleases, type PackageSelection } from './package-selection.ts';

export type HoldingRecords = Pick<
  StoreRecords,
  | 'accounts'
  | 'assertions'
  | 'charmLibraries'
  | 'images'
  | 'packages'
  | 'pastReleases'
  | 'releases'
  | 'resourceRevisions'
  | 'revisions'
  | 'tracks'
>;

/** By package id, revisions with their components. */
export type FixedRevisions = ReadonlyMap<string, readonly Pick<FleetSetting, 'revision' | 'resources'>[]>;

export interface HoldingSelection {
  /** Globs of `namespace/name` for packages and of `assertion/TYPE` for assertions. */
  packages: readonly string[];
  /** Further packages and their channels, by `namespace/name`. Private packages are included only if a glob matches them. */
  requested?: ReadonlyMap<string, PackageSelection>;
  /** Names of further assertions, included if they exist. */
  assertions?: readonly string[];
  /** By package id, the revisions that fleets of the transfer give, beside those in channels. */
  fixed?: FixedRevisions;
  /** RFC 3339. Releases that have expired at this time are left out. */
  at: string;
  /** Ids of packages to exclude. */
  except?: ReadonlySet<string>;
}

export interface SelectedHoldings {
  accounts: TransferAccount[];
  packages: Sequence<TransferPackage>;
  /** All contents in the order of the transfer. */
  contents: Map<string, { content: TransferContent; mediaType: string }>;
  /** Names of the assertions to include; their prerequisites are added later. */
  assertions: ReadonlySet<string>;
  /** Content that cannot be included, with the reason. */
  leftOut: TransferLeftOut[];
}

const page = 500;

export interface HoldingContents {
  /** Reads small content at once, such as an icon. */
  bytesOf: (sha3_384: string) => Promise<Buffer | undefined>;
  /** Stores a text as content. */
  keep: (text: string) => Promise<TransferContent>;
  /** Spill file for package metadata; in memory if undefined. */
  aside?: SpillStorage | undefined;
}

/** Returns the selected content of the store. */
export async function holdingsOf(
  records: HoldingRecords,
  selection: HoldingSelection,
  contents: HoldingContents,
): Promise<SelectedHoldings> {
  const gathering = new HoldingsCollector(records, selection.at, contents);
  for await (const name of listStandingNames(records.assertions, selection.packages)) gathering.addAssertion(name);
  for (const { name } of await records.assertions.listOf(selection.assertions ?? [])) gathering.addAssertion(name);
  for (let [namespace, name] = ['', '']; ;) {
    const batch = await records.packages.after(namespace, name, page);
    for (const subject of batch) {
      const packageSelection = fitsGlob(selection.packages, subject)
        ? everything
        : selection.requested?.get(`${subject.namespace}/${subject.name}`);
      if (packageSelection === undefined || (packageSelection !== everything && subject.private)) continue;
      if (selection.except?.has(subject.id) === true) continue;
      await gathering.add(subject, packageSelection, selection.fixed?.get(subject.id) ?? []);
    }
    const last = batch.at(-1);
    if (last === undefined || batch.length < page) break;
    ({ namespace, name } = last);
  }
  return gathering.held();
}

const everything: PackageSelection = {};

class HoldingsCollector {
  readonly #records: HoldingRecords;
  readonly #at: string;
  readonly #packages: PackedList<TransferPackage>;
  readonly #accounts = new Set<string>();
  readonly #contents: SelectedHoldings['contents'] = new Map();
  readonly #assertions = new Set<string>();
  readonly #leftOut: TransferLeftOut[] = [];

  readonly #from: HoldingContents;

  constructor(records: HoldingRecords, at: string, from: HoldingContents) {
    this.#records = records;
    this.#at = at;
    this.#from = from;
    this.#packages = new PackedList(from.aside);
  }

  addAssertion(name: string): void {
    this.#assertions.add(name);
  }

  async add(
    subject: PublishedPackage,
    packageSelection: PackageSelection,
    fixed: NonNullable<ReturnType<FixedRevisions['get']>>,
  ): Promise<void> {
    const { id, namespace, name, type, publisherId } = subject;
    const { releases, revisions, tracks, pastReleases } = this.#records;
    const held = selectReleases(unexpired(await releases.held(id), this.#at), packageSelection);
    const sentReleases = [...held, ...fixed];
    const numbers = [...new Set(sentReleases.map(({ revision }) => revision ?? 0))];
    const carried = (await revisions.listOf(id, numbers)).filter(({ withdrawnAt }) => withdrawnAt === null);
    this.#accounts.add(publisherId);
    const withdrawn = await revisions.withdrawn(id);
    this.#packages.add({
      id,
      namespace,
      name,
      type,
      publisher: publisherId,
      private: subject.private,
      ...transferMetadataOf(subject),
      ...(await this.#iconOf(subject)),
      tracks: (await tracks.list(id))
        .map((track) => track.name)
        .filter((track) => isSelectedTrack(packageSelection, track)),
      revisions: await this.#revisionsOf(subject, carried),
      withdrawn: withdrawn.map(({ revision, because }) => ({ revision, why: because })),
      ...(await this.#resourcesAndImages(subject, sentReleases)),
      libraries: await this.#libraries(subject),
      channels: held
        .filter(({ revision }) => carried.some((carriedRevision) => carriedRevision.revision === revision))
        .map(releaseOf),
      closed: (await pastReleases.closed(id)).filter((channel) => isSelectedChannel(packageSelection, channel)),
    });
  }

  async held(): Promise<SelectedHoldings> {
    const accounts = [...(await this.#records.accounts.byIds([...this.#accounts])).values()];
    return {
      accounts: accounts
        .map(({ id, username, displayName, validation }) => ({
          id,
          username,
          'display-name': displayName,
          validation: validation as TransferAccount['validation'],
        }))
        .sort((a, b) => (a.id < b.id ? -1 : 1)),
      packages: this.#packages,
      contents: this.#contents,
      leftOut: this.#leftOut,
      assertions: this.#assertions,
    };
  }

  async #revisionsOf(
    { id, type }: PublishedPackage,
    carried: readonly Revision[],
  ): Promise<TransferPackage['revisions']> {
    const assertionRows = await this.#records.revisions.assertionsOf(
      id,
      carried.map(({ revision }) => revision),
    );
    const assertions = new Map(assertionRows.map(({ revision, assertion }) => [revision, assertion]));
    return carried
      .toSorted((a, b) => a.revision - b.revision)
      .map((revision) => {
        this.#accounts.add(revision.createdBy);
        const assertion = assertions.get(revision.revision);
        if (assertion !== undefined) this.#assertions.add(assertion);
        return {
          revision: revision.revision,
          content: this.#content(revision, mediaTypes[type] ?? anyBytes),
          version: revision.version,
          'created-at': revision.createdAt,
          'created-by': revision.createdBy,
          ...(assertion !== undefined && { assertion }),
        };
      });
  }

  /** Returns the resources of the releases and the images that they name. */
  async #resourcesAndImages(
    subject: PublishedPackage,
    held: readonly Pick<Release, 'resources'>[],
  ): Promise<Pick<TransferPackage, 'resources' | 'images'>> {
    if (subject.namespace === 'snap') await this.#assertionsOfComponents(subject);
    const resourceNumbers = namedIn(held);
    const resources: TransferResource[] = [];
    const images: TransferImage[] = [];
    for (const [name, numbers] of [...resourceNumbers].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const resourceRevisions = [];
      for (const number of [...numbers].sort((a, b) => a - b)) {
        const resourceRevision = await this.#records.resourceRevisions.find(subject.id, name, number);
        if (resourceRevision !== undefined) resourceRevisions.push(resourceRevision);
      }
      const [first] = resourceRevisions;
      if (first === undefined) continue;
      const isImage = first.type === 'oci-image';
      const image = isImage ? await this.#imageOf(subject, name, resourceRevisions) : undefined;
      if (image !== undefined) images.push(image);
      if (isImage && image === undefined) {
        this.#leftOut.push({
          what: `${subject.namespace}/${subject.name} ${name}`,
          why: 'Its images are in another registry.',
        });
        continue;
      }
      const revisions: TransferResource['revisions'] = [];
      for (const resourceRevision of resourceRevisions) {
        this.#accounts.add(resourceRevision.createdBy);
        revisions.push({
          revision: resourceRevision.revision,
          ...(isImage
            ? { image: (await this.#records.images.namedBy([resourceRevision.sha3_384]))[0] ?? '' }
            : { content: this.#content(resourceRevision, anyBytes) }),
          'created-at': resourceRevision.createdAt,
          'created-by': resourceRevision.createdBy,
          bases: resourceRevision.bases,
          architectures: resourceRevision.architectures,
          serves: await this.#records.resourceRevisions.served(subject.id, name, resourceRevision.revision),
        });
      }
      resources.push({ name, type: first.type, revisions });
    }
    return { resources, images };
  }

  async #assertionsOfComponents({ id }: PublishedPackage): Promise<void> {
    for (const type of ['snap-resource-revision', 'snap-resource-pair']) {
      for await (const name of namesUnder(this.#records.assertions, `${type}/${id}/`)) this.addAssertion(name);
    }
  }

  async #imageOf(
    { id }: PublishedPackage,
    resource: string,
    resourceRevisions: readonly { sha3_384: string }[],
  ): Promise<TransferImage | undefined> {
    const { images } = this.#records;
    const repository = { packageId: id, resource };
    const roots = await images.namedBy(resourceRevisions.map(({ sha3_384 }) => sha3_384));
    const { manifests, blobs } = await images.reachedFrom(repository, roots);
    if (manifests.length === 0) return undefined;
    const tags = Map.groupBy(
      await images.tagsOf(
        repository,
        manifests.map(({ sha256 }) => sha256),
      ),
      ({ manifest }) => manifest,
    );
    return {
      resource,
      manifests: manifests.map((manifest) => ({
        content: this.#content(manifest, manifest.mediaType),
        'media-type': manifest.mediaType,
        tags: (tags.get(manifest.sha256) ?? []).map(({ tag }) => tag),
      })),
      blobs: blobs.map((blob) => this.#content(blob, anyBytes)),
    };
  }

  async #libraries({ id }: PublishedPackage): Promise<TransferLibrary[]> {
    const { charmLibraries } = this.#records;
    const libraries: TransferLibrary[] = [];
    for (const library of await charmLibraries.list(id)) {
      const versions: TransferLibrary['versions'] = [];
      for (const { api, patch, hash, createdAt, createdBy } of await charmLibraries.versions(library.id)) {
        const version = await charmLibraries.version({ libraryId: library.id, api, patch });
        if (version === undefined) continue;
        const content = await this.#from.keep(version.content);
        this.#accounts.add(createdBy);
        this.#contents.set(content['sha3-384'], { content, mediaType: 'text/x-python' });
        versions.push({ api, patch, hash, content, 'created-at': createdAt, 'created-by': createdBy });
      }
      libraries.push({ id: library.id, name: library.name, versions });
    }
    return libraries;
  }

  async #iconOf({ icon }: PublishedPackage): Promise<Pick<TransferPackage, 'icon'>> {
    if (icon === null) return { icon: null };
    const [sha3_384 = '', ending] = icon.split('.');
    const bytes = await this.#from.bytesOf(sha3_384);
    if (bytes === undefined || (ending !== 'png' && ending !== 'jpg' && ending !== 'svg')) return {};
    const sha256 = createDigest('content sha256').update(bytes).digest('hex');
    const content = this.#content({ sha256, sha3_384, size: bytes.length }, iconMediaType(icon));
    return { icon: { content, ending } };
  }

  #content(
    { sha256, sha3_384, size }: { sha256: string; sha3_384: string; size: number },
    mediaType: string,
  ): TransferContent {
    const content = { sha256, 'sha3-384': sha3_384, size };
    if (!this.#contents.has(sha3_384)) this.#contents.set(sha3_384, { content, mediaType });
    return content;
  }
}

const transferMetadataOf = ({
  title,
  summary,
  description,
  license,
  defaultTrack,
  links,
}: PublishedPackage): Partial<TransferPackage> => ({
  title,
  summary,
  description,
  links,
  // Omitted if empty, so that older releases of larder can read the transfer.
  ...(license !== null && { license }),
  'default-track': defaultTrack,
});

function namedIn(held: readonly Pick<Release, 'resources'>[]): Map<string, Set<number>> {
  const numbersByName = new Map<string, Set<number>>();
  for (const { name, revision } of held.flatMap(({ resources }) => resources)) {
    if (revision !== null) numbersByName.set(name, (numbersByName.get(name) ?? new Set()).add(revision));
  }
  return numbersByName;
}

function releaseOf(held: Release): TransferRelease {
  const { channel, slot, architecture, baseName, baseChannel, revision, progressive, expiresAt } = held;
  return {
    channel,
    slot,
    ...(architecture !== null && { architecture }),
    ...(baseName !== null && baseChannel !== null && { base: { name: baseName, channel: baseChannel } }),
    revision,
    ...(isProgressive(progressive) && {
      progressive: { percentage: progressive.percentage ?? 0, paused: progressive.paused === true },
    }),
    ...(held.resources.length > 0 && { resources: held.resources }),
    'released-at': held.releasedAt,
    ...(expiresAt !== null && { 'expires-at': expiresAt }),
  };
}
