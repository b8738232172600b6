// Reads saved responses of a store about its packages: info, refresh and find for charms and snaps, and the revisions of resources. Reads
// only the fields named here: no addresses, tokens or credentials.
import { parseChannel } from '#domain/releases/channel.ts';
import { timestamp } from '#domain/clock.ts';

/** A file as described in a response, with the digests that it contains, in lower-case hexadecimal. */
export interface ReportedFile {
  size: number | undefined;
  sha256: string | undefined;
  sha384: string | undefined;
  sha3_384: string | undefined;
}

interface ReportedPackageRevision extends ReportedFile {
  /** RFC 3339, in UTC. */
  createdAt: string | undefined;
  version: string | undefined;
}

export interface ReportedBase {
  name: string;
  channel: string;
  architecture: string;
}

export interface ReportedRelease {
  /** Full name of the channel. */
  channel: string;
  revision: number;
  /** Base and architecture of the slot; undefined if the response does not contain them. */
  base: ReportedBase | undefined;
  architecture: string | undefined;
  releasedAt: string | undefined;
  /** Resources of the release; undefined if the response does not contain them. */
  resources: { name: string; revision: number }[] | undefined;
}

export interface ReportedPublisher {
  id: string;
  username: string | undefined;
  displayName: string | undefined;
  validation: string | undefined;
}

/** All facts about a package from all responses. */
export interface ReportedPackage {
  id: string;
  name: string;
  type: string;
  isPrivate: boolean;
  publisher: ReportedPublisher | undefined;
  title: string | undefined;
  summary: string | undefined;
  description: string | undefined;
  revisions: Map<number, ReportedPackageRevision>;
  releases: ReportedRelease[];
  resources: Map<string, { type: string; revisions: Map<number, ReportedPackageRevision> }>;
}

/** A version of a charm library. */
export interface ReportedLibrary {
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

type ResponseDocument = Readonly<Record<string, unknown>>;

/** Saved responses of stores, by package. */
export class SavedResponses {
  readonly #packages = new Map<string, ReportedPackage>();
  readonly #libraries = new Map<string, ReportedLibrary>();

  get libraries(): ReportedLibrary[] {
    return [...this.#libraries.values()];
  }

  library(reference: Pick<ReportedLibrary, 'id' | 'api' | 'patch'>): ReportedLibrary | undefined {
    return this.#libraries.get(versionKey(reference));
  }

  get all(): ReportedPackage[] {
    return [...this.#packages.values()];
  }

  find(id: string): ReportedPackage | undefined {
    return this.#packages.get(id);
  }

  /** Adds a response. Returns false if it is not one. */
  add(answer: unknown): boolean {
    if (!isDocument(answer)) return false;
    const libraries = [answer, ...documentsIn(answer['libraries'])].flatMap((document) => libraryOf(document) ?? []);
    for (const library of libraries) this.#addLibrary(library);
    if (libraries.length > 0) return true;
    const results = documentsIn(answer['results']);
    if (results.length > 0) return results.map((result) => this.#result(result)).some(Boolean);
    return this.#result(answer);
  }

  /** Adds one package from an info response, or one result of refresh or find. */
  #result(result: ResponseDocument): boolean {
    const inner = firstOf(result['charm'], result['snap']) ?? {};
    const id = word(result['id']) ?? word(result['snap-id']) ?? word(inner['id']) ?? word(inner['snap-id']);
    const name = word(result['name']) ?? word(inner['name']);
    const type = typeOf(result, inner);
    if (id === undefined || name === undefined || type === undefined) return false;
    const about = this.#package(id, name, type);
    describe(about, firstOf(result['result'], result['charm'], result['snap']) ?? {});
    const releases = [
      ...documentsIn(result['channel-map']),
      ...(firstOf(result['default-release']) === undefined ? [] : [firstOf(result['default-release'])!]),
    ];
    for (const release of releases) takeRelease(about, release);
    takeChosen(about, result, inner);
    return true;
  }

  #addLibrary(library: ReportedLibrary): void {
    const existing = this.#libraries.get(versionKey(library));
    if (existing?.content === undefined) this.#libraries.set(versionKey(library), library);
  }

  #package(id: string, name: string, type: string): ReportedPackage {
    const existing = this.#packages.get(id);
    if (existing !== undefined) return existing;
    const made: ReportedPackage = {
      id,
      name,
      type,
      isPrivate: false,
      publisher: undefined,
      title: undefined,
      summary: undefined,
      description: undefined,
      revisions: new Map(),
      releases: [],
      resources: new Map(),
    };
    this.#packages.set(id, made);
    return made;
  }

