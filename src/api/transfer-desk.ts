// What operations and pages may ask of transfers that came in; `src/transfers/` is it, and the appliance hands it in.
import type { By } from '#acts/act.ts';
import type { PlanLine } from '#acts/transfer-planning.ts';
import type { Receipt } from '#acts/transfers.ts';
import type { RequestProvenance, TransferPreview } from '#api/wire.ts';
import type { ReceivedTransfer } from '#records/transfers.ts';

/** What is told of a transfer to a person, the same in a terminal, on a page for the archive and in the console. */
export interface Report {
  title: string;
  /** Sentences. */
  said: readonly string[];
  /** Nothing where it is not about changes. */
  changes?: readonly PlanLine[];
  /** What else there is to say; a list that is empty is not told. */
  lists: readonly { heading: string; items: readonly string[] }[];
}

/** What a transfer that waits would change here now, for programs and for people. */
export interface Previewed {
  preview: TransferPreview;
  report: Report;
}

/** The changes that a person saw, and agrees to. */
export interface PreviewedTransfer {
  /** The digest of the changes. */
  seen: string;
  /** Globs of the packages that were left out of the preview. */
  without?: readonly string[];
}

export interface TransferDesk {
  /** The transfer whose id begins so; refused where there is none, or more than one. */
  find(prefix: string): Promise<ReceivedTransfer>;
  /**
   * The changes without the packages that these globs fit. Refused if the statement is too long to be planned in the server (commands do that),
   * if a glob fits no package, or if no package is left.
   */
  preview(prefix: string, without?: readonly string[]): Promise<Previewed>;
  /** What its receipt says for people; nothing where it was not let in, or this site has no name. */
  receipt(transfer: ReceivedTransfer): Promise<Report | undefined>;
  /** Accepts the previewed changes. Refused if the changes do not have the digest that the preview showed. */
  accept(prefix: string, previewed: PreviewedTransfer, by: By): Promise<Receipt>;
  discard(prefix: string, by: By): Promise<string>;
  /** Puts the channels back; which. */
  withdraw(prefix: string, by: By): Promise<{ id: string; channels: string[] }>;
  /** Snaps of which revisions wait to be signed here, and whose declaration does not let anybody here do so. */
  declarations(): Promise<RequestProvenance[]>;
}
