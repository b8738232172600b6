// The receipt of an accepted transfer.
import { isProgressive } from '#domain/releases/channel-map.ts';
import type { Sequence } from '#domain/sequence.ts';
import type { StoredApproval } from '#records/approvals/proposals.ts';
import type { Release } from '#records/releases/releases.ts';
import type { TransferSource } from '#records/sites/transfer-sources.ts';
import { act } from '../act.ts';
import { recordExport, measureText } from '../audit/exports.ts';

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
}

/**
 * An approval. `key` and `signature` are set if it was signed (verify with `ssh-keygen -Y verify -n larder-approval`).
 */
export interface ReceiptApproval extends Pick<StoredApproval, 'accountId' | 'username' | 'displayName' | 'at'> {
  key?: string;
  signature?: string;
}

export interface ChannelUndo {
  id: string;
  channel: string;
  slot: string;
  isProgressive: boolean;
  /** The revision that the transfer released to the slot; null if it emptied the slot. */
  put: number | null;
  before: Release | null;
}

export const toChannelUndo = (
  id: string,
  at: Pick<Release, 'channel' | 'slot' | 'progressive'>,
  put: number | null,
  before: Release | undefined,
): ChannelUndo => ({
  id,
  channel: at.channel,
  slot: at.slot,
  isProgressive: isProgressive(at.progressive),
  put,
  before: before ?? null,
});

export const exportReceipt = act({
  name: 'let_out_receipt',
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