  /** Returns the packages and revisions that match a file by its digests. */
  filesLike(file: Required<ReportedFile>): { of: ReportedPackage; revision: number; resource?: string }[] {
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
      [revisions, ...[...resources.values()].map((resource) => resource.revisions)].some((some) =>
        [...some.values()].some(
          (revision) => hasDigest(revision) && (revision.size === undefined || revision.size === size),
        ),
      ),
    );
  }
}

const versionKey = ({ id, api, patch }: Pick<ReportedLibrary, 'id' | 'api' | 'patch'>): string =>
  `${id}/${String(api)}.${String(patch)}`;

/** Reads one library version from a charm store response, with or without its text. */
function libraryOf(document: ResponseDocument): ReportedLibrary | undefined {
  const [id, name, charm] = [
    word(document['library-id']),
    word(document['library-name']),
    word(document['charm-name']),
  ];
  const [api, patch] = [version(document['api']), version(document['patch'])];
  const libraryHash = text(document['hash'], 64);
  if (id === undefined || name === undefined || charm === undefined || api === undefined || patch === undefined)
    return undefined;
  if (libraryHash === undefined || !/^[0-9a-f]{64}$/.test(libraryHash) || !/^[A-Za-z0-9_-]{1,64}$/.test(id))
    return undefined;
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(name)) return undefined;
  return { id, name, charm, api, patch, hash: libraryHash, content: text(document['content'], 1_000_000) };
}

const hasDigest = ({ sha256, sha384, sha3_384 }: ReportedFile): boolean => (sha256 ?? sha384 ?? sha3_384) !== undefined;

/** Compares all digests that a response contains, and requires at least one. */
const revisionsLike = (
  revisions: ReadonlyMap<number, ReportedPackageRevision>,
  file: Required<ReportedFile>,
): number[] =>
  [...revisions].flatMap(([revision, details]) => {
    const fits = (['size', 'sha256', 'sha384', 'sha3_384'] as const).every(
      (key) => details[key] === undefined || details[key] === file[key],
    );
    return fits && hasDigest(details) ? [revision] : [];
  });

/** Responses about snaps contain a snap type (app, base …) instead of a package type. */
const typeOf = (document: ResponseDocument, inner: ResponseDocument): string | undefined =>
  document['snap-id'] !== undefined || inner['snap-id'] !== undefined || firstOf(document['snap']) !== undefined
    ? 'snap'
    : (word(document['type']) ?? word(inner['type']));

function describe(about: ReportedPackage, document: ResponseDocument): void {
  const publisher = firstOf(document['publisher']);
  const id = publisher && word(publisher['id']);
  if (id !== undefined && publisher !== undefined) {
    about.publisher ??= {
      id,
      username: text(publisher['username'], 128),
      displayName: text(publisher['display-name'], 256),
      validation: text(publisher['validation'], 32),
    };
  }
  about.title ??= text(document['title'], 256);
  about.summary ??= text(document['summary'], 1024);
  about.description ??= text(document['description'], 65_536);
  if (document['private'] === true) about.isPrivate = true;
}

/** Adds one line of a channel map. For charms the revision is an object, for snaps a number. */
function takeRelease(about: ReportedPackage, document: ResponseDocument): void {
  const place = firstOf(document['channel']);
  const revision = firstOf(document['revision']);
  const number = count(revision === undefined ? document['revision'] : revision['revision']);
  const channel = place && channelOf(place);
  if (number === undefined) return;
  takeRevision(about.revisions, number, revision ?? document);
  const resources = takeResources(about, document['resources']);
  if (channel === undefined || place === undefined) return;
  const base = firstOf(place['base']);
  addRelease(about, {
    channel,
    revision: number,
    resources,
    releasedAt: parseTime(place['released-at']),
    base: base === undefined ? undefined : baseIn(base),
    architecture: word(place['architecture']),
  });
}

