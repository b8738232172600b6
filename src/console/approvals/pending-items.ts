// Collects the items that wait for an account, and the items that the account waits for; the same as in the lists of the interface.
import { computeProposalStatus, type ProposalStatus } from '#acts/approvals/proposal-status.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import type { RejectedUpload, WaitingUpload } from '#records/packages/inventory.ts';
import type { InviteToPackage } from '#records/packages/invites.ts';
import type { OfferOfPackage } from '#records/packages/package-offers.ts';
import type { PausedRollout } from '#records/releases/rollouts.ts';
import type { ReceivedTransfer } from '#records/transfers/transfers.ts';
import { requestedKeys, type RequestedKey } from '#transfers/request/requested-keys.ts';
import { pageSize } from '../parts/table.ts';
import type { Viewer } from '../viewer.ts';

export interface PendingProposalView {
  shown: ProposalStatus;
  /** Why the account cannot approve the proposal; undefined if it can. */
  obstacle: string | undefined;
}

export interface AccountPendingItems {
  /** Uploads that wait for a decision of the account, one page of them. */
  uploads: { entries: WaitingUpload[]; total: number; next: WaitingUpload | undefined };
  /** Proposals that the account may approve or only see; `next` is the cursor if there are more. */
  proposals: { entries: PendingProposalView[]; next: number | undefined };
  invites: InviteToPackage[];
  offers: OfferOfPackage[];
  keys: RequestedKey[];
  /** Staged transfers without a decision, for accounts that oversee the store. */
  transfers: ReceivedTransfer[];
  /** Paused rollouts that a person may look at. */
  rollouts: PausedRollout[];
  /** Uploads to the account's packages that are in review. */
  own: (WaitingUpload & { status: 'new' | 'scanned' })[];
  rejected: RejectedUpload[];
}

/** The cursors of the long lists. */
export interface PendingCursors {
  uploads: { pushedAt: string; seq: number };
  proposals: number;
}

/** Rejected uploads are shown for this many days. */
const rejectedDays = 14;

export async function findPendingItems(
  { principal, viewer, places, now }: { principal: Principal; viewer: Viewer; places: PendingCursors; now: Date },
  records: HandlerRecords,
): Promise<AccountPendingItems> {
  const { accountId } = principal;
  const at = timestamp(now);
  return {
    uploads: viewer.administers
      ? await uploadsFrom(places.uploads, records)
      : { entries: [], total: 0, next: undefined },
    proposals: await proposalsFrom({ principal, viewer, after: places.proposals, at }, records),
    invites: await records.invites.to(accountId, at, '', pageSize),
    offers: await records.packageOffers.to(accountId, at, '', pageSize),
    keys: await keysFor(viewer, records, now),
    rollouts: await records.rollouts.paused(
      { accountId, username: principal.username, oversees: viewer.oversees },
      pageSize,
    ),
    transfers: viewer.oversees ? await records.transfers.waiting(pageSize) : [],
    own: await records.inventory.underReviewFor(accountId, pageSize),
    rejected: await records.inventory.rejectedFor(accountId, timestamp(after(now, days(-rejectedDays))), pageSize),
  };
}

async function uploadsFrom(
  place: PendingCursors['uploads'],
  { inventory }: Pick<HandlerRecords, 'inventory'>,
): Promise<AccountPendingItems['uploads']> {
  const uploads = await inventory.waiting(place, pageSize + 1);
  const entries = uploads.slice(0, pageSize);
  return {
    entries,
    total: await inventory.countWaiting(),
    next: uploads.length > pageSize ? entries.at(-1) : undefined,
  };
}

/** All proposals for overseers; for others, the proposals that they made or may approve. */
async function proposalsFrom(
  { principal, viewer, after, at }: { principal: Principal; viewer: Viewer; after: number; at: string },
  records: HandlerRecords,
): Promise<AccountPendingItems['proposals']> {
  const proposals = await records.proposals.waiting(after, at, pageSize + 1);
  const entries: PendingProposalView[] = [];
  for (const proposal of proposals.slice(0, pageSize)) {
    const shown = await computeProposalStatus(records, proposal, at);
    const { accountId } = principal;
    const isApprover = [...shown.approvals, ...shown.mayApprove].some((other) => other.accountId === accountId);
    if (!viewer.oversees && !isApprover && proposal.actor !== accountId) continue;
    entries.push({ shown, obstacle: await findApprovalObstacle(shown, principal, records) });
  }
  return { entries, next: proposals.length > pageSize ? proposals[pageSize - 1]?.number : undefined };
}

/** Why an account cannot approve a proposal, in a sentence; undefined if it can. */
export async function findApprovalObstacle(
  { proposal, state, approvals, mayApprove }: ProposalStatus,
  { accountId }: Pick<Principal, 'accountId'>,
  { totpSecrets }: Pick<HandlerRecords, 'totpSecrets'>,
): Promise<string | undefined> {
  if (proposal.actor === accountId) {
    return state === 'approved'
      ? 'There are enough approvals. Repeat the same change now to carry it out.'
      : 'You proposed this change, so other people must approve it.';
  }
  const approval = approvals.find((entry) => entry.accountId === accountId);
  if (approval !== undefined) return `You approved this change at ${approval.at}.`;
  const may = mayApprove.find((entry) => entry.accountId === accountId);
  if (may === undefined) return 'The approval policy does not name you as an approver of this change.';
  if (may.from !== null) {
    return `Your account was changed. Your approvals count again from ${may.from} on.`;
  }
  if ((await totpSecrets.find(accountId)) !== undefined) return undefined;
  return 'An approval needs a one-time password, and your account does not have one yet.';
}

/** Requested keys of the brands that the account administers. */
async function keysFor({ administers, roles }: Viewer, records: HandlerRecords, now: Date): Promise<RequestedKey[]> {
  if (!administers && !roles.some((role) => role.startsWith('brand-admin:'))) return [];
  const all = await requestedKeys(records, now);
  return all.filter(({ brandAccountId }) => administers || roles.includes(`brand-admin:${brandAccountId}`));
}
