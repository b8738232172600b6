// Transfers: received ones with their state and their received content, and those made for other sites.
import { columns, list, sql, type Queries } from '#engine/database.ts';

export interface ReceivedTransfer {
  /** The SHA-256 of its statement. */
  id: string;
  source: string;
  sequence: number;
  /** The SHA3-384 of its statement, which is stored as a blob. */
  statement: string;
  /** As received. */
  signatures: string;
  status: 'waiting' | 'accepted' | 'discarded' | 'withdrawn';
  receivedAt: string;
  /** The account that received it, in the form of the audit log. */
  receivedBy: string;
  settledAt: string | null;
  settledBy: string | null;
  /** JSON. */
  receipt: string | null;
  /** The request that it answers, by the SHA-256 of the request's statement. */
  answers: string | null;
  /** The media that it came on, in order, by the carrier's names; a JSON array of strings. */
  media: string;
  /** Whether it has no signature: its packages came from a folder. */
  unsigned: 0 | 1;
}

/** The findings of a review for one subject of a transfer, or why the subject is refused. */
export type TransferFinding = { subject: string } & (
  { findings: string; refused: null } | { findings: null; refused: string }
);

export interface MadeTransfer {
  sequence: number;
  id: string;
  /** The sites that it is for; empty means any site. */
  sites: string[];
  /** The SHA3-384 of its statement, which is stored as a blob. */
  statement: string;
  /** Size of all its parts. */
  bytes: number;
  madeAt: string;
  madeBy: string;
}

const transferColumns = columns`
  id, source, sequence, statement, signatures, status, received_at AS "receivedAt", received_by AS "receivedBy",
  settled_at AS "settledAt", settled_by AS "settledBy", receipt, media, unsigned, answers`;

