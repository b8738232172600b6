// Proposals: what waits until others approve of it, who has, and what came of it.
import type { Line } from '#domain/approvals.ts';
import { columns, sql, type Queries } from '#engine/database.ts';

export interface NewProposal {
  /** The name of the act. */
  act: string;
  /** What it is done to, as the audit log names it. */
  object: string;
  /** Who wants it, as the audit log names him. */
  actor: string;
  /** SHA-256 over what is asked for. */
  asked: string;
  /** SHA-256 over that with what it would change. */
  digest: string;
  lines: readonly Line[];
  proposedAt: string;
  endsAt: string;
}

/** `fallen` where what it would change was changed otherwise; an open one whose end has come counts for nothing either. */
export type ProposalState = 'open' | 'done' | 'rejected' | 'fallen';

export interface Proposal extends NewProposal {
  number: number;
  state: ProposalState;
  endedAt: string | null;
  /** An account id, or as the audit log names him. */
  endedBy: string | null;
  because: string | null;
}

/** That somebody approved of a proposal. */
export interface Approval {
  accountId: string;
  username: string;
  displayName: string;
  at: string;
  /** The key with which he has signed it, as long as it is registered for him. */
  key: string | null;
  /** As `ssh-keygen -Y sign` writes it. */
  signature: string | null;
}

type Row = Omit<Proposal, 'lines'> & { lines: string };

const asProposal = ({ lines, ...row }: Row): Proposal => ({ ...row, lines: JSON.parse(lines) as Line[] });

const proposalColumns = columns`
  number, act, object, actor, asked, digest, lines, proposed_at AS "proposedAt", ends_at AS "endsAt", state,
  ended_at AS "endedAt", ended_by AS "endedBy", because`;

export const proposals = (db: Pick<Queries, 'get' | 'all'>) => ({
  async find(number: number): Promise<Proposal | undefined> {
    const row = await db.get<Row>(sql`SELECT ${proposalColumns} FROM proposals WHERE number = ${number}`);
    return row && asProposal(row);
  },

  /** What was proposed last with these changes and has not come to its end by `now`: it waits, or was rejected. */
  async standing(digest: string, now: string): Promise<Proposal | undefined> {
    const row = await db.get<Row>(sql`
      SELECT ${proposalColumns} FROM proposals
      WHERE digest = ${digest} AND state IN ('open', 'rejected') AND ends_at > ${now} ORDER BY number DESC LIMIT 1`);
    return row && asProposal(row);
  },

  /** Those before a number, the newest first; without those that have ended where only open ones are wanted. */
  async list(wanted: { before: number; openAt: string | undefined }, limit: number): Promise<Proposal[]> {
    const { before, openAt = '' } = wanted;
    const rows = await db.all<Row>(sql`
      SELECT ${proposalColumns} FROM proposals
      WHERE number < ${before} AND (${openAt} = '' OR (state = 'open' AND ends_at > ${openAt}))
      ORDER BY number DESC LIMIT ${limit}`);
    return rows.map(asProposal);
  },

  /** Those that wait, behind a number, the oldest first. */
  async waiting(after: number, now: string, limit: number): Promise<Proposal[]> {
    const rows = await db.all<Row>(sql`
      SELECT ${proposalColumns} FROM proposals
      WHERE number > ${after} AND state = 'open' AND ends_at > ${now} ORDER BY number LIMIT ${limit}`);
    return rows.map(asProposal);
  },

  /** Who has approved of a proposal, in the order in which they did. */
  approvals: (number: number) =>
    db.all<Approval>(sql`
      SELECT given.account_id AS "accountId", accounts.username, accounts.display_name AS "displayName", given.at,
        known.key, CASE WHEN known.key IS NULL THEN NULL ELSE given.signature END AS signature
      FROM approvals AS given
      JOIN accounts ON accounts.id = given.account_id
      LEFT JOIN approver_keys AS known ON known.key = given.key AND known.account_id = given.account_id
      WHERE given.proposal = ${number} ORDER BY given.at, given.account_id`),

  /** How many of somebody's proposals wait. */
  countOpen: async (actor: string, now: string) =>
    (
      await db.get<{ count: number }>(sql`
        SELECT count(*) AS count FROM proposals WHERE state = 'open' AND actor = ${actor} AND ends_at > ${now}`)
    )?.count ?? 0,

  /** Whether any came to its end before a moment, and so may be forgotten. */
  anyEnded: async (before: string) =>
    undefined !==
    (await db.get(sql`
      SELECT 1 FROM proposals WHERE ends_at < ${before} AND number < (SELECT max(number) FROM proposals) LIMIT 1`)),
});

export const proposalChanges = (db: Queries) => ({
  ...proposals(db),

  /** Adds a proposal; its number. */
  async add(p: NewProposal): Promise<number> {
    const [row] = await db.all<{ number: number }>(sql`
      INSERT INTO proposals (act, object, actor, asked, digest, lines, proposed_at, ends_at, state)
      VALUES (${p.act}, ${p.object}, ${p.actor}, ${p.asked}, ${p.digest}, ${JSON.stringify(p.lines)}, ${p.proposedAt},
        ${p.endsAt}, 'open')
      RETURNING number`);
    return row!.number;
  },

  /** Ends an open proposal; false when it has ended before. */
  end: async (number: number, state: ProposalState, { at, by, because = null }: Ending): Promise<boolean> =>
    0 <
    (await db.run(sql`
      UPDATE proposals SET state = ${state}, ended_at = ${at}, ended_by = ${by}, because = ${because}
      WHERE number = ${number} AND state = 'open'`)),

  /** Lets all fall that ask for the same where it would have changed something else. */
  fallOthers: ({ asked, digest }: Pick<NewProposal, 'asked' | 'digest'>, { at, by }: Ending) =>
    db.run(sql`
      UPDATE proposals SET state = 'fallen', ended_at = ${at}, ended_by = ${by}
      WHERE asked = ${asked} AND state = 'open' AND digest <> ${digest}`),

  /** Lets every open one fall. */
  fallAll: ({ at, by }: Ending) =>
    db.run(sql`UPDATE proposals SET state = 'fallen', ended_at = ${at}, ended_by = ${by} WHERE state = 'open'`),

  /** Records an approval, in place of an earlier one of the same account. */
  approve: ({ number, accountId, at, key = null, signature = null }: NewApproval) =>
    db.run(sql`
      INSERT INTO approvals (proposal, account_id, at, key, signature)
      VALUES (${number}, ${accountId}, ${at}, ${key}, ${signature})
      ON CONFLICT (proposal, account_id) DO UPDATE
        SET at = excluded.at, key = excluded.key, signature = excluded.signature`),

  /** Forgets those that came to their end before a moment, but the newest, whose number is not given again; how many. */
  forget: (before: string, most: number) =>
    db.run(sql`
      DELETE FROM proposals WHERE number IN (
        SELECT number FROM proposals WHERE ends_at < ${before} AND number < (SELECT max(number) FROM proposals)
        ORDER BY number LIMIT ${most})`),
});

interface NewApproval {
  number: number;
  accountId: string;
  at: string;
  /** What it was signed with, where it was. */
  key?: string | null;
  signature?: string | null;
}

interface Ending {
  at: string;
  by: string;
  because?: string | null;
}
