// Collects the gathered packages in the form of a statement. In case of a contradiction the first value stays, and the other is reported.
import { problems } from '#api/schema.ts';
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
} from '#api/wire.ts';
import type { Namespace } from '#domain/namespace.ts';
import type { Place } from './folder.ts';

type About = Pick<TransferPackage, 'id' | 'name' | 'type' | 'publisher'> &
  Partial<
    Pick<TransferPackage, 'title' | 'summary' | 'description' | 'private' | 'icon' | 'links' | 'default-track'>
  > & {
    namespace: Namespace;
  };

/** A package with gathered content. */
export class FoundPackage {
  readonly about: About;
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

  constructor(about: About) {
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
  addRevision(one: TransferRevision): boolean {
    const known = this.#revisions.get(one.revision);
    if (known === undefined) this.#revisions.set(one.revision, one);
    return known === undefined || known.content['sha3-384'] === one.content['sha3-384'];
  }

  addResource(name: string, type: string, one: TransferResourceRevision): boolean {
    const resource = this.#resources.get(name) ?? { type, revisions: new Map<number, TransferResourceRevision>() };
    this.#resources.set(name, resource);
    const known = resource.revisions.get(one.revision);
    if (known === undefined) resource.revisions.set(one.revision, one);
    return known === undefined || (known.image ?? known.content?.sha256) === (one.image ?? one.content?.sha256);
  }

  addImage({ resource, manifests, blobs }: TransferImage): void {
    const image = this.#images.get(resource) ?? { manifests: new Map(), blobs: new Map() };
    this.#images.set(resource, image);
    for (const one of manifests) image.manifests.set(one.content.sha256, one);
    for (const one of blobs) image.blobs.set(one.sha256, one);
  }

  /** Adds versions of a library. Returns false if other content has the same version, or another library the same name. */
  addLibrary({ id, name, versions }: TransferLibrary): boolean {
    const known = this.#libraries.get(id);
    const isOther = ([other, one]: [string, TransferLibrary]): boolean => (other === id) !== (one.name === name);
    if ([...this.#libraries].some(isOther)) return false;
    const before = known?.versions ?? [];
    const same = ({ api, patch }: TransferLibrary['versions'][number]) =>
      before.find((one) => one.api === api && one.patch === patch);
    if (versions.some((one) => (same(one) ?? one).content.sha256 !== one.content.sha256)) return false;
    const all = [...before, ...versions.filter((one) => same(one) === undefined)];
    if (all.length > 0) this.#libraries.set(id, { id, name, versions: all });
    return true;
  }

  /** Adds a release of a slot. Of two releases the later one stays. */
  addRelease(one: TransferRelease): void {
    const key = JSON.stringify([one.channel, one.slot, one.progressive !== undefined]);
    const known = this.#channels.get(key);
    if (known === undefined || Date.parse(known['released-at']) < Date.parse(one['released-at']))
      this.#channels.set(key, one);
    this.tracks.add(one.channel.split('/')[0]!);
  }

  /** Returns whether a channel has a release. */
  fills = (channel: string): boolean => [...this.#channels.values()].some((one) => one.channel === channel);

  /** Adds the newest matching components to a release of a snap, if no response lists its components. */
  #withComponents(release: TransferRelease): TransferRelease {
    if (this.about.namespace !== 'snap' || release.resources !== undefined) return release;
    const resources = [...this.#resources]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, { type, revisions }]) => {
        const serving = [...revisions.values()].filter(({ serves }) => serves.includes(release.revision));
        const revision = Math.max(0, ...serving.map((one) => one.revision));
        return revision === 0 ? [] : { name, type, revision };
      });
    return resources.length === 0 ? release : { ...release, resources };
  }

  /** Returns the package in the form of a statement. */
  told(): TransferPackage {
    const { publisher, private: isPrivate = false, ...about } = this.about;
    const sorted = <One>(some: Iterable<[string, One]>): [string, One][] =>
      [...some].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      ...about,
      ...{ publisher, private: isPrivate, tracks: [...this.tracks.add('latest')].sort() },
      revisions: [...this.#revisions.values()].sort((a, b) => a.revision - b.revision),
      withdrawn: [...this.withdrawn].map(([revision, why]) => ({ revision, why })),
      resources: sorted(this.#resources).map(([name, { type, revisions }]) => ({
        ...{ name, type, revisions: [...revisions.values()].sort((a, b) => a.revision - b.revision) },
      })),
      images: sorted(this.#images).map(([resource, { manifests, blobs }]) => ({
        ...{ resource, manifests: sorted(manifests).map(([, one]) => one), blobs: sorted(blobs).map(([, one]) => one) },
      })),
      channels: sorted(this.#channels).map(([, one]) => this.#withComponents(one)),
      closed: [...this.closed].sort(),
      ...(this.#libraries.size > 0 && { libraries: sorted(this.#libraries).map(([, one]) => inOrder(one)) }),
    };
  }
}

