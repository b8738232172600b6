// Reads a feed of advisories: its format, date and coverage, and its entries one by one. A feed with an invalid entry is
// refused as a whole, unless the administrator decided to leave such entries out.
import { computeDigest } from '#domain/cryptography.ts';
import { after, hours, timestamp } from '#domain/clock.ts';
import { InvalidEntry, membersOf } from '#domain/vulnerabilities/feed-entry.ts';
import { isKev, parseKev } from '#domain/vulnerabilities/kev.ts';
import { isOpenVex, parseOpenVex, type VexStatement } from '#domain/vulnerabilities/openvex.ts';
import { parseOsvRecord, type Advisory } from '#domain/vulnerabilities/osv.ts';
import type { FeedFormat } from '#records/vulnerabilities/feeds.ts';
import { quoted, Unacceptable } from '../unacceptable.ts';
import { forEachFeedDocument, type FeedDocument } from './feed-file.ts';

/** The entries of a feed are passed to these functions. */
export interface FeedEntries {
  advisory(advisory: Advisory): Promise<void>;
  statement(statement: VexStatement): Promise<void>;
  /** A CVE number in the catalog of exploited vulnerabilities. */
  exploited(vulnerability: string): Promise<void>;
}

/** The properties of a feed that follow from its content. */
export interface FeedContent {
  format: FeedFormat;
  /** The name of the feed: the distributions, the catalog, or the author or document of OpenVEX. */
  source: string;
  /** The time of the latest change, RFC 3339. */
  datedAt: string;
  entries: number;
  /** The releases that it covers, sorted. */
  releases: string[];
  /** The number of entries that were left out, and the first problems. */
  skipped: number;
  problems: string[];
}

export interface FeedReadOptions {
  now: Date;
  signal: AbortSignal;
  /** Whether to leave out invalid entries. */
  skipsInvalid: boolean;
  entries: FeedEntries;
}

const maxEntries = 1_000_000;
const maxProblems = 10;
/** How far ahead of the clock a feed may be dated. A later date would keep all following feeds out. */
const maxAhead = hours(24);

/** Reads a feed. Throws `Unacceptable`. */
export async function readFeed(path: string, options: FeedReadOptions): Promise<FeedContent> {
  const reading = new FeedReading(options);
  await forEachFeedDocument(path, (document) => reading.read(document), options.signal);
  return reading.finish();
}

/** Whether the first document in a file is an entry of a feed. */
export async function isFeed(path: string, signal: AbortSignal): Promise<boolean> {
  let isEntry = false;
  const first = new AbortController();
  try {
    await forEachFeedDocument(
      path,
      ({ value }) => {
        const { id, modified, affected } = membersOf(value);
        isEntry = isKev(value) || isOpenVex(value) || (typeof id === 'string' && (modified ?? affected) !== undefined);
        first.abort();
        return Promise.resolve();
      },
      AbortSignal.any([signal, first.signal]),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (!first.signal.aborted && !(error instanceof Unacceptable)) throw error;
  }
  return isEntry;
}

class FeedReading {
  readonly #options: FeedReadOptions;
  #format: FeedFormat | undefined;
  #datedAt = '';
  #entries = 0;
  #documents = 0;
  readonly #releases = new Set<string>();
  /** Authors of OpenVEX, and the id of the last document. */
  readonly #authors = new Set<string>();
  #documentId = '';
  #skipped = 0;
  readonly #problems: string[] = [];

  constructor(options: FeedReadOptions) {
    this.#options = options;
  }

  async read({ name, value }: FeedDocument): Promise<void> {
    const format = isKev(value) ? 'kev' : isOpenVex(value) ? 'openvex' : 'osv';
    this.#format ??= format;
    if (format !== this.#format)
      throw new Unacceptable(`The feed has documents of several formats; ${quoted(name)} is the first of another one.`);
    this.#documents++;
    try {
      if (format === 'osv') await this.#readAdvisory(value);
      else if (format === 'kev') await this.#readCatalog(value);
      else await this.#readStatements(value);
    } catch (error) {
      if (!(error instanceof InvalidEntry)) throw error;
      this.#skip(error.message);
    }
  }

  #skip(problem: string): void {
    if (!this.#options.skipsInvalid)
      throw new Unacceptable(
        `The feed is invalid: ${problem.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\uFFFD')}. Get it again, or leave invalid entries out.`,
      );
    this.#skipped++;
    if (this.#problems.length < maxProblems) this.#problems.push(problem);
  }

  async #readAdvisory(value: unknown): Promise<void> {
    const advisory = parseOsvRecord(value);
    if (advisory === undefined) return;
    this.#date(advisory.modifiedAt, advisory.id);
    // Advisories about other ecosystems may be in the same file.
    if (advisory.affected.length === 0) return;
    for (const { release } of advisory.affected) this.#releases.add(release);
    this.#count();
    await this.#options.entries.advisory(advisory);
  }

  async #readCatalog(value: unknown): Promise<void> {
    const { datedAt, vulnerabilities } = parseKev(value);
    this.#date(datedAt, 'the catalog');
    for (const vulnerability of vulnerabilities) {
      this.#count();
      await this.#options.entries.exploited(vulnerability);
    }
  }

  async #readStatements(value: unknown): Promise<void> {
    const { id, author, datedAt, statements } = parseOpenVex(value);
    this.#date(datedAt, id);
    this.#authors.add(author);
    this.#documentId = id;
    for (const statement of statements) {
      this.#count();
      await this.#options.entries.statement(statement);
    }
  }

  #count(): void {
    if (++this.#entries > maxEntries)
      throw new Unacceptable(`The feed has more than ${String(maxEntries)} entries: split it by distribution.`);
  }

  #date(datedAt: string, entry: string): void {
    if (datedAt > timestamp(after(this.#options.now, maxAhead)))
      throw new InvalidEntry(`${entry} is dated ${datedAt}, after the clock of this host`);
    if (datedAt > this.#datedAt) this.#datedAt = datedAt;
  }

  finish(): FeedContent {
    const format = this.#format;
    if (format === undefined) throw new Unacceptable('The feed has no JSON documents.');
    if (this.#entries === 0)
      throw new Unacceptable(
        format === 'osv'
          ? 'The feed has no advisories about releases of Ubuntu, Debian or Alpine.'
          : 'The feed has no entries.',
      );
    return {
      format,
      source: this.#sourceOf(format),
      datedAt: this.#datedAt,
      entries: this.#entries,
      releases: [...this.#releases].sort(),
      skipped: this.#skipped,
      problems: this.#problems,
    };
  }

  #sourceOf(format: FeedFormat): string {
    if (format === 'kev') return 'cisa-kev';
    if (format === 'osv')
      return [...new Set([...this.#releases].map((release) => release.split(':', 1)[0]!))].sort().join('+');
    // A later version of a single document replaces it; an archive has all statements of its author.
    const [author = '', ...others] = this.#authors;
    if (others.length > 0) throw new Unacceptable('The feed has statements of several authors. Give it a name.');
    const name = this.#documents === 1 ? this.#documentId : author;
    const words = name
      .toLowerCase()
      .replace(/^[a-z]+:\/\//, '')
      .replace(/[^a-z0-9.+]+/g, '-')
      .slice(0, 48);
    return `vex-${words}-${computeDigest('cache', name).slice(0, 8)}`;
  }
}