export const transfers = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (id: string) => db.get<ReceivedTransfer>(sql`SELECT ${transferColumns} FROM transfers WHERE id = ${id}`),

  /** Lists the transfers with an id that starts with `prefix`; at most two, to tell whether it is unique. */
  beginningWith: (prefix: string) =>
    db.all<ReceivedTransfer>(sql`
      SELECT ${transferColumns} FROM transfers WHERE id >= ${prefix} AND id < ${`${prefix}g`} ORDER BY id LIMIT 2`),

  /** Lists transfers, newest first. */
  list: (limit: number) =>
    db.all<ReceivedTransfer>(sql`
      SELECT ${transferColumns} FROM transfers ORDER BY received_at DESC LIMIT ${limit}`),

  /** Lists the transfers received before another one, newest first. */
  before: ({ receivedAt, id }: { receivedAt: string; id: string }, limit: number) =>
    db.all<ReceivedTransfer>(sql`
      SELECT ${transferColumns} FROM transfers WHERE (received_at, id) < (${receivedAt}, ${id})
      ORDER BY received_at DESC, id DESC LIMIT ${limit}`),

  /** Lists the transfers that were accepted or withdrawn after a time, in that order. */
  settledSince: (moment: string, limit: number) =>
    db.all<ReceivedTransfer>(sql`
      SELECT ${transferColumns} FROM transfers
      WHERE settled_at IS NOT NULL AND settled_at > ${moment} AND status IN ('accepted', 'withdrawn')
      ORDER BY settled_at, id LIMIT ${limit}`),

  /**
   * Lists the accepted or withdrawn transfers without an acknowledgement: their source has answered no request that was made since. Returns
   * the latest of them, in order.
   */
  unacknowledged: async (limit: number): Promise<ReceivedTransfer[]> =>
    (
      await db.all<ReceivedTransfer>(sql`
        SELECT ${transferColumns} FROM transfers
        WHERE settled_at IS NOT NULL AND status IN ('accepted', 'withdrawn') AND settled_at > COALESCE((
          SELECT MAX(made_at) FROM made_requests
          JOIN transfers AS met ON met.answers = made_requests.id WHERE met.source = transfers.source), '')
        ORDER BY settled_at DESC, id DESC LIMIT ${limit}`)
    ).reverse(),

  waiting: (limit: number) =>
    db.all<ReceivedTransfer>(sql`
      SELECT ${transferColumns} FROM transfers WHERE status = 'waiting' ORDER BY id LIMIT ${limit}`),

  /** Returns the last unsigned transfer. */
  newestUnsigned: () =>
    db.get<ReceivedTransfer>(sql`
      SELECT ${transferColumns} FROM transfers WHERE unsigned = 1 ORDER BY sequence DESC, received_at DESC LIMIT 1`),

  /** Returns when a transfer was last accepted or withdrawn; null if none was. */
  lastSettled: async () =>
    (
      await db.get<{ at: string }>(sql`
        SELECT settled_at AS at FROM transfers
        WHERE settled_at IS NOT NULL AND status IN ('accepted', 'withdrawn') ORDER BY settled_at DESC LIMIT 1`)
    )?.at ?? null,

  /** Returns the contents that were received for a pending transfer. */
  arrived: (id: string): Promise<Set<string>> =>
    allTexts((after, limit) =>
      db.all(sql`
        SELECT sha3_384 AS text FROM passing_transfer_contents
        WHERE transfer = ${id} AND sha3_384 > ${after} ORDER BY sha3_384 LIMIT ${limit}`),
    ),

  /** Returns the review of a subject of a transfer. */
  finding: (id: string, subject: string) =>
    db.get<TransferFinding>(sql`
      SELECT subject, findings, refused FROM passing_transfer_findings WHERE transfer = ${id} AND subject = ${subject}`),

  /** Returns the reviewed subjects of a transfer. */
  reviewed: (id: string): Promise<Set<string>> =>
    allTexts((after, limit) =>
      db.all(sql`
        SELECT subject AS text FROM passing_transfer_findings
        WHERE transfer = ${id} AND subject > ${after} ORDER BY subject LIMIT ${limit}`),
    ),

  async made(sequence: number): Promise<MadeTransfer | undefined> {
    const row = await db.get<Omit<MadeTransfer, 'sites'> & { sites: string }>(sql`
      SELECT sequence, id, sites, statement, bytes, made_at AS "madeAt", made_by AS "madeBy"
      FROM made_transfers WHERE sequence = ${sequence}`);
    return row && { ...row, sites: JSON.parse(row.sites) as string[] };
  },

  newestMade: async () =>
    (await db.get<{ sequence: number | null }>(sql`SELECT MAX(sequence) AS sequence FROM made_transfers`))?.sequence ??
    0,

  /** Returns the state of each package that was last sent to a site: its digest and the transfer. */
  toldOf: async (site: string): Promise<Map<string, { digest: string; sequence: number }>> =>
    new Map(
      (
        await db.all<{ id: string; digest: string; sequence: number }>(sql`
          SELECT package_id AS id, digest, sequence FROM sent_packages WHERE site IN ('', ${site}) ORDER BY sequence`)
      ).map(({ id, ...sent }) => [id, sent]),
    ),

  /** Returns which of these numbers of a source were accepted here. */
  letIn: async (source: string, sequences: readonly number[]): Promise<Set<number>> =>
    new Set(
      (
        await db.all<{ sequence: number }>(sql`
          SELECT sequence FROM transfers
          WHERE source = ${source} AND sequence IN ${list(sequences)} AND status IN ('accepted', 'withdrawn')`)
      ).map(({ sequence }) => sequence),
    ),

  /** Returns which of these contents were sent to a site, or to any site. */
  sentTo: async (site: string, contents: readonly string[]): Promise<Set<string>> =>
    new Set(
      (
        await db.all<{ content: string }>(sql`
          SELECT content FROM sent_contents WHERE site IN ('', ${site}) AND content IN ${list(contents)}`)
      ).map(({ content }) => content),
    ),
});

/** Reads strings page by page, each page after the one before. Tens of thousands in one query would take three times as much memory. */
async function allTexts(page: (after: string, limit: number) => Promise<{ text: string }[]>): Promise<Set<string>> {
  const all = new Set<string>();
  for (let after: string | undefined = ''; after !== undefined;) {
    const rows = await page(after, pageOfTexts);
    for (const { text } of rows) all.add(text);
    after = rows.length < pageOfTexts ? undefined : rows.at(-1)?.text;
  }
  return all;
}

const pageOfTexts = 1000;

