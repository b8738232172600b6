// What a store has answered of its packages, saved beside their files: info, refresh and find of charms and of snaps, and the
// revisions of a resource. Only what is named here is taken out of an answer: no address, no token, no credential.
import { parseChannel } from '#domain/channel.ts';
import { timestamp } from '#domain/clock.ts';

/** A file as an answer speaks of it: whichever digests it gives, in lower-case hexadecimal. */
export interface SaidFile {
  size: number | undefined;
  sha256: string | undefined;
  sha384: string | undefined;
  sha3_384: string | undefined;
}

interface SaidRevision extends SaidFile {
  /** RFC 3339, in UTC. */
  createdAt: string | undefined;
  version: string | undefined;
}

export interface SaidBase {
  name: string;
  channel: string;
  architecture: string;
}

export interface SaidRelease {
  /** The channel's full name. */
  channel: string;
  revision: number;
  /** What the part of the channel is for; undefined where the answer does not say. */
  base: SaidBase | undefined;
  architecture: string | undefined;
  releasedAt: string | undefined;
  /** The resources that go with it; undefined where the answer does not say. */
  resources: { name: string; revision: number }[] | undefined;
}

export interface SaidPublisher {
  id: string;
  username: string | undefined;
  displayName: string | undefined;
  validation: string | undefined;
}

/** All that is said of a package, in however many answers. */
export interface SaidPackage {
  id: string;
  name: string;
  type: string;
  isPrivate: boolean;
  publisher: SaidPublisher | undefined;
  title: string | undefined;
  summary: string | undefined;
  description: string | undefined;
  revisions: Map<number, SaidRevision>;
  releases: SaidRelease[];
  resources: Map<string, { type: string; revisions: Map<number, SaidRevision> }>;
}

/** A version of a library of a charm. */
export interface SaidLibrary {
  id: string;
  name: string;
  /** The name of its charm. */
  charm: string;
  api: number;
  patch: number;
  /** As its publisher has computed it, in hexadecimal. */
  hash: string;
  /** Its text, where the answer has it. */
  content: string | undefined;
}

type Document = Readonly<Record<string, unknown>>;

/** Answers of stores, by the packages that they speak of. */
export class Answers {
  readonly #packages = new Map<string, SaidPackage>();
  readonly #libraries = new Map<string, SaidLibrary>();

  get libraries(): SaidLibrary[] {
    return [...this.#libraries.values()];
  }

  library(one: Pick<SaidLibrary, 'id' | 'api' | 'patch'>): SaidLibrary | undefined {
    return this.#libraries.get(versionKey(one));
  }

  get all(): SaidPackage[] {
    return [...this.#packages.values()];
  }

  find(id: string): SaidPackage | undefined {
    return this.#packages.get(id);
  }

  /** Takes up what an answer says; whether it is one. */
  add(answer: unknown): boolean {
    if (!isDocument(answer)) return false;
    const libraries = [answer, ...documentsIn(answer['libraries'])].flatMap((one) => libraryOf(one) ?? []);
    for (const one of libraries) this.#addLibrary(one);
    if (libraries.length > 0) return true;
    const results = documentsIn(answer['results']);
    if (results.length > 0) return results.map((one) => this.#result(one)).some(Boolean);
    return this.#result(answer);
  }

  /** One package as info tells of it, or one of the results of refresh and find. */
  #result(said: Document): boolean {
    const inner = firstOf(said['charm'], said['snap']) ?? {};
    const id = word(said['id']) ?? word(said['snap-id']) ?? word(inner['id']) ?? word(inner['snap-id']);
    const name = word(said['name']) ?? word(inner['name']);
    const type = typeOf(said, inner);
    if (id === undefined || name === undefined || type === undefined) return false;
    const about = this.#package(id, name, type);
    describe(about, firstOf(said['result'], said['charm'], said['snap']) ?? {});
    const releases = [
      ...documentsIn(said['channel-map']),
      ...(firstOf(said['default-release']) === undefined ? [] : [firstOf(said['default-release'])!]),
    ];
    for (const one of releases) takeRelease(about, one);
    takeChosen(about, said, inner);
    return true;
  }

  #addLibrary(one: SaidLibrary): void {
    const known = this.#libraries.get(versionKey(one));
    if (known?.content === undefined) this.#libraries.set(versionKey(one), one);
  }

  #package(id: string, name: string, type: string): SaidPackage {
    const known = this.#packages.get(id);
    if (known !== undefined) return known;
    const made: SaidPackage = {
      ...{ id, name, type, isPrivate: false, publisher: undefined },
      ...{ title: undefined, summary: undefined, description: undefined },
      ...{ revisions: new Map(), releases: [], resources: new Map() },
    };
    this.#packages.set(id, made);
    return made;
  }