/** Adds a refresh result: the revision that the store selected, with its channel. */
function takeChosen(about: ReportedPackage, document: ResponseDocument, inner: ResponseDocument): void {
  const number = count(inner['revision']);
  if (number === undefined) return;
  takeRevision(about.revisions, number, inner);
  const resources = takeResources(about, inner['resources']);
  const channel = channelNamed(word(document['effective-channel']));
  if (channel === undefined) return;
  addRelease(about, {
    channel,
    revision: number,
    resources,
    releasedAt: parseTime(document['released-at']),
    base: undefined,
    architecture: undefined,
  });
}

function addRelease(about: ReportedPackage, release: ReportedRelease): void {
  const same = about.releases.find(
    (other) =>
      other.channel === release.channel &&
      other.revision === release.revision &&
      JSON.stringify([other.base, other.architecture]) === JSON.stringify([release.base, release.architecture]),
  );
  if (same === undefined) about.releases.push(release);
  else same.resources ??= release.resources;
}

function takeResources(about: ReportedPackage, value: unknown): ReportedRelease['resources'] {
  if (!Array.isArray(value)) return undefined;
  return documentsIn(value).flatMap((document) => {
    const [name, type, revision] = [word(document['name']), word(document['type']), count(document['revision'])];
    if (name === undefined || revision === undefined || type === undefined) return [];
    const resource = about.resources.get(name) ?? { type, revisions: new Map<number, ReportedPackageRevision>() };
    about.resources.set(name, resource);
    takeRevision(resource.revisions, revision, document);
    return { name, revision };
  });
}

function takeRevision(
  revisions: Map<number, ReportedPackageRevision>,
  number: number,
  document: ResponseDocument,
): void {
  const file = firstOf(document['download']) ?? {};
  const digest = (...names: string[]): string | undefined =>
    names
      .map((name) => file[name])
      .find((value): value is string => typeof value === 'string' && /^[0-9a-f]{64,128}$/.test(value));
  const before = revisions.get(number);
  revisions.set(number, {
    size: before?.size ?? size(file['size']),
    sha256: before?.sha256 ?? digest('hash-sha-256', 'hash-sha256', 'sha-256'),
    sha384: before?.sha384 ?? digest('hash-sha-384', 'hash-sha384'),
    sha3_384: before?.sha3_384 ?? digest('hash-sha3-384', 'sha3-384'),
    createdAt: before?.createdAt ?? parseTime(document['created-at']),
    version: before?.version ?? text(document['version'], 128),
  });
}

const baseIn = (document: ResponseDocument): ReportedBase | undefined => {
  const [name, channel, architecture] = [
    word(document['name']),
    word(document['channel']),
    word(document['architecture']),
  ];
  return name === undefined || channel === undefined || architecture === undefined
    ? undefined
    : { name, channel, architecture };
};

/** Derives the channel from the name, or from track and risk; the name may omit `latest`. */
const channelOf = (document: ResponseDocument): string | undefined => {
  const [track, risk, name] = [word(document['track']), word(document['risk']), word(document['name'])];
  return channelNamed(name ?? (risk === undefined ? undefined : `${track ?? 'latest'}/${risk}`));
};

const channelNamed = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : parseChannel(name)?.name;

const isDocument = (value: unknown): value is ResponseDocument =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const firstOf = (...values: unknown[]): ResponseDocument | undefined => values.find(isDocument);

const documentsIn = (value: unknown): ResponseDocument[] => (Array.isArray(value) ? value.filter(isDocument) : []);

const text = (value: unknown, maxLength: number): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= maxLength ? value : undefined;

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

/** Converts a time to the form that transfers use; undefined if it is not a valid time. */
export function parseTime(value: unknown): string | undefined {
  const moment = typeof value === 'string' && value.length <= 64 ? new Date(value) : undefined;
  return moment === undefined || Number.isNaN(moment.getTime()) ? undefined : timestamp(moment);
}
