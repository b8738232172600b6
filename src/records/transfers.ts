// Transfers: what came across the gap and waits, was let in or not; what of it has come; and what was made for others.
import { columns, list, sql, type Queries } from '#engine/database.ts';

export interface ReceivedTransfer {
  /** The SHA-256 of its statement. */
  id: string;
  source: string;
  sequence: number;
  /** The SHA3-384 of its statement, which is kept as content. */
  statement: string;
  /** As they came. */
  signatures: string;
  status: 'waiting' | 'accepted' | 'discarded' | 'withdrawn';
  receivedAt: string;
  /** As the audit log writes it. */
  receivedBy: string;
  settledAt: string | null;
  settledBy: string | null;
  /** JSON. */
  receipt: string | null;
  /** The request that it meets, by the SHA-256 of that one's statement. */
  answers: string | null;
  /** What it came on, in that order, as whoever carried it calls each; a JSON array of texts. */
  media: string;
  /** Whether nobody has signed it: it lay in a folder as what it is made of. */
  unsigned: 0 | 1;
}

/** What a review found in something that is carried, or why it cannot be taken in. */
export type TransferFinding = { subject: string } & (
  { findings: string; refused: null } | { findings: null; refused: string }
);

export interface MadeTransfer {
  sequence: number;
  id: string;
  /** The sites that it is for; none stands for any. */
  sites: string[];
  /** The SHA3-384 of its statement, which is kept as content. */
  statement: string;
  /** Of all its parts. */
  bytes: number;
  madeAt: string;
  madeBy: string;
}

const transferColumns = columns`
  id, source, sequence, statement, signatures, status, received_at AS "receivedAt", received_by AS "receivedBy",
  settled_at AS "settledAt", settled_by AS "settledBy", receipt, media, unsigned, answers`;

export const transfers = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (id: string) => db.get<ReceivedTransfer>(sql`SELECT ${transferColumns} FROM transfers WHERE id = ${id}`),

  /** Those whose id begins so; two at most, to tell whether it is one. */
  beginningWith: (prefix: string) =>
    db.all<ReceivedTransfer>(sql`
      SELECT ${transferColumns} FROM transfers WHERE id >= ${prefix} AND id < ${`${prefix}g`} ORDER BY id LIMIT 2`),

  /** The newest first. */
  list: (limit: number) =>
    db.all<ReceivedTransfer>(sql`
      SELECT ${transferColumns} FROM transfers ORDER BY received_at DESC LIMIT ${limit}`),

  /** Those that came before another one, the newest first. */
  before: ({ receivedAt, id }: { receivedAt: string; id: string }, limit: number) =>
    db.all<ReceivedTransfer>(sql`
      SELECT ${transferColumns} FROM transfers WHERE (received_at, id) < (${receivedAt}, ${id})
      ORDER BY received_at DESC, id DESC LIMIT ${limit}`),

  /** Those that were let in or put back after a moment, in that order. */
  settledSince: (moment: string, limit: number) =>
    db.all<ReceivedTransfer>(sql`
      SELECT ${transferColumns} FROM transfers
      WHERE settled_at IS NOT NULL AND settled_at > ${moment} AND status IN ('accepted', 'withdrawn')
      ORDER BY settled_at, id LIMIT ${limit}`),

  /**
   * Those that were let in or put back, and of which their source has not shown that it knows: it has answered no request that
   * was made since. The last of them, in their order.
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

  /** The last that nobody has signed. */
  newestUnsigned: () =>
    db.get<ReceivedTransfer>(sql`
      SELECT ${transferColumns} FROM transfers WHERE unsigned = 1 ORDER BY sequence DESC, received_at DESC LIMIT 1`),

  /** When one was last let in, also where it was put back later; nothing where none was. */
  lastSettled: async () =>
    (
      await db.get<{ at: string }>(sql`
        SELECT settled_at AS at FROM transfers
        WHERE settled_at IS NOT NULL AND status IN ('accepted', 'withdrawn') ORDER BY settled_at DESC LIMIT 1`)
    )?.at ?? null,

  /** Of these contents those that have come for a transfer that waits. */
  arrived: (id: string): Promise<Set<string>> =>
    allTexts((after, limit) =>
      db.all(sql`
        SELECT sha3_384 AS text FROM passing_transfer_contents
        WHERE transfer = ${id} AND sha3_384 > ${after} ORDER BY sha3_384 LIMIT ${limit}`),
    ),

  /** What a review found of a subject of a transfer. */
  finding: (id: string, subject: string) =>
    db.get<TransferFinding>(sql`
      SELECT subject, findings, refused FROM passing_transfer_findings WHERE transfer = ${id} AND subject = ${subject}`),

  /** The subjects of a transfer of which a review has found something. */
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

  /** What a site was told last of each package: a digest of it, and in which transfer. */
  toldOf: async (site: string): Promise<Map<string, { digest: string; sequence: number }>> =>
    new Map(
      (
        await db.all<{ id: string; digest: string; sequence: number }>(sql`
          SELECT package_id AS id, digest, sequence FROM sent_packages WHERE site IN ('', ${site}) ORDER BY sequence`)
      ).map(({ id, ...told }) => [id, told]),
    ),

  /** Of these numbers of a source those that were let in here. */
  letIn: async (source: string, sequences: readonly number[]): Promise<Set<number>> =>
    new Set(
      (
        await db.all<{ sequence: number }>(sql`
          SELECT sequence FROM transfers
          WHERE source = ${source} AND sequence IN ${list(sequences)} AND status IN ('accepted', 'withdrawn')`)
      ).map(({ sequence }) => sequence),
    ),

  /** Of these contents those that were sent to a site, or to any. */
  sentTo: async (site: string, contents: readonly string[]): Promise<Set<string>> =>
    new Set(
      (
        await db.all<{ content: string }>(sql`
          SELECT content FROM sent_contents WHERE site IN ('', ${site}) AND content IN ${list(contents)}`)
      ).map(({ content }) => content),
    ),
});