  /** The packages and revisions of which an answer says that a file is theirs. */
  filesLike(file: Required<SaidFile>): { of: SaidPackage; revision: number; resource?: string }[] {
    return this.all.flatMap((of) => [
      ...revisionsLike(of.revisions, file).map((revision) => ({ of, revision })),
      ...[...of.resources].flatMap(([resource, { revisions }]) =>
        revisionsLike(revisions, file).map((revision) => ({ of, revision, resource })),
      ),
    ]);
  }

  /** Whether some answer speaks of a file that may be this long. */
  speaksOfSize(size: number): boolean {
    return this.all.some(({ revisions, resources }) =>
      [revisions, ...[...resources.values()].map((one) => one.revisions)].some((some) =>
        [...some.values()].some((one) => hasDigest(one) && (one.size === undefined || one.size === size)),
      ),
    );
  }
}

const versionKey = ({ id, api, patch }: Pick<SaidLibrary, 'id' | 'api' | 'patch'>): string =>
  `${id}/${String(api)}.${String(patch)}`;

/** One version of a library as the charm store tells of it, with or without its text. */
function libraryOf(said: Document): SaidLibrary | undefined {
  const [id, name, charm] = [word(said['library-id']), word(said['library-name']), word(said['charm-name'])];
  const [api, patch] = [version(said['api']), version(said['patch'])];
  const told = text(said['hash'], 64);
  if (id === undefined || name === undefined || charm === undefined || api === undefined || patch === undefined)
    return undefined;
  if (told === undefined || !/^[0-9a-f]{64}$/.test(told) || !/^[A-Za-z0-9_-]{1,64}$/.test(id)) return undefined;
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(name)) return undefined;
  return { id, name, charm, api, patch, hash: told, content: text(said['content'], 1_000_000) };
}

const hasDigest = ({ sha256, sha384, sha3_384 }: SaidFile): boolean => (sha256 ?? sha384 ?? sha3_384) !== undefined;

/** Every digest that is said must be that of the file, and one must be said. */
const revisionsLike = (revisions: ReadonlyMap<number, SaidRevision>, file: Required<SaidFile>): number[] =>
  [...revisions].flatMap(([revision, said]) => {
    const fits = (['size', 'sha256', 'sha384', 'sha3_384'] as const).every(
      (key) => said[key] === undefined || said[key] === file[key],
    );
    return fits && hasDigest(said) ? [revision] : [];
  });

/** Of a snap an answer names no type that is that of a package here. */
const typeOf = (said: Document, inner: Document): string | undefined =>
  said['snap-id'] !== undefined || inner['snap-id'] !== undefined || firstOf(said['snap']) !== undefined
    ? 'snap'
    : (word(said['type']) ?? word(inner['type']));

function describe(about: SaidPackage, said: Document): void {
  const publisher = firstOf(said['publisher']);
  const id = publisher && word(publisher['id']);
  if (id !== undefined && publisher !== undefined) {
    about.publisher ??= {
      id,
      username: text(publisher['username'], 128),
      displayName: text(publisher['display-name'], 256),
      validation: text(publisher['validation'], 32),
    };
  }
  about.title ??= text(said['title'], 256);
  about.summary ??= text(said['summary'], 1024);
  about.description ??= text(said['description'], 65_536);
  if (said['private'] === true) about.isPrivate = true;
}

/** One line of a channel map: of charms the revision is a document, of snaps a number. */
function takeRelease(about: SaidPackage, said: Document): void {
  const place = firstOf(said['channel']);
  const revision = firstOf(said['revision']);
  const number = count(revision === undefined ? said['revision'] : revision['revision']);
  const channel = place && channelOf(place);
  if (number === undefined) return;
  takeRevision(about.revisions, number, revision ?? said);
  const resources = takeResources(about, said['resources']);
  if (channel === undefined || place === undefined) return;
  const base = firstOf(place['base']);
  addRelease(about, {
    ...{ channel, revision: number, resources, releasedAt: time(place['released-at']) },
    base: base === undefined ? undefined : baseIn(base),
    architecture: word(place['architecture']),
  });
}