export const transferChanges = (db: Queries) => ({
  ...transfers(db),

  /** Adds a pending transfer; a discarded one becomes pending again. Returns false if it exists already. */
  add: async (t: Omit<ReceivedTransfer, 'status' | 'settledAt' | 'settledBy' | 'receipt' | 'media'>) =>
    0 <
    (await db.run(sql`
      INSERT INTO transfers (id, source, sequence, statement, signatures, status, received_at, received_by, unsigned, answers)
      VALUES (${t.id}, ${t.source}, ${t.sequence}, ${t.statement}, ${t.signatures}, 'waiting', ${t.receivedAt}, ${t.receivedBy},
        ${t.unsigned}, ${t.answers})
      ON CONFLICT (id) DO UPDATE
      SET status = 'waiting', signatures = excluded.signatures, received_at = excluded.received_at,
        received_by = excluded.received_by, settled_at = NULL, settled_by = NULL
      WHERE transfers.status = 'discarded'`)),

  setSignatures: (id: string, signatures: string) =>
    db.run(sql`UPDATE transfers SET signatures = ${signatures} WHERE id = ${id}`),

  setMedia: (id: string, media: string) => db.run(sql`UPDATE transfers SET media = ${media} WHERE id = ${id}`),

  settle: (id: string, s: Pick<ReceivedTransfer, 'status' | 'receipt'> & { at: string; actor: string }) =>
    db.run(sql`
      UPDATE transfers SET status = ${s.status}, settled_at = ${s.at}, settled_by = ${s.actor}, receipt = ${s.receipt}
      WHERE id = ${id}`),

  /** Deletes the received contents and the findings of a transfer that is no longer pending. */
  async forgetArrived(id: string): Promise<void> {
    await db.run(sql`DELETE FROM passing_transfer_contents WHERE transfer = ${id}`);
    await db.run(sql`DELETE FROM passing_transfer_findings WHERE transfer = ${id}`);
  },

  /** Forgets that a transfer carried anything, so that it is sent again. Returns how much. */
  async forgetSent(sequence: number): Promise<{ contents: number; packages: number }> {
    return {
      contents: await db.run(sql`DELETE FROM sent_contents WHERE sequence = ${sequence}`),
      packages: await db.run(sql`DELETE FROM sent_packages WHERE sequence = ${sequence}`),
    };
  },

  /** Adds a transfer that was made here, with its contents and the digests of its packages. */
  async addMade(
    t: MadeTransfer,
    {
      contents,
      texts,
      packageDigests,
    }: { contents: readonly string[]; texts: readonly string[]; packageDigests: ReadonlyMap<string, string> },
  ): Promise<void> {
    await db.run(sql`
      INSERT INTO made_transfers (sequence, id, sites, statement, bytes, made_at, made_by)
      VALUES (${t.sequence}, ${t.id}, ${JSON.stringify(t.sites)}, ${t.statement}, ${t.bytes}, ${t.madeAt}, ${t.madeBy})`);
    for (const text of texts) {
      await db.run(sql`INSERT INTO made_texts (sha3_384, sequence) VALUES (${text}, ${t.sequence})`);
    }
    for (const site of t.sites.length === 0 ? [''] : t.sites) {
      for (const content of contents) {
        await db.run(sql`
          INSERT INTO sent_contents (site, content, sequence) VALUES (${site}, ${content}, ${t.sequence})
          ON CONFLICT DO NOTHING`);
      }
      for (const [packageId, digest] of packageDigests) {
        await db.run(sql`
          INSERT INTO sent_packages (site, package_id, digest, sequence) VALUES (${site}, ${packageId}, ${digest}, ${t.sequence})
          ON CONFLICT (site, package_id) DO UPDATE SET digest = excluded.digest, sequence = excluded.sequence`);
      }
    }
  },
});

export const ephemeralTransfers = (db: Queries) => ({
  /** Records that a content of a pending transfer was received. It is kept until `endsAt`, or until the transfer is settled. */
  arrive: (id: string, sha3_384: string, endsAt: string) =>
    db.run(sql`
      INSERT INTO passing_transfer_contents (transfer, sha3_384, ends_at) VALUES (${id}, ${sha3_384}, ${endsAt})
      ON CONFLICT DO NOTHING`),

  found: (id: string, { subject, findings, refused }: TransferFinding, endsAt: string) =>
    db.run(sql`
      INSERT INTO passing_transfer_findings (transfer, subject, findings, refused, ends_at)
      VALUES (${id}, ${subject}, ${findings}, ${refused}, ${endsAt})
      ON CONFLICT (transfer, subject) DO UPDATE SET findings = excluded.findings, refused = excluded.refused`),

  /** Deletes the contents and findings of transfers that were pending too long. Returns how many rows. */
  sweep: async (now: string) =>
    (await db.run(sql`DELETE FROM passing_transfer_contents WHERE ends_at <= ${now}`)) +
    (await db.run(sql`DELETE FROM passing_transfer_findings WHERE ends_at <= ${now}`)),
});
