// The conditions under which a site accepts transfers: its clock, the source, the label and the number of the transfer.
import type { ApprovalPolicy } from '#domain/approvals/approval-policy.ts';
import { clockTolerance } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { mayReceive, type SiteLabels } from '#domain/sites/site-label.ts';
import type { StoreRecords } from '#records/index.ts';
import type { TransferSource } from '#records/sites/transfer-sources.ts';
import { latestTimeSetting } from '../store/clock.ts';
import type { LazyTransferStatement } from './statement.ts';

/** Refuses transfers of a source while its highest accepted number is in doubt after a restore. */
export function refuseDoubtfulFloor({
  name,
  floor,
  floorInDoubt,
}: Pick<TransferSource, 'name' | 'floor' | 'floorInDoubt'>): void {
  if (!floorInDoubt) return;
  throw new Refusal(
    'conflict',
    `This store was restored from a backup. Transfers of '${name}' after number ${String(floor)} may already have been accepted. ` +
      `Name the receipt of the last accepted transfer with 'larder transfer receive --last-receipt FILE'; ` +
      `without a receipt, use '--floor-lost'.`,
  );
}

/** Refuses to accept anything while the clock is in doubt, because the clock decides which transfers have expired. */
export async function refuseDoubtfulClock({ appliance }: Pick<StoreRecords, 'appliance'>, at: string): Promise<void> {
  const seen = await appliance.find(latestTimeSetting);
  if (seen === undefined || Math.abs(Date.parse(at) - Date.parse(seen)) <= clockTolerance) return;
  throw new Refusal(
    'conflict',
    `The clock says ${at}, and larder last ran at ${seen}. The difference is more than a day, so no transfer is accepted. ` +
      "Set the clock right; if it is right, run 'larder clock accept'.",
  );
}

/**
 * The source of an unsigned folder. No trusted site can have this name; such a transfer is accepted only with
 * approvals.
 */
export const unsignedSource: Pick<TransferSource, 'name' | 'keys' | 'packages' | 'mayRelease'> = {
  name: 'nobody',
  keys: [],
  packages: ['*/*'],
  mayRelease: true,
};

/** Refuses an unsigned folder if the policy names no approvers for unsigned folders. */
export function refuseUnsigned({ rules }: ApprovalPolicy): void {
  if (rules.unsigned_folders !== undefined) return;
  throw new Refusal(
    'conflict',
    'An unsigned folder is accepted only with approvals, and the policy names no approvers for it. Set ' +
      `unsigned_folders = "2" in the section [approvals] of larder.toml, for any two accounts with the role transfer-approver.`,
  );
}

/** The properties of this site that decide which transfers are for it. */
export interface ReceivingSite {
  /** The name of this site, if it has one. */
  site: string | undefined;
  labels: SiteLabels;
}

/** Refuses a transfer with a label above that of this site, or with a label that this site does not know. */
function refuseLabel({ label }: Pick<LazyTransferStatement, 'label'>, labels: SiteLabels): void {
  const { label: own, levels = [] } = labels;
  if (label === undefined || mayReceive(label, labels)) return;
  const isKnown = levels.includes(label);
  throw new Refusal(
    'conflict',
    `The transfer has the label '${label}', ` +
      (!isKnown
        ? "which this site does not know. Add it to 'site.levels' in larder.toml, which lists the labels from the lowest to the highest."
        : own === undefined
          ? "and this site has no label. Set 'site.label' in larder.toml."
          : `which is higher than the label of this site, '${own}'. It cannot be accepted here.`),
  );
}

/** Whether a transfer has expired. */
export const isExpired = ({ expires }: Pick<LazyTransferStatement, 'expires'>, at: string): boolean => expires <= at;

/**
 * Refuses a statement that is not for this site or cannot be accepted now. An expired transfer needs the approvals of
 * an unsigned folder, so it is refused if the policy names no approvers for unsigned folders.
 */
export function refuseUnfit(
  statement: LazyTransferStatement,
  { site, labels, at, floor, policy }: ReceivingSite & { at: string; floor: number; policy: ApprovalPolicy },
): void {
  const { for: sites, created, expires, source, sequence } = statement;
  if (sites.length > 0 && (site === undefined || !sites.includes(site))) {
    throw new Refusal(
      'conflict',
      `The transfer is for ${sites.join(', ')}, and this site is ${site === undefined ? 'without a name' : `'${site}'`}.`,
    );
  }
  refuseLabel(statement, labels);
  if (sequence <= floor) {
    throw new Refusal(
      'conflict',
      `The transfer has number ${String(sequence)} of '${source}', and number ${String(floor)} was already accepted. Earlier numbers are refused.`,
    );
  }
  if (isExpired(statement, at) && policy.rules.unsigned_folders === undefined) {
    throw new Refusal(
      'conflict',
      `The transfer expired at ${expires}. Ask '${source}' to make it again. ` +
        `If 'approvals.unsigned_folders' names approvers, it can be accepted with their approvals.`,
    );
  }
  const day = 24 * 60 * 60 * 1000;
  if (Date.parse(created) > Date.parse(at) + day) {
    throw new Refusal(
      'conflict',
      `The transfer was made at ${created}, more than a day after the time of this host. Check the clock.`,
    );
  }
}
