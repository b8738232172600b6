// Proposals: acts that wait for approvals, with the approvals and the results.
import type { ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { columns, sql, type Queries } from '#engine/database.ts';

export interface NewProposal {
  /** The name of the act. */
  act: string;
  /** The object of the act, in the form of the audit log. */
  object: string;
  /** The account that proposes, in the form of the audit log. */
  actor: string;
  /** SHA-256 over the request. */
  asked: string;
  /** SHA-256 over the request and its changes. */
  digest: string;
  lines: readonly ApprovalLine[];
  proposedAt: string;
  endsAt: string;
}

/**
 * `fallen`: the proposal is out of date, because its objects or the trust in a source have changed since, or the store was restored. It can
 * no longer be approved. An open proposal that has expired stays `open` in the records, and cannot be approved either.
 */
export type StoredProposalState = 'open' | 'done' | 'rejected' | 'fallen';

export interface Proposal extends NewProposal {
  number: number;
  state: StoredProposalState;
  endedAt: string | null;
  /** An account id, or the actor in the form of the audit log. */
  endedBy: string | null;
  because: string | null;
}

/** The approval of a proposal by one account. */
export interface StoredApproval {
  accountId: string;
  username: string;
  displayName: string;
  at: string;
  /** The key that signed the approval, as long as it is registered for the account. */
  key: string | null;
  /** As `ssh-keygen -Y sign` writes it. */
  signature: string | null;
}

type ProposalRow = Omit<Proposal, 'lines'> & { lines: string };

const asProposal = ({ lines, ...row }: ProposalRow): Proposal => ({
  ...row,
  lines: JSON.parse(lines) as ApprovalLine[],
});

const proposalColumns = columns`
  number, act, object, actor, asked, digest, lines, proposed_at AS "proposedAt", ends_at AS "endsAt", state,
  ended_at AS "endedAt", ended_by AS "endedBy", because`;

export const proposals = (db: Pick<Queries, 'get' | 'all'>) => ({
  async find(number: number): Promise<Proposal | undefined> {
    const row = await db.get<ProposalRow>(sql`SELECT ${proposalColumns} FROM proposals WHERE number = ${number}`);
    return row && asProposal(row);
  },

  /** Finds the latest proposal with these changes that has not ended by `now`; it is open or rejected. */
  async standing(digest: string, now: string): Promise<Proposal | undefined> {
    const row = await db.get<ProposalRow>(sql`
      SELECT ${proposalColumns} FROM proposals
      WHERE digest = ${digest} AND state IN ('open', 'rejected') AND ends_at > ${now} ORDER BY number DESC LIMIT 1`);
    return row && asProposal(row);
  },

  /** Lists the proposals before a number, newest first; with `openAt`, only those open at that time. */
  async list(filter: { before: number; openAt: string | undefined }, limit: number): Promise<Proposal[]> {
    const { before, openAt = '' } = filter;
    const rows = await db.all<ProposalRow>(sql`
      SELECT ${proposalColumns} FROM proposals
      WHERE number < ${before} AND (${openAt} = '' OR (state = 'open' AND ends_at > ${openAt}))
      ORDER BY number DESC LIMIT ${limit}`);
    return rows.map(asProposal);
  },

  /** Lists the open proposals after a number, oldest first. */
  async waiting(after: number, now: string, limit: number): Promise<Proposal[]> {
    const rows = await db.all<ProposalRow>(sql`
      SELECT ${proposalColumns} FROM proposals
      WHERE number > ${after} AND state = 'open' AND ends_at > ${now} ORDER BY number LIMIT ${limit}`);
    return rows.map(asProposal);
  },

  /** Lists the approvals of a proposal, oldest first. */
  approvals: (number: number) =>
    db.all<StoredApproval>(sql`
      SELECT given.account_id AS "accountId", accounts.username, accounts.display_name AS "displayName", given.at,
        known.key, CASE WHEN known.key IS NULL THEN NULL ELSE given.signature END AS signature
      FROM approvals AS given
      JOIN accounts ON accounts.id = given.account_id
      LEFT JOIN approver_keys AS known ON known.key = given.key AND known.account_id = given.account_id
      WHERE given.proposal = ${number} ORDER BY given.at, given.account_id`),

  /** Counts an actor's open proposals. */
  countOpen: async (actor: string, now: string) =>
    (
      await db.get<{ count: number }>(sql`
        SELECT count(*) AS count FROM proposals WHERE state = 'open' AND actor = ${actor} AND ends_at > ${now}`)
    )?.count ?? 0,

  /** Returns whether any proposal ended before a time, and so may be deleted. */
  anyEnded: async (before: string) =>
    undefined !==
    (await db.get(sql`
      SELECT 1 FROM proposals WHERE ends_at < ${before} AND number < (SELECT max(number) FROM proposals) LIMIT 1`)),
});

export const proposalChanges = (db: Queries) => ({
  ...proposals(db),

  /** Adds a proposal. Returns its number. */
  async add(p: NewProposal): Promise<number> {
    const [row] = await db.all<{ number: number }>(sql`
      INSERT INTO proposals (act, object, actor, asked, digest, lines, proposed_at, ends_at, state)
      VALUES (${p.act}, ${p.object}, ${p.actor}, ${p.asked}, ${p.digest}, ${JSON.stringify(p.lines)}, ${p.proposedAt},
        ${p.endsAt}, 'open')
      RETURNING number`);
    return row!.number;
  },

  /** Ends an open proposal. Returns false if it has ended before. */
  end: async (
    number: number,
    state: StoredProposalState,
    { at, actor, because = null }: ProposalEnd,
  ): Promise<boolean> =>
    0 <
    (await db.run(sql`
      UPDATE proposals SET state = ${state}, ended_at = ${at}, ended_by = ${actor}, because = ${because}
      WHERE number = ${number} AND state = 'open'`)),

  /**
   * Ends as `fallen` the open proposals of the same request with another digest: the objects have changed since. Returns
   * their numbers.
   */
  endOthersAsFallen: async (
    { asked: requestDigest, digest }: Pick<NewProposal, 'asked' | 'digest'>,
    { at, actor }: ProposalEnd,
  ): Promise<number[]> => {
    const rows = await db.all<{ number: number }>(sql`
      UPDATE proposals SET state = 'fallen', ended_at = ${at}, ended_by = ${actor}
      WHERE asked = ${requestDigest} AND state = 'open' AND digest <> ${digest} RETURNING number`);
    return rows.map(({ number }) => number);
  },

  /** Ends all open proposals as `fallen`. */
  endAllAsFallen: ({ at, actor }: ProposalEnd) =>
    db.run(sql`UPDATE proposals SET state = 'fallen', ended_at = ${at}, ended_by = ${actor} WHERE state = 'open'`),

  /** Records an approval. It replaces an earlier approval of the proposal by the same account. */
  approve: ({ number, accountId, at, key = null, signature = null }: NewApproval) =>
    db.run(sql`
      INSERT INTO approvals (proposal, account_id, at, key, signature)
      VALUES (${number}, ${accountId}, ${at}, ${key}, ${signature})
      ON CONFLICT (proposal, account_id) DO UPDATE
        SET at = excluded.at, key = excluded.key, signature = excluded.signature`),

  /**
   * Deletes at most `limit` proposals that ended before a time. Keeps the newest, so that its number is not used again. Returns how many
   * it deleted.
   */
  forget: (before: string, limit: number) =>
    db.run(sql`
      DELETE FROM proposals WHERE number IN (
        SELECT number FROM proposals WHERE ends_at < ${before} AND number < (SELECT max(number) FROM proposals)
        ORDER BY number LIMIT ${limit})`),
});

export interface NewApproval {
  number: number;
  accountId: string;
  at: string;
  /** The key that signed it, if it was signed. */
  key?: string | null;
  signature?: string | null;
}

export interface ProposalEnd {
  at: string;
  actor: string;
  because?: string | null;
}
