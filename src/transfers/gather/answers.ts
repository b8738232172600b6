// Reads saved responses of a store about its packages: info, refresh and find for charms and snaps, and the revisions of resources. Reads
// only the fields named here: no addresses, tokens or credentials.
import { parseChannel } from '#domain/channel.ts';
import { timestamp } from '#domain/clock.ts';

/** A file as described in a response, with the digests that it contains, in lower-case hexadecimal. */
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
  /** Full name of the channel. */
  channel: string;
  revision: number;
  /** Base and architecture of the slot; undefined if the response does not contain them. */
  base: SaidBase | undefined;
  architecture: string | undefined;
  releasedAt: string | undefined;
  /** Resources of the release; undefined if the response does not contain them. */
  resources: { name: string; revision: number }[] | undefined;
}

export interface SaidPublisher {
  id: string;
  username: string | undefined;
  displayName: string | undefined;
  validation: string | undefined;
}

/** All facts about a package from all responses. */
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

/** A version of a charm library. */
export interface SaidLibrary {
  id: string;
  name: string;
  /** Name of the charm. */
  charm: string;
  api: number;
  patch: number;
  /** Hash computed by its publisher, in hexadecimal. */
  hash: string;
  /** Its text, if the response contains it. */
  content: string | undefined;
}

type Document = Readonly<Record<string, unknown>>;

/** Saved responses of stores, by package. */
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

  /** Adds a response. Returns false if it is not one. */
  add(answer: unknown): boolean {
    if (!isDocument(answer)) return false;
    const libraries = [answer, ...documentsIn(answer['libraries'])].flatMap((one) => libraryOf(one) ?? []);
    for (const one of libraries) this.#addLibrary(one);
    if (libraries.length > 0) return true;
    const results = documentsIn(answer['results']);
    if (results.length > 0) return results.map((one) => this.#result(one)).some(Boolean);
    return this.#result(answer);
  }

  /** Adds one package from an info response, or one result of refresh or find. */
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

  /** Returns the packages and revisions that match a file by its digests. */
  filesLike(file: Required<SaidFile>): { of: SaidPackage; revision: number; resource?: string }[] {
    return this.all.flatMap((of) => [
      ...revisionsLike(of.revisions, file).map((revision) => ({ of, revision })),
      ...[...of.resources].flatMap(([resource, { revisions }]) =>
        revisionsLike(revisions, file).map((revision) => ({ of, revision, resource })),
      ),
    ]);
  }

  /** Returns whether any response describes a file of this size, or of unknown size. */
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

/** Reads one library version from a charm store response, with or without its text. */
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

/** Compares all digests that a response contains, and requires at least one. */
const revisionsLike = (revisions: ReadonlyMap<number, SaidRevision>, file: Required<SaidFile>): number[] =>
  [...revisions].flatMap(([revision, said]) => {
    const fits = (['size', 'sha256', 'sha384', 'sha3_384'] as const).every(
      (key) => said[key] === undefined || said[key] === file[key],
    );
    return fits && hasDigest(said) ? [revision] : [];
  });

/** Responses about snaps contain a snap type (app, base …) instead of a package type. */
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

/** Adds one line of a channel map. For charms the revision is an object, for snaps a number. */
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

/** Adds a refresh result: the revision that the store selected, with its channel. */
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

/** Derives the channel from the name, or from track and risk; the name may omit `latest`. */
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

/** A name, an id or similar. */
const word = (value: unknown): string | undefined => text(value, 256);

const count = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) > 0 && (value as number) <= 2_147_483_647
    ? (value as number)
    : undefined;

/** The API or patch number of a library version. */
const version = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 999_999 ? (value as number) : undefined;

const size = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;

/** Converts a time to the form that transfers use. */
export function time(value: unknown): string | undefined {
  const moment = typeof value === 'string' && value.length <= 64 ? new Date(value) : undefined;
  return moment === undefined || Number.isNaN(moment.getTime()) ? undefined : timestamp(moment);
}
