// Requests: signed files from one site that ask another for packages and carry receipts.
import type { TransferRequest } from '#contract/wire.ts';
import type { ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { Refusal } from '#domain/refusal.ts';
import type { MadeRequest } from '#records/sites/requests.ts';
import { act, DoneAlready } from '../act.ts';
import { recordExport } from '../audit/exports.ts';

interface NewRequest extends Pick<MadeRequest, 'number' | 'id' | 'bytes'> {
  /** When the last transfer that the request covers was accepted or withdrawn. */
  settled: string | null;
  /** The digest of the whole file. */
  sha256: string;
  /** The label of this site; null if it has none. */
  label: string | null;
  /** The content in words, part by part; the same content gives the same words. */
  contents: readonly { part: string; says: string }[];
}

export const makeRequest = act({
  name: 'make_request',
  summary: 'Sign a request to another site: subscriptions, missing packages and facts about this site.',
  on: 'request',
  object: () => 'request',
  gate: {
    kinds: ['requests'],
    lines: async (_tx, { contents }: NewRequest): Promise<ApprovalLine[]> =>
      contents.map(({ part, says }) => ({ kind: 'requests', on: `request ${part}`, part: null, from: null, to: says })),
  },

  async perform(tx, { contents, settled, sha256, label, ...made }: NewRequest, doing) {
    const { number, id, bytes } = made;
    if (number <= ((await tx.requests.newest())?.number ?? 0)) {
      throw new Refusal('conflict', 'Another request was made at the same time. Make this one again.');
    }
    if ((await tx.transfers.lastSettled()) !== settled) {
      throw new Refusal(
        'conflict',
        'A transfer was accepted or withdrawn in the meantime, and the request does not mention it. Make the request again.',
      );
    }
    doing.note({ number, id, bytes, tells: Object.fromEntries(contents.map(({ part, says }) => [part, says])) });
    await tx.requests.add({ ...made, madeAt: doing.at, madeBy: doing.actor });
    await recordExport(tx, { what: 'request', name: id, sha256, bytes, label }, doing);
  },
});

type ReceiptReport = Pick<TransferRequest, 'site' | 'receipts'> & { request: string };

export const noteReceipts = act({
  name: 'record_receipts',
  summary: 'Record which transfers another site has accepted, according to its request.',
  on: 'site/NAME',
  object: ({ site }: ReceiptReport) => `site/${site}`,
  gate: { never: 'it only records facts about another site' },

  /** Returns the number of receipts with new information. */
  async perform(tx, { site, receipts, request }: ReceiptReport, { at, note }): Promise<number> {
    let noted = 0;
    for (const receipt of receipts) {
      const { transfer, status } = receipt;
      const row = { site, transfer, status, at: receipt.at, receipt: JSON.stringify(receipt), notedAt: at };
      noted += await tx.requests.noteReceipt(row);
    }
    if (noted === 0) throw new DoneAlready(0);
    note({ request, receipts: noted });
    return noted;
  },
});
