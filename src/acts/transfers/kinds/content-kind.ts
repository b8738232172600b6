// The interface of a kind of content that packages have in transfers, such as revisions or libraries.
import type { PackedList } from '#domain/sequence.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { ActContext } from '../../act.ts';
import type { FindingsOfKind, SubjectFindings } from '../findings.ts';
import type { PackagePlanning } from '../package-planning.ts';
import type { PackagePlan, TransferPlan } from '../plan-types.ts';
import type { ChannelUndo } from '../receipt.ts';

export interface ContentKind {
  /**
   * Adds to `planning.plan` the content that is new or changed here, with a line for each change that people should
   * see. The lines are the preview, the text for approvers and the receipt. Reports a problem for each content that
   * cannot be accepted. Runs for the preview and again in the act, so it only reads.
   */
  plan(planning: PackagePlanning): Promise<void>;
  /** Makes the changes of the plan, in the transaction of the act. */
  accept(acceptance: PackageAcceptance): Promise<void>;
}

export interface PackageAcceptance {
  tx: ChangeRecords;
  doing: ActContext;
  plan: PackagePlan;
  /** The package as it was stored before its contents were accepted. */
  subject: PublishedPackage;
  /** Returns the stored findings of the review of a subject; undefined if it was not reviewed. */
  finding: TransferPlan['finding'];
  /** Returns the findings of the review of a subject. */
  findings<Kind extends SubjectFindings['kind']>(kind: Kind, subject: string): Promise<FindingsOfKind<Kind>>;
  /** Gets the previous content of each changed channel. */
  undo: PackedList<ChannelUndo>;
}
