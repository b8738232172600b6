// Makes the index of a feed from its file: rows that the matcher searches. The index of the previous feed stays in force
// until a caller puts the complete one in its place.
import { timestamp, type Now } from '#domain/clock.ts';
import { AdvisoryPacker } from '#domain/vulnerabilities/package-advisory.ts';
import { severities, type VulnerabilitySeverity } from '#domain/vulnerabilities/finding.ts';
import type { Advisory } from '#domain/vulnerabilities/osv.ts';
import type { EphemeralRecords, StoreRecords } from '#records/index.ts';
import { readFeed, type FeedContent } from './read-feed.ts';
import { Unacceptable } from '../unacceptable.ts';

export interface FeedIndexOptions {
  records: Pick<StoreRecords, 'ephemeral'>;
  /** The digest of the file. */
  sha3_384: string;
  now: Now;
  signal: AbortSignal;
  skipsInvalid: boolean;
}

/** Rows per transaction: other changes wait for it. */
const rowsPerTransaction = 4_000;
/** The maximum length of the texts that wait to be written. */
const maxWaiting = 8 << 20;
/** The maximum of binary packages that are noted as written, so that they are not written again. */
const maxWritten = 60_000;

type Row = (tx: EphemeralRecords['feedIndexes'], index: number) => Promise<unknown>;

/** Makes an index that is not in force. Throws `Unacceptable` if the feed is invalid; nothing of it is left then. */
export async function indexFeed(
  path: string,
  options: FeedIndexOptions,
): Promise<{ index: number; content: FeedContent }> {
  const { records, sha3_384, now, signal, skipsInvalid } = options;
  const index = await records.ephemeral(({ feedIndexes }) =>
    feedIndexes.begin({ sha3_384, startedAt: timestamp(now()) }),
  );
  try {
    const writer = new FeedIndexWriter(records, index);
    const content = await readFeed(path, { now: now(), signal, skipsInvalid, entries: writer });
    await writer.finish();
    await records.ephemeral(({ feedIndexes }) => feedIndexes.complete({ id: index, ...content }));
    return { index, content };
  } catch (error) {
    await removeIndex(records, index);
    throw error;
  }
}

/** Removes an index that is not in force, some rows at a time. */
export async function removeIndex(records: Pick<StoreRecords, 'ephemeral'>, index: number): Promise<void> {
  for (;;) {
    const removed = await records.ephemeral(({ feedIndexes }) => feedIndexes.remove(index, rowsPerTransaction));
    if (removed === 0) return;
  }
}

class FeedIndexWriter {
  readonly #records: Pick<StoreRecords, 'ephemeral'>;
  readonly #index: number;
  #rows: Row[] = [];
  #statements = 0;
  /** By release and source package. */
  #packers = new Map<string, AdvisoryPacker>();
  #waiting = 0;
  readonly #parts = new Map<string, number>();
  #written = new Set<string>();
  /** The ratings of vulnerabilities, and the advisories without one: notices are rated by the vulnerabilities that they are about. */
  readonly #ratings = new Map<string, VulnerabilitySeverity>();
  readonly #unrated: Pick<Advisory, 'id' | 'names'>[] = [];

  constructor(records: Pick<StoreRecords, 'ephemeral'>, index: number) {
    this.#records = records;
    this.#index = index;
  }

  async advisory(advisory: Advisory): Promise<void> {
    const { affected, ...row } = advisory;
    const { id, names, severity } = advisory;
    if (severity === 'unknown') this.#unrated.push({ id, names });
    else for (const name of names) if (name.startsWith('CVE-')) this.#ratings.set(name, severity);
    await this.#add(async (tx, index) => {
      if (!(await tx.addAdvisory(index, row))) throw new Unacceptable(`The feed has the advisory ${id} twice.`);
    });
    for (const affectedPackage of affected) {
      const key = `${affectedPackage.release} ${affectedPackage.name}`;
      const packer = this.#packers.get(key) ?? new AdvisoryPacker();
      this.#packers.set(key, packer);
      const { length } = packer;
      packer.add(advisory, affectedPackage);
      this.#waiting += packer.length - length;
    }
    if (this.#waiting > maxWaiting) await this.#writePackages();
  }

  statement(statement: Parameters<EphemeralRecords['feedIndexes']['addStatement']>[2]): Promise<void> {
    const number = ++this.#statements;
    return this.#add((tx, index) => tx.addStatement(index, number, statement));
  }

  exploited(vulnerability: Parameters<EphemeralRecords['feedIndexes']['addExploited']>[1]): Promise<void> {
    return this.#add((tx, index) => tx.addExploited(index, vulnerability));
  }

  async finish(): Promise<void> {
    await this.#writePackages();
    for (const { id, names } of this.#unrated) {
      const rated = new Set(names.map((name) => this.#ratings.get(name)));
      const severity = severities.find((candidate) => rated.has(candidate));
      if (severity !== undefined) await this.#add((tx, index) => tx.rateAdvisory(index, id, severity));
    }
    await this.#flush();
  }

  async #writePackages(): Promise<void> {
    for (const [key, packer] of this.#packers) {
      const [release = '', name = ''] = key.split(' ');
      const part = (this.#parts.get(key) ?? 0) + 1;
      this.#parts.set(key, part);
      const advisories = packer.toText();
      await this.#add((tx, index) => tx.addPackage(index, { release, name, part, advisories }));
      for (const binary of packer.names()) {
        const pair = `${release} ${binary} ${name}`;
        if (this.#written.has(pair)) continue;
        if (this.#written.size >= maxWritten) this.#written = new Set();
        this.#written.add(pair);
        await this.#add((tx, index) => tx.addBinary(index, { release, name: binary, source: name }));
      }
    }
    this.#packers = new Map();
    this.#waiting = 0;
  }

  async #add(row: Row): Promise<void> {
    this.#rows.push(row);
    if (this.#rows.length >= rowsPerTransaction) await this.#flush();
  }

  async #flush(): Promise<void> {
    const rows = this.#rows;
    this.#rows = [];
    if (rows.length === 0) return;
    await this.#records.ephemeral(async ({ feedIndexes }) => {
      for (const row of rows) await row(feedIndexes, this.#index);
    });
  }
}
