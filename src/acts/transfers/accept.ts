// Accepts a transfer in one act and one transaction: all of it or nothing.
import { hash } from 'node:crypto';

import type { TransferContent, TransferPackage } from '#contract/wire.ts';
import type { AssertionSelection } from '#assertions/spilled-assertions.ts';
import { lineText, policyTexts, type ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { isProgressive } from '#domain/releases/channel-map.ts';
import { Refusal } from '#domain/refusal.ts';
import { jsonOf, PackedList, type SpillStorage } from '#domain/sequence.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { TransferSource } from '#records/sites/transfer-sources.ts';
import type { ReceivedTransfer } from '#records/transfers/transfers.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { StoredApproval } from '#records/approvals/proposals.ts';
import type { ImageReferences, Repository } from '#records/images/images.ts';
import type { Findings } from '#records/uploads/uploads.ts';
import { collectGarbage } from '#platform/small-heap.ts';
import { act, DoneAlready, type ActContext } from '../act.ts';
import { storeVerifiedAssertions, type VerifiedAssertionsByName } from '../assertions/assertions.ts';
import { storeForeignAccount } from '../accounts/foreign-accounts.ts';
import { ensurePackage } from '../packages/imports.ts';
import { addRevisionTo, type RevisionFindings } from '../revisions/new-revision.ts';
import { recordRelease, recordEndedReleases } from '../releases/releases.ts';
import { withdraw } from '../revisions/revisions.ts';
import { requireTrustedSource, trustLine, type TrustedSource, type WaitingTransfer } from '../sites/source-trust.ts';
import { toRelease } from './kinds/channels.ts';
import { automaticRule, listReviewReasons } from './automatic.ts';
import { approvalLines, planTransfer } from './plan.ts';
import type { LazyTransferStatement } from './statement.ts';
import {
  collectPlanInputs,
  subjectOf,
  type PackagePlan,
  type TransferPlan,
  type PlanLine,
  type TransferPlanInputs,
} from './plan-types.ts';
import { isExpired } from './acceptance-conditions.ts';
import { toChannelUndo, type ReceiptApproval, type Receipt, type ReceiptSource, type ChannelUndo } from './receipt.ts';
import { requireWaitingTransfer } from './transfers.ts';

/** The findings of the review of an image manifest. */
export type ManifestFindings = { kind: 'manifest' } & ImageReferences;

/** Pull credentials of a repository of this store, named by received resources. They are new, or the existing ones. */
export interface CredentialFindings {
  kind: 'credential';
  id: string;
  secretSha256: string;
  sealedSecret: string;
}

/** The findings of the review of a library version: its text. */
export interface LibraryFindings {
  kind: 'library';
  text: string;
}

/** The findings of the review of a resource. If the resource names an image, this store made its content. */
export type ResourceFindings = Extract<Findings, { kind: 'resource' }> & { content?: TransferContent };

export interface TransferAcceptance extends WaitingTransfer {
  /** The believed assertions of the transfer. */
  believed: VerifiedAssertionsByName<AssertionSelection>;
  only: readonly string[];
  without: readonly string[];
  asChannel: TransferPlanInputs['asChannel'];
  /** Whether to accept without a person, if the source and the policy permit it. */
  isAutomatic?: boolean;
  /**
   * The digest of the previewed lines. If the plan has another digest, the act is refused. Undefined if no preview was
   * read.
   */
  seen: string | undefined;
  digestOf: (plan: TransferPlan) => string;
  /**
   * Spill file for long lists, also those of the receipt, for as long as they are read. If undefined, they stay in
   * memory.
   */
  aside?: SpillStorage | undefined;
}

export const acceptTransfer = act({
  name: 'accept_transfer',
  summary: 'Accept a waiting transfer: all of its packages, revisions, resources, images and releases, or nothing.',
  on: 'transfer/ID',
  object: ({ id }: TransferAcceptance) => `transfer/${id}`,
  gate: {
    kinds: ['transfers', 'releases', 'unsigned_folders'],
    async lines(tx, accepted: TransferAcceptance, { at }) {
      const received = await tx.transfers.find(accepted.id);
      if (received?.status !== 'waiting') return [];
      const { plan, trusted } = await planOnce(tx, accepted, at);
      const lines = [...approvalLines(plan), ...lateLine(accepted.statement, at), ...unsignedLine(received)];
      return lines.length === 0 || trusted === undefined ? lines : [trustLine(trusted), ...lines];
    },
  },

  async perform(tx, accepted: TransferAcceptance, doing): Promise<Receipt> {
    const { id, statement, believed } = accepted;
    const received = await tx.transfers.find(id);
    if (received?.status === 'accepted') throw new DoneAlready(JSON.parse(received.receipt ?? '{}') as Receipt);
    const before = await requireWaitingTransfer(tx, id);
    const { plan, planning, source } = await planOnce(tx, accepted, doing.at);
    refuseProblems(plan, statement);
    if (accepted.seen !== undefined && accepted.digestOf(plan) !== accepted.seen) {
      throw new Refusal(
        'conflict',
        'The transfer would now make other changes than the preview showed. Look at the preview again.',
      );
    }
    const automatic = accepted.isAutomatic === true ? await automaticIn(tx, accepted, plan, doing.at) : undefined;
    await storeVerifiedAssertions(tx, { ...believed, accepted: plan.assertions }, doing);
    const undo = new PackedList<ChannelUndo>(accepted.aside);
    collectGarbage();
    for (const packagePlan of plan.packages)
      for (const some of await new PackageAcceptance(tx, doing, planning, packagePlan).run()) undo.add(some);
    collectGarbage();
    await tx.transferSources.raiseFloor(statement.source, statement.sequence);
    const receipt: Receipt = {
      format: 1,
      transfer: id,
      source: statement.source,
      sequence: statement.sequence,
      ...(statement.label !== undefined && { label: statement.label }),
      'accepted-at': doing.at,
      'accepted-by': doing.actor,
      ...(isExpired(statement, doing.at) && { expired: statement.expires }),
      ...(automatic !== undefined && { automatic }),
      ...(before.unsigned === 1 && { unsigned: true as const }),
      signatures: selectKnownSignatures(before, source),
      media: JSON.parse(before.media) as string[],
      lines: plan.lines,
      'left-out': plan.leftOut,
      approvals: (doing.approved?.approvals ?? []).map(toReceiptApproval),
      ...(doing.approved?.text !== undefined && { 'signed-text': doing.approved.text }),
      policy: Object.fromEntries(policyTexts(await tx.approvalPolicy.inForce())),
      sources: (await tx.transferSources.list()).map(toReceiptSource),
      undo,
    };
    await tx.transfers.settle(id, {
      status: 'accepted',
      receipt: jsonOf(receipt),
      at: doing.at,
      actor: doing.actor,
    });
    await tx.transfers.forgetArrived(id);
    doing.note({ source: statement.source, sequence: statement.sequence, changes: plan.lines.length });
    // The receipt has all lines; the digest is that of the preview.
    doing.note({ digest: accepted.digestOf(plan), lines: [...plan.lines.values().take(notedLines).map(planLineText)] });
    return receipt;
  },
});

/** The maximum number of lines in the audit log entry. */
const notedLines = 100;

const planLineText = ({ package: on, what: item, from, to }: PlanLine): string =>
  lineText({ on, part: item, from, to });

/** The rule under which the transfer is accepted automatically. Throws if it has to wait for a person. */
async function automaticIn(
  tx: ChangeRecords,
  { statement }: TransferAcceptance,
  plan: TransferPlan,
  at: string,
): Promise<string> {
  const [source, policy] = [await tx.transferSources.find(statement.source), await tx.approvalPolicy.inForce()];
  const { sequence } = statement;
  const terms = { source, sequence, isLate: isExpired(statement, at), policy, approvals: approvalLines(plan) };
  const reasons = listReviewReasons(plan.lines, terms);
  if (reasons.length === 0 && source !== undefined) return automaticRule(source);
  throw new Refusal('conflict', reasons.join(' '));
}

/** The line to approve if the transfer has expired. */
function lateLine(statement: LazyTransferStatement, at: string): ApprovalLine[] {
  if (!isExpired(statement, at)) return [];
  const { expires, source, sequence } = statement;
  const on = `transfer ${String(sequence)} of ${source}`;
  return [{ kind: 'unsigned_folders', on, part: null, from: `good until ${expires}`, to: 'let in later than that' }];
}

/** The line to approve if the transfer is unsigned. */
const unsignedLine = ({ unsigned, source, sequence }: ReceivedTransfer): ApprovalLine[] => {
  const on = `transfer ${String(sequence)} of ${source}`;
  const to = 'let in, though nobody has signed it';
  return unsigned === 0 ? [] : [{ kind: 'unsigned_folders', on, part: null, from: null, to }];
};

/** The received signatures that were made with keys of the source that this site knows. */
function selectKnownSignatures(
  { signatures }: Pick<ReceivedTransfer, 'signatures'>,
  { keys }: Pick<TransferSource, 'keys'>,
) {
  const ids = new Set(keys.map((key) => hash('sha256', Buffer.from(key, 'base64url'))));
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

interface PlannedTransfer extends TrustedSource {
  plan: TransferPlan;
  planning: TransferPlanInputs;
}

/**
 * The plan of a transaction, which both the gate (for the lines to approve) and `perform` need. Nothing is written
 * between the two, and a transaction that is retried has a new `Changes` object as its key.
 */
const planned = new WeakMap<ChangeRecords, { accepted: TransferAcceptance; planned: Promise<PlannedTransfer> }>();

function planOnce(tx: ChangeRecords, accepted: TransferAcceptance, at: string): Promise<PlannedTransfer> {
  const before = planned.get(tx);
  if (before?.accepted === accepted) return before.planned;
  const made = planIn(tx, accepted, at);
  planned.set(tx, { accepted, planned: made });
  return made;
}

/** Plans the changes of a transfer. Refuses a transfer that is not for this site or cannot be accepted now. */
async function planIn(tx: ChangeRecords, accepted: TransferAcceptance, at: string): Promise<PlannedTransfer> {
  const { id, statement, believed, only, without, asChannel, aside } = accepted;
  const { source, trusted } = await requireTrustedSource(tx, accepted, at);
  const isUnsigned = trusted === undefined;
  const inputs = { statement, source, isUnsigned, only, without, asChannel, at, believed, aside };
  const planning = await collectPlanInputs(tx, id, inputs);
  return { plan: await planTransfer(tx, planning), planning, source, trusted };
}

function refuseProblems({ problems, missing }: TransferPlan, { base }: LazyTransferStatement): void {
  const [first] = problems;
  if (first === undefined) return;
  const others =
    problems.length > 1 ? ` There are ${String(problems.length - 1)} more of this kind; the preview names them.` : '';
  const lost =
    missing.length > 0 && base.kind === 'sent'
      ? ' If an earlier transfer of its source was lost, the preview names its number and the remedy.'
      : '';
  throw new Refusal(
    'conflict',
    `${first.what === first.package ? '' : `${first.package}, `}${first.what}: ${first.why}${others} ` +
      `Nothing was accepted. '--without ${first.package}' leaves the package out.${lost}`,
  );
}

/** Accepts one package of a transfer. */
class PackageAcceptance {
  readonly #tx: ChangeRecords;
  readonly #doing: ActContext;
  readonly #planning: TransferPlanInputs;
  readonly #plan: PackagePlan;
  readonly #carried: TransferPackage;

  constructor(tx: ChangeRecords, doing: ActContext, planning: TransferPlanInputs, plan: PackagePlan) {
    this.#tx = tx;
    this.#doing = doing;
    this.#planning = planning;
    this.#plan = plan;
    this.#carried = plan.carried;
  }

  async run(): Promise<ChannelUndo[]> {
    for (const account of this.#plan.accounts) await storeForeignAccount(this.#tx, account);
    const subject = await this.#package();
    for (const name of this.#plan.tracks) {
      const track = { name, versionPattern: null, automaticPhasingPercentage: null, createdAt: this.#doing.at };
      await this.#tx.tracks.add(subject.id, track);
    }
    await this.#revisions(subject);
    await this.#resources(subject);
    await this.#images(subject);
    await this.#describe(subject);
    await this.#libraries(subject);
    await this.#withdrawals(subject);
    return [...(await this.#releases(subject)), ...(await this.#ends(subject)), ...(await this.#closes(subject))];
  }

  #package(): Promise<PublishedPackage> {
    const { id, namespace, name, type, publisher: publisherId, private: isPrivate } = this.#carried;
    const packageFields = {
      id,
      namespace,
      name,
      type: type as PublishedPackage['type'],
      publisherId,
      private: isPrivate,
    };
    return ensurePackage(this.#tx, packageFields, this.#plan.existing, this.#doing);
  }

  async #revisions(subject: PublishedPackage): Promise<void> {
    for (const { sentRevision, isDeleted, assertion } of this.#plan.revisions) {
      if (isDeleted) await this.#tx.revisions.setDeleted(subject.id, [sentRevision.revision], undefined);
      else {
        const { sha256, 'sha3-384': sha3_384, size } = sentRevision.content;
        const created = { createdAt: sentRevision['created-at'], createdBy: sentRevision['created-by'] };
        const findings = (await this.#found(subjectOf(subject.id, sentRevision.revision))) as RevisionFindings;
        await addRevisionTo(
          this.#tx,
          subject,
          { revision: sentRevision.revision, sha3_384, sha256, size, ...created },
          findings,
        );
      }
      if (assertion !== undefined) await this.#tx.revisions.setAssertion(subject.id, sentRevision.revision, assertion);
    }
  }

  async #resources({ id }: PublishedPackage): Promise<void> {
    for (const { resource, sentRevision } of this.#plan.resources) {
      const findings = (await this.#found(subjectOf(id, resource.name, sentRevision.revision))) as ResourceFindings;
      const content = sentRevision.content ?? findings.content;
      if (content === undefined) throw new Error(`cannot let in ${resource.name}: it has no content`);
      if (sentRevision.content === undefined) await this.#credential({ packageId: id, resource: resource.name });
      // The next transfer compares against this, and the job that reads it from contents may not have run by then.
      if (sentRevision.image !== undefined) await this.#tx.images.mention(content['sha3-384'], sentRevision.image);
      const { sha256, 'sha3-384': sha3_384, size } = content;
      const [first = null, ...others] = sentRevision.serves;
      await this.#tx.resourceRevisions.add({
        packageId: id,
        name: resource.name,
        revision: sentRevision.revision,
        type: resource.type,
        sha256,
        sha3_384,
        size,
        sha384: findings.sha384,
        sha512: findings.sha512,
        bases: sentRevision.bases,
        architectures: sentRevision.architectures,
        packageRevision: first,
        createdAt: sentRevision['created-at'],
        createdBy: sentRevision['created-by'],
      });
      const component = { packageId: id, name: resource.name, revision: sentRevision.revision };
      for (const served of others) await this.#tx.resourceRevisions.pair(component, served);
    }
  }

  /** Makes the pull credentials valid that the content of a resource names. */
  async #credential(repository: Repository): Promise<void> {
    const subject = subjectOf(repository.packageId, repository.resource, 'credential');
    const { id, secretSha256, sealedSecret } = (await this.#found(subject)) as CredentialFindings;
    const current = await this.#tx.imageCredentials.toPull(repository);
    if (current?.id === id) return;
    if (current !== undefined) {
      throw new Refusal(
        'conflict',
        `New pull credentials of ${repository.resource} were made after the transfer was received. Discard the transfer and receive it again.`,
      );
    }
    await this.#tx.imageCredentials.addToPull(repository, { id, secretSha256, sealedSecret, issuedAt: this.#doing.at });
  }

  async #images({ id }: PublishedPackage): Promise<void> {
    for (const { resource, manifests, blobs } of this.#plan.images) {
      const repository = { packageId: id, resource };
      for (const { sha256, 'sha3-384': sha3_384, size } of blobs) {
        await this.#tx.images.addBlob(repository, { sha256, sha512: null, sha3_384, size }, this.#doing.at);
      }
      for (const { content, 'media-type': mediaType, tags } of manifests) {
        const { sha256, 'sha3-384': sha3_384, size } = content;
        const findings = (await this.#found(subjectOf(id, resource, sha256))) as ManifestFindings;
        const manifest = { sha256, sha512: null, sha3_384, size, mediaType };
        await this.#tx.images.addManifest(repository, manifest, findings, this.#doing.at);
        for (const tag of tags) await this.#tx.images.tag(repository, tag, sha256, this.#doing.at);
      }
    }
  }

  async #describe({ id }: PublishedPackage): Promise<void> {
    const subject = await this.#tx.packages.byId(id);
    if (subject !== undefined) await this.#tx.packages.describe({ ...subject, ...this.#plan.metadata });
  }

  async #libraries({ id: packageId }: PublishedPackage): Promise<void> {
    for (const { id, name, versions } of this.#plan.libraries) {
      const existing = await this.#tx.charmLibraries.byId(id);
      if (existing === undefined) await this.#tx.charmLibraries.add({ id, packageId, name, createdAt: this.#doing.at });
      for (const { api, patch, hash, 'created-at': at, 'created-by': createdBy } of versions) {
        const { text: content } = (await this.#found(subjectOf(packageId, id, api, patch))) as LibraryFindings;
        await this.#tx.charmLibraries.addVersion({ libraryId: id, api, patch, hash, content, at, actor: createdBy });
      }
    }
  }

  async #withdrawals({ id }: PublishedPackage): Promise<void> {
    for (const { revision, why: reason } of this.#plan.withdrawals) {
      await withdraw(
        this.#tx,
        id,
        { revision, because: reason === '' ? 'withdrawn at its source' : reason },
        this.#doing,
      );
    }
  }

  async #releases({ id, status }: PublishedPackage): Promise<ChannelUndo[]> {
    const undo: ChannelUndo[] = [];
    for (const { release, before } of this.#plan.releases) {
      const filled = toRelease(id, release, this.#doing.at);
      undo.push(toChannelUndo(id, filled, release.revision, before));
      await this.#tx.releases.fill(filled);
      const held = before === undefined || isProgressive(before.progressive) ? null : before.revision;
      await recordRelease(this.#tx, filled, held, this.#doing);
      await this.#tx.revisions.markReleased(id, release.revision);
    }
    if (undo.length > 0 && status === 'registered') await this.#tx.packages.publish(id);
    return undo;
  }

  async #ends({ id }: PublishedPackage): Promise<ChannelUndo[]> {
    for (const release of this.#plan.ends) await this.#tx.releases.empty(release);
    return this.#plan.ends.map((release) => toChannelUndo(id, release, null, release));
  }

  async #closes({ id }: PublishedPackage): Promise<ChannelUndo[]> {
    const undo: ChannelUndo[] = [];
    for (const { channel, held } of this.#plan.closes) {
      await this.#tx.releases.close(id, channel);
      await recordEndedReleases(this.#tx, held, this.#doing);
      undo.push(...held.map((release) => toChannelUndo(id, release, null, release)));
    }
    return undo;
  }

  async #found(subject: string): Promise<Findings | ManifestFindings | CredentialFindings | LibraryFindings> {
    const findingsJson = (await this.#planning.finding(subject))?.findings ?? null;
    if (findingsJson === null) throw new Error(`cannot accept ${subject}: it was not reviewed`);
    return JSON.parse(findingsJson) as Findings | ManifestFindings | CredentialFindings | LibraryFindings;
  }
}