const inOrder = ({ versions, ...library }: TransferLibrary): TransferLibrary => ({
  ...library,
  versions: [...versions].sort((a, b) => a.api - b.api || a.patch - b.patch),
});

/** All gathered content, and the list of everything left out. */
export class Gathered {
  readonly #packages = new Map<string, FoundPackage>();
  readonly #names = new Set<string>();
  readonly #accounts = new Map<string, TransferAccount>();
  readonly leftOut: TransferLeftOut[] = [];
  readonly #left = new Set<string>();
  readonly contents = new Map<string, { content: TransferContent; mediaType: string }>();
  readonly #places = new Map<string, Place[]>();

  /** Returns the package with this id; undefined if its name belongs to another id or its id to another name. */
  package(about: About): FoundPackage | undefined {
    const known = this.#packages.get(about.id);
    if (known !== undefined)
      return known.about.name === about.name && known.about.namespace === about.namespace ? known : undefined;
    const made = new FoundPackage(about);
    if (this.#names.has(made.called)) return undefined;
    this.#names.add(made.called);
    this.#packages.set(about.id, made);
    return made;
  }

  get packages(): FoundPackage[] {
    return [...this.#packages.values()];
  }

  /** Adds an account of another store. The first version of an account stays. */
  account(one: TransferAccount): void {
    if (!this.#accounts.has(one.id)) this.#accounts.set(one.id, one);
  }

  /** Adds content with its file ranges. */
  content(content: TransferContent, mediaType: string, places: Place[]): TransferContent {
    if (!this.contents.has(content['sha3-384'])) this.contents.set(content['sha3-384'], { content, mediaType });
    if (!this.#places.has(content['sha3-384'])) this.#places.set(content['sha3-384'], places);
    return content;
  }

  placesOf = (sha3_384: string): readonly Place[] => this.#places.get(sha3_384) ?? [];

  leave(what: string, why: string): void {
    const left = { what: what.slice(0, 512), why: why.slice(0, 1000) };
    const known = `${left.what}\n${left.why}`;
    // A request can name a package in a subscription and again for each architecture that lacks it.
    if (this.#left.has(known)) return;
    this.#left.add(known);
    this.leftOut.push(left);
  }

  /** Returns packages and accounts in the form of a statement. Leaves out, with a reason, anything that a statement cannot express. */
  told(): { packages: TransferPackage[]; accounts: TransferAccount[] } {
    const packages: TransferPackage[] = [];
    for (const found of this.packages) {
      const one = found.told();
      if (one.revisions.length === 0 && one.resources.length === 0 && one.libraries === undefined) continue;
      const [problem] = problems('TransferPackage', one);
      if (problem === undefined) packages.push(one);
      else this.leave(found.called, `What is said of it cannot be carried: ${problem.message}.`);
    }
    const spoken = new Set(
      packages.flatMap((one) => [one.publisher, ...one.revisions.map((revision) => revision['created-by'])]),
    );
    for (const { revisions } of packages.flatMap((one) => one.resources))
      for (const revision of revisions) spoken.add(revision['created-by']);
    for (const { versions } of packages.flatMap((one) => one.libraries ?? []))
      for (const version of versions) spoken.add(version['created-by']);
    const accounts = [...this.#accounts.values()].filter(
      (one) => spoken.has(one.id) && problems('TransferAccount', one).length === 0,
    );
    return {
      packages: packages.sort((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1)),
      accounts: accounts.sort((a, b) => (a.id < b.id ? -1 : 1)),
    };
  }
}