/** Texts that are found page by page, each behind the one before: as rows at once tens of thousands would take three times as much. */
async function allTexts(page: (after: string, limit: number) => Promise<{ text: string }[]>): Promise<Set<string>> {
  const all = new Set<string>();
  for (let after: string | undefined = ''; after !== undefined;) {
    const found = await page(after, pageOfTexts);
    for (const { text } of found) all.add(text);
    after = found.length < pageOfTexts ? undefined : found.at(-1)?.text;
  }
  return all;
}

const pageOfTexts = 1000;

export const transferChanges = (db: Queries) => ({
  ...transfers(db),

  /** Adds one that waits; one that was discarded waits again. False when it is here already. */
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

  settle: (id: string, s: Pick<ReceivedTransfer, 'status' | 'receipt'> & { at: string; by: string }) =>
    db.run(sql`
      UPDATE transfers SET status = ${s.status}, settled_at = ${s.at}, settled_by = ${s.by}, receipt = ${s.receipt}
      WHERE id = ${id}`),

  /** Forgets what has come for one that waits no more. */
  async forgetArrived(id: string): Promise<void> {
    await db.run(sql`DELETE FROM passing_transfer_contents WHERE transfer = ${id}`);
    await db.run(sql`DELETE FROM passing_transfer_findings WHERE transfer = ${id}`);
  },

  /** Forgets that a transfer has carried anything; how much that was. */
  async forgetSent(sequence: number): Promise<{ contents: number; packages: number }> {
    return {
      contents: await db.run(sql`DELETE FROM sent_contents WHERE sequence = ${sequence}`),
      packages: await db.run(sql`DELETE FROM sent_packages WHERE sequence = ${sequence}`),
    };
  },

  /** Adds one with the contents that are in it, and what it tells of packages, by a digest of each. */
  async addMade(
    t: MadeTransfer,
    {
      contents,
      texts,
      told,
    }: { contents: readonly string[]; texts: readonly string[]; told: ReadonlyMap<string, string> },
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
      for (const [packageId, digest] of told) {
        await db.run(sql`
          INSERT INTO sent_packages (site, package_id, digest, sequence) VALUES (${site}, ${packageId}, ${digest}, ${t.sequence})
          ON CONFLICT (site, package_id) DO UPDATE SET digest = excluded.digest, sequence = excluded.sequence`);
      }
    }
  },
});

export const transferPassing = (db: Queries) => ({
  /** Notes that a content of a waiting transfer has come; it is held until `endsAt`, or until the transfer is settled. */
  arrive: (id: string, sha3_384: string, endsAt: string) =>
    db.run(sql`
      INSERT INTO passing_transfer_contents (transfer, sha3_384, ends_at) VALUES (${id}, ${sha3_384}, ${endsAt})
      ON CONFLICT DO NOTHING`),

  found: (id: string, { subject, findings, refused }: TransferFinding, endsAt: string) =>
    db.run(sql`
      INSERT INTO passing_transfer_findings (transfer, subject, findings, refused, ends_at)
      VALUES (${id}, ${subject}, ${findings}, ${refused}, ${endsAt})
      ON CONFLICT (transfer, subject) DO UPDATE SET findings = excluded.findings, refused = excluded.refused`),

  /** Forgets what came for transfers that waited too long; how much. */
  sweep: async (now: string) =>
    (await db.run(sql`DELETE FROM passing_transfer_contents WHERE ends_at <= ${now}`)) +
    (await db.run(sql`DELETE FROM passing_transfer_findings WHERE ends_at <= ${now}`)),
});