/** What refresh has chosen for somebody: a revision, and the channel where it was found. */
function takeChosen(about: SaidPackage, said: Document, inner: Document): void {
  const number = count(inner['revision']);
  if (number === undefined) return;
  takeRevision(about.revisions, number, inner);
  const resources = takeResources(about, inner['resources']);
  const channel = channelNamed(word(said['effective-channel']));
  if (channel === undefined) return;
  addRelease(about, {
    ...{ channel, revision: number, resources, releasedAt: time(said['released-at']) },
    ...{ base: undefined, architecture: undefined },
  });
}

function addRelease(about: SaidPackage, release: SaidRelease): void {
  const same = about.releases.find(
    (one) =>
      one.channel === release.channel &&
      one.revision === release.revision &&
      JSON.stringify([one.base, one.architecture]) === JSON.stringify([release.base, release.architecture]),
  );
  if (same === undefined) about.releases.push(release);
  else same.resources ??= release.resources;
}

function takeResources(about: SaidPackage, said: unknown): SaidRelease['resources'] {
  if (!Array.isArray(said)) return undefined;
  return documentsIn(said).flatMap((one) => {
    const [name, type, revision] = [word(one['name']), word(one['type']), count(one['revision'])];
    if (name === undefined || revision === undefined || type === undefined) return [];
    const known = about.resources.get(name) ?? { type, revisions: new Map<number, SaidRevision>() };
    about.resources.set(name, known);
    takeRevision(known.revisions, revision, one);
    return { name, revision };
  });
}

function takeRevision(revisions: Map<number, SaidRevision>, number: number, said: Document): void {
  const file = firstOf(said['download']) ?? {};
  const digest = (...names: string[]): string | undefined =>
    names
      .map((name) => file[name])
      .find((one): one is string => typeof one === 'string' && /^[0-9a-f]{64,128}$/.test(one));
  const before = revisions.get(number);
  revisions.set(number, {
    size: before?.size ?? size(file['size']),
    sha256: before?.sha256 ?? digest('hash-sha-256', 'hash-sha256', 'sha-256'),
    sha384: before?.sha384 ?? digest('hash-sha-384', 'hash-sha384'),
    sha3_384: before?.sha3_384 ?? digest('hash-sha3-384', 'sha3-384'),
    createdAt: before?.createdAt ?? time(said['created-at']),
    version: before?.version ?? text(said['version'], 128),
  });
}

const baseIn = (said: Document): SaidBase | undefined => {
  const [name, channel, architecture] = [word(said['name']), word(said['channel']), word(said['architecture'])];
  return name === undefined || channel === undefined || architecture === undefined
    ? undefined
    : { name, channel, architecture };
};

/** Its track and risk count, where they are said: the name may be that of another one, without `latest`. */
const channelOf = (said: Document): string | undefined => {
  const [track, risk, name] = [word(said['track']), word(said['risk']), word(said['name'])];
  return channelNamed(name ?? (risk === undefined ? undefined : `${track ?? 'latest'}/${risk}`));
};

const channelNamed = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : parseChannel(name)?.name;

const isDocument = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const firstOf = (...values: unknown[]): Document | undefined => values.find(isDocument);

const documentsIn = (value: unknown): Document[] => (Array.isArray(value) ? value.filter(isDocument) : []);

const text = (value: unknown, most: number): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= most ? value : undefined;

/** A name, an id or the like. */
const word = (value: unknown): string | undefined => text(value, 256);

const count = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) > 0 && (value as number) <= 2_147_483_647
    ? (value as number)
    : undefined;

/** Half of the number of a version. */
const version = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 999_999 ? (value as number) : undefined;

const size = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;

/** A moment, in the one way in which transfers write it. */
export function time(value: unknown): string | undefined {
  const moment = typeof value === 'string' && value.length <= 64 ? new Date(value) : undefined;
  return moment === undefined || Number.isNaN(moment.getTime()) ? undefined : timestamp(moment);
}
