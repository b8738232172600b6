// Collects the gathered packages in the form of a statement. In case of a contradiction the first value stays, and the other is reported.
import { findProblems } from '#contract/schema.ts';
import type {
  TransferAccount,
  TransferContent,
  TransferImage,
  TransferLeftOut,
  TransferLibrary,
  TransferPackage,
  TransferRelease,
  TransferResourceRevision,
  TransferRevision,
} from '#contract/wire.ts';
import type { PackageNamespace } from '#domain/packages/namespace.ts';
import type { GatheredRange } from './folder.ts';

type GatheredPackageDetails = Pick<TransferPackage, 'id' | 'name' | 'type' | 'publisher'> &
  Partial<
    Pick<TransferPackage, 'title' | 'summary' | 'description' | 'private' | 'icon' | 'links' | 'default-track'>
  > & {
    namespace: PackageNamespace;
  };

/** A package with gathered content. */
export class GatheredPackage {
  readonly about: GatheredPackageDetails;
  readonly tracks = new Set<string>();
  readonly #revisions = new Map<number, TransferRevision>();
  readonly #resources = new Map<string, { type: string; revisions: Map<number, TransferResourceRevision> }>();
  readonly #images = new Map<
    string,
    { manifests: Map<string, TransferImage['manifests'][number]>; blobs: Map<string, TransferContent> }
  >();
  readonly #channels = new Map<string, TransferRelease>();
  readonly #libraries = new Map<string, TransferLibrary>();
  readonly withdrawn = new Map<number, string>();
  readonly closed = new Set<string>();

  constructor(about: GatheredPackageDetails) {
    this.about = about;
  }

  get called(): string {
    return `${this.about.namespace}/${this.about.name}`;
  }

  get numbers(): number[] {
    return [...this.#revisions.keys()].sort((a, b) => a - b);
  }

  hasRevision = (revision: number): boolean => this.#revisions.has(revision);

  hasResource = (name: string, revision: number): boolean =>
    this.#resources.get(name)?.revisions.has(revision) === true;

  holdsImage = (resource: string, sha256: string): boolean =>
    this.#images.get(resource)?.manifests.has(sha256) === true;

  typeOfResource = (name: string): string | undefined => this.#resources.get(name)?.type;

  /** Adds a revision. Returns false if other content has the same number. */
  addRevision(revision: TransferRevision): boolean {
    const existing = this.#revisions.get(revision.revision);
    if (existing === undefined) this.#revisions.set(revision.revision, revision);
    return existing === undefined || existing.content['sha3-384'] === revision.content['sha3-384'];
  }

  addResource(name: string, type: string, revision: TransferResourceRevision): boolean {
    const resource = this.#resources.get(name) ?? { type, revisions: new Map<number, TransferResourceRevision>() };
    this.#resources.set(name, resource);
    const existing = resource.revisions.get(revision.revision);
    if (existing === undefined) resource.revisions.set(revision.revision, revision);
    return (
      existing === undefined ||
      (existing.image ?? existing.content?.sha256) === (revision.image ?? revision.content?.sha256)
    );
  }

  addImage({ resource, manifests, blobs }: TransferImage): void {
    const image = this.#images.get(resource) ?? { manifests: new Map(), blobs: new Map() };
    this.#images.set(resource, image);
    for (const manifest of manifests) image.manifests.set(manifest.content.sha256, manifest);
    for (const blob of blobs) image.blobs.set(blob.sha256, blob);
  }

  /** Adds versions of a library. Returns false if other content has the same version, or another library the same name. */
  addLibrary({ id, name, versions }: TransferLibrary): boolean {
    const existing = this.#libraries.get(id);
    const isOther = ([other, library]: [string, TransferLibrary]): boolean =>
      (other === id) !== (library.name === name);
    if ([...this.#libraries].some(isOther)) return false;
    const before = existing?.versions ?? [];
    const same = ({ api, patch }: TransferLibrary['versions'][number]) =>
      before.find((version) => version.api === api && version.patch === patch);
    if (versions.some((version) => (same(version) ?? version).content.sha256 !== version.content.sha256)) return false;
    const all = [...before, ...versions.filter((version) => same(version) === undefined)];
    if (all.length > 0) this.#libraries.set(id, { id, name, versions: all });
    return true;
  }

  /** Adds a release of a slot. Of two releases the later one stays. */
  addRelease(release: TransferRelease): void {
    const key = JSON.stringify([release.channel, release.slot, release.progressive !== undefined]);
    const existing = this.#channels.get(key);
    if (existing === undefined || Date.parse(existing['released-at']) < Date.parse(release['released-at']))
      this.#channels.set(key, release);
    this.tracks.add(release.channel.split('/')[0]!);
  }

  /** Returns whether a channel has a release. */
  fills = (channel: string): boolean => [...this.#channels.values()].some((release) => release.channel === channel);

  /** Adds the newest matching components to a release of a snap, if no response lists its components. */
  #withComponents(release: TransferRelease): TransferRelease {
    if (this.about.namespace !== 'snap' || release.resources !== undefined) return release;
    const resources = [...this.#resources]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, { type, revisions }]) => {
        const serving = [...revisions.values()].filter(({ serves }) => serves.includes(release.revision));
        const revision = Math.max(0, ...serving.map((candidate) => candidate.revision));
        return revision === 0 ? [] : { name, type, revision };
      });
    return resources.length === 0 ? release : { ...release, resources };
  }

  /** Returns the package in the form of a statement. */
  toTransferPackage(): TransferPackage {
    const { publisher, private: isPrivate = false, ...about } = this.about;
    const sorted = <One>(some: Iterable<[string, One]>): [string, One][] =>
      [...some].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      ...about,
      publisher,
      private: isPrivate,
      tracks: [...this.tracks.add('latest')].sort(),
      revisions: [...this.#revisions.values()].sort((a, b) => a.revision - b.revision),
      withdrawn: [...this.withdrawn].map(([revision, reason]) => ({ revision, why: reason })),
      resources: sorted(this.#resources).map(([name, { type, revisions }]) => ({
        name,
        type,
        revisions: [...revisions.values()].sort((a, b) => a.revision - b.revision),
      })),
      images: sorted(this.#images).map(([resource, { manifests, blobs }]) => ({
        resource,
        manifests: sorted(manifests).map(([, manifest]) => manifest),
        blobs: sorted(blobs).map(([, blob]) => blob),
      })),
      channels: sorted(this.#channels).map(([, release]) => this.#withComponents(release)),
      closed: [...this.closed].sort(),
      ...(this.#libraries.size > 0 && { libraries: sorted(this.#libraries).map(([, library]) => inOrder(library)) }),
    };
  }
}

