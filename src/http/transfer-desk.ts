// The interface of received transfers for operations and pages. `src/transfers/` implements it, and the appliance passes it in.
import type { Actor } from '#acts/act.ts';
import type { PlanLine } from '#acts/transfers/plan-types.ts';
import type { Receipt } from '#acts/transfers/receipt.ts';
import type { TransferWithdrawal } from '#acts/transfers/withdraw.ts';
import type { RequestProvenance, TransferPreview } from '#contract/wire.ts';
import type { ReceivedTransfer } from '#records/transfers/transfers.ts';

/** A report on a transfer for people, the same in a terminal, as an HTML file and in the console. */
export interface TransferReport {
  title: string;
  /** Sentences. */
  sentences: readonly string[];
  /** Undefined if the report is not about changes. */
  changes?: readonly PlanLine[];
  /** Further lists; an empty list is not shown. */
  lists: readonly { heading: string; items: readonly string[] }[];
}

/** The changes that a staged transfer would make now, for programs and for people. */
export interface PreviewWithReport {
  preview: TransferPreview;
  report: TransferReport;
}

/** The changes that a person saw and agrees to. */
export interface PreviewedTransfer {
  /** The digest of the changes. */
  seen: string;
  /** Globs of the packages that were left out of the preview. */
  without?: readonly string[];
}

/** A part of a transfer that was received. */
export interface ReceivedTransferPart {
  /** The id of the transfer. */
  id: string;
  /** The numbers of the parts with missing contents. */
  lacking: readonly number[];
}

/** Work that reads many files or packages. It runs outside the event loop. */
export interface TransferCommands {
  /** Receives a part of a transfer, like `larder transfer receive`. These unclaimed uploads hold its bytes, in this order. */
  receiveUploads(uploads: readonly string[], actor: Actor): Promise<ReceivedTransferPart>;
  /**
   * Everything that a request of this site would say now; undefined while it is prepared. With `continues` it is the preview that was
   * being prepared before.
   */
  previewRequest(actor: Actor, options: { continues: boolean }): Promise<TransferReport | undefined>;
  /** The file of a new request of this site, like `larder transfer request`; records the export. */
  makeRequest(actor: Actor): Promise<{ name: string; bytes: Uint8Array }>;
}

export interface TransferDesk extends TransferCommands {
  /** Returns the transfer with this beginning of its id; refuses if there is none, or more than one. */
  find(prefix: string): Promise<ReceivedTransfer>;
  /**
   * The changes without the packages that match these globs. Refuses if the statement is too long to be planned in the server (commands do
   * that), if a glob matches no package, or if no package is left.
   */
  preview(prefix: string, without?: readonly string[]): Promise<PreviewWithReport>;
  /** The receipt for people; undefined if the transfer was not accepted, or if this site has no name. */
  receipt(transfer: ReceivedTransfer): Promise<TransferReport | undefined>;
  /** The signed receipt as a DSSE envelope; records the export. Refuses a transfer without a receipt. */
  exportReceipt(prefix: string, actor: Actor): Promise<{ id: string; text: string }>;
  /** Accepts the previewed changes. Refused if the changes do not have the digest that the preview showed. */
  accept(prefix: string, previewed: PreviewedTransfer, actor: Actor): Promise<Receipt>;
  discard(prefix: string, actor: Actor): Promise<string>;
  /** Returns the channels to their former releases, and the fleets to their former state; returns them. */
  withdraw(prefix: string, actor: Actor): Promise<{ id: string } & TransferWithdrawal>;
  /** Snaps with revisions that wait for a signature here, although their declaration allows no signer of this store. */
  declarations(): Promise<RequestProvenance[]>;
}
