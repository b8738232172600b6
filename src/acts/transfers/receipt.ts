// The receipt of an accepted transfer: its changes, its approvals, and the data for its withdrawal.
import { computeDigest } from '#domain/cryptography.ts';
import { policyTexts } from '#domain/approvals/approval-policy.ts';
import type { Sequence } from '#domain/sequence.ts';
import type { StoredApproval } from '#records/approvals/proposals.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { Release } from '#records/releases/releases.ts';
import type { TransferSource } from '#records/sites/transfer-sources.ts';
import type { ReceivedTransfer } from '#records/transfers/transfers.ts';
import { act, type ActContext } from '../act.ts';
import type { FleetChange } from '../fleets/fleet-change.ts';
import { recordExport, measureText } from '../audit/exports.ts';
import { isExpired } from './acceptance-conditions.ts';
import type { TransferPlan } from './plan-types.ts';
import type { LazyTransferStatement } from './statement.ts';

/** The trust settings of a source, as a receipt states them. */
export interface ReceiptSource extends Pick<TransferSource, 'name' | 'keys' | 'threshold' | 'packages' | 'floor'> {
  /** Undefined if transfers of the source wait for a person. */
  accept?: 'automatic';
  'may-release': boolean;
}

/** The receipt of a transfer as it is stored. It is signed when it is exported. */
export interface Receipt {
  format: 1;
  transfer: string;
  source: string;
  sequence: number;
  /** The label of the site that made the transfer; undefined if it has none. */
  label?: string;
  /** Present if the transfer was unsigned. */
  unsigned?: true;
  /** The rule under which the transfer was accepted automatically; undefined if a person accepted it. */
  automatic?: string;
  /** The signatures that were made with trusted keys of the source. */
  signatures: { keyid: string; sig: string }[];
  /** The media that carried it. */
  media: string[];
  'accepted-at': string;
  'accepted-by': string;
  /** The expiry date, if the transfer was accepted after it. */
  expired?: string;
  lines: Sequence<object>;
  'left-out': object[];
  approvals: ReceiptApproval[];
  /** The exact text that approvers signed, if any approved with a signature. */
  'signed-text'?: string;
  /** The rules of the approval policy at acceptance; empty if the policy asked for no approvals. */
  policy: Record<string, string>;
  /** The trusted sources of this site at acceptance. */
  sources: ReceiptSource[];
  /** The previous content of each changed channel, for a rollback. */
  undo: Sequence<ChannelUndo>;
  /** The changes of fleets, for a rollback; undefined if there were none. */
  fleets?: readonly FleetChange[];
}

/**
 * An approval. `key` and `signature` are set if it was signed (verify with `ssh-keygen -Y verify -n larder-approval`).
 */
export interface ReceiptApproval extends Pick<StoredApproval, 'accountId' | 'username' | 'displayName' | 'at'> {
  key?: string;
  signature?: string;
}

/** The previous content of a slot of a channel. */
export interface ChannelUndo {
  id: string;
  channel: string;
  slot: string;
  isProgressive: boolean;
  /** The revision that the transfer released to the slot; null if it emptied the slot. */
  put: number | null;
  before: Release | null;
}

export async function buildReceipt(
  tx: Pick<ChangeRecords, 'approvalPolicy' | 'transferSources'>,
  { received, statement, source, plan, automatic, undo }: AcceptedTransfer,
  { at, actor, approved }: ActContext,
): Promise<Receipt> {
  const { label, expires, sequence } = statement;
  return {
    format: 1,
    transfer: received.id,
    source: statement.source,
    sequence,
    ...(label !== undefined && { label }),
    'accepted-at': at,
    'accepted-by': actor,
    ...(isExpired(statement, at) && { expired: expires }),
    ...(automatic !== undefined && { automatic }),
    ...(received.unsigned === 1 && { unsigned: true as const }),
    signatures: selectKnownSignatures(received, source),
    media: JSON.parse(received.media) as string[],
    lines: plan.lines,
    'left-out': plan.leftOut,
    approvals: (approved?.approvals ?? []).map(toReceiptApproval),
    ...(approved?.text !== undefined && { 'signed-text': approved.text }),
    policy: Object.fromEntries(policyTexts(await tx.approvalPolicy.inForce())),
    sources: (await tx.transferSources.list()).map(toReceiptSource),
    undo,
    ...(plan.fleets.length > 0 && { fleets: plan.fleets }),
  };
}

interface AcceptedTransfer extends Pick<Receipt, 'undo'> {
  received: ReceivedTransfer;
  statement: LazyTransferStatement;
  source: Pick<TransferSource, 'keys'>;
  plan: TransferPlan;
  /** The rule under which it was accepted automatically. */
  automatic: string | undefined;
}

/** The received signatures that were made with keys of the source that this site knows. */
function selectKnownSignatures(
  { signatures }: Pick<ReceivedTransfer, 'signatures'>,
  { keys }: Pick<TransferSource, 'keys'>,
) {
  const ids = new Set(keys.map((key) => computeDigest('key fingerprint', Buffer.from(key, 'base64url'))));
  const { signatures: all } = JSON.parse(signatures) as { signatures: Receipt['signatures'] };
  return all.filter(({ keyid }) => ids.has(keyid));
}

const toReceiptApproval = ({ key, signature, ...approval }: StoredApproval): ReceiptApproval => ({
  ...approval,
  ...(key !== null && signature !== null && { key, signature }),
});

/** The trust settings of a source, for the receipt. */
const toReceiptSource = ({
  name,
  keys,
  threshold,
  packages,
  mayRelease,
  floor,
  accept,
}: TransferSource): ReceiptSource => ({
  ...(accept === 'automatic' && { accept }),
  name,
  keys,
  threshold,
  packages,
  floor,
  'may-release': mayRelease,
});

export const exportReceipt = act({
  name: 'export_receipt',
  summary: 'Write the receipt of a transfer, for its source or for an auditor.',
  on: 'transfer/ID',
  object: ({ id }: WrittenReceipt) => `transfer/${id}`,
  gate: { never: 'nothing changes here; the audit log records the receipt' },

  async perform(tx, { id, label, text }: WrittenReceipt, doing) {
    const out = measureText(text);
    doing.note(out);
    await recordExport(tx, { what: 'receipt', name: id, label, ...out }, doing);
  },
});

interface WrittenReceipt {
  /** The id of the transfer. */
  id: string;
  /** The label of this site, if it has one. */
  label: string | null;
  text: string;
}