const inOrder = ({ versions, ...library }: TransferLibrary): TransferLibrary => ({
  ...library,
  versions: [...versions].sort((a, b) => a.api - b.api || a.patch - b.patch),
});

/** All gathered content, and the list of everything left out. */
export class GatheredContent {
  readonly #packages = new Map<string, GatheredPackage>();
  readonly #names = new Set<string>();
  readonly #accounts = new Map<string, TransferAccount>();
  readonly leftOut: TransferLeftOut[] = [];
  readonly #left = new Set<string>();
  readonly contents = new Map<string, { content: TransferContent; mediaType: string }>();
  readonly #places = new Map<string, GatheredRange[]>();

  /** Returns the package with this id; undefined if its name belongs to another id or its id to another name. */
  package(about: GatheredPackageDetails): GatheredPackage | undefined {
    const existing = this.#packages.get(about.id);
    if (existing !== undefined)
      return existing.about.name === about.name && existing.about.namespace === about.namespace ? existing : undefined;
    const made = new GatheredPackage(about);
    if (this.#names.has(made.called)) return undefined;
    this.#names.add(made.called);
    this.#packages.set(about.id, made);
    return made;
  }

  get packages(): GatheredPackage[] {
    return [...this.#packages.values()];
  }

  /** Adds an account of another store. The first version of an account stays. */
  account(account: TransferAccount): void {
    if (!this.#accounts.has(account.id)) this.#accounts.set(account.id, account);
  }

  /** Adds content with its file ranges. */
  content(content: TransferContent, mediaType: string, places: GatheredRange[]): TransferContent {
    if (!this.contents.has(content['sha3-384'])) this.contents.set(content['sha3-384'], { content, mediaType });
    if (!this.#places.has(content['sha3-384'])) this.#places.set(content['sha3-384'], places);
    return content;
  }

  placesOf = (sha3_384: string): readonly GatheredRange[] => this.#places.get(sha3_384) ?? [];

  leave(subject: string, reason: string): void {
    const left = { what: subject.slice(0, 512), why: reason.slice(0, 1000) };
    const key = `${left.what}\n${left.why}`;
    // A request can name a package in a subscription and again for each architecture that lacks it.
    if (this.#left.has(key)) return;
    this.#left.add(key);
    this.leftOut.push(left);
  }

  /** Returns packages and accounts in the form of a statement. Leaves out, with a reason, anything that a statement cannot express. */
  toStatementLists(): { packages: TransferPackage[]; accounts: TransferAccount[] } {
    const packages: TransferPackage[] = [];
    for (const gathered of this.packages) {
      const entry = gathered.toTransferPackage();
      if (entry.revisions.length === 0 && entry.resources.length === 0 && entry.libraries === undefined) continue;
      const [problem] = findProblems('TransferPackage', entry);
      if (problem === undefined) packages.push(entry);
      else this.leave(gathered.called, `Its description does not fit into a transfer: ${problem.message}.`);
    }
    const spoken = new Set(
      packages.flatMap((entry) => [entry.publisher, ...entry.revisions.map((revision) => revision['created-by'])]),
    );
    for (const { revisions } of packages.flatMap((entry) => entry.resources))
      for (const revision of revisions) spoken.add(revision['created-by']);
    for (const { versions } of packages.flatMap((entry) => entry.libraries ?? []))
      for (const version of versions) spoken.add(version['created-by']);
    const accounts = [...this.#accounts.values()].filter(
      (account) => spoken.has(account.id) && findProblems('TransferAccount', account).length === 0,
    );
    return {
      packages: packages.sort((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1)),
      accounts: accounts.sort((a, b) => (a.id < b.id ? -1 : 1)),
    };
  }
}
