// Accepts a transfer in one act and one transaction: all of it or nothing.
import { hash } from 'node:crypto';

import type { TransferContent, TransferPackage } from '#api/wire.ts';
import type { Picked } from '#assertions/spooled.ts';
import { lineText, policyTexts, type Line } from '#domain/approvals.ts';
import { isProgressive } from '#domain/channel-map.ts';
import { Refusal } from '#domain/refusal.ts';
import { jsonOf, PackedList, type Aside } from '#domain/sequence.ts';
import type { Changes } from '#records/index.ts';
import type { TransferSource } from '#records/transfer-sources.ts';
import type { ReceivedTransfer } from '#records/transfers.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Approval } from '#records/proposals.ts';
import type { ImageReferences, Repository } from '#records/images.ts';
import type { Findings } from '#records/uploads.ts';
import { letGo } from '#src/small-heap.ts';
import { act, DoneAlready, type Doing } from './act.ts';
import { keepBelieved, type BelievedByName } from './assertions.ts';
import { keepForeignAccount } from './foreign-accounts.ts';
import { packageFor } from './imports.ts';
import { addRevisionTo, type FoundRevision } from './new-revision.ts';
import { remember, rememberEnded } from './releases.ts';
import { withdraw } from './revisions.ts';
import { trustedSourceOf, trustLine, type TrustedSource, type WaitingTransfer } from './source-trust.ts';
import { filledBy } from './transfer-channels.ts';
import { automaticRule, whyPeople } from './transfer-automatic.ts';
import { approvalLines, planOf } from './transfer-plan.ts';
import type { Statement } from './transfer-statement.ts';
import {
  planningOf,
  subjectOf,
  type PackagePlan,
  type Plan,
  type PlanLine,
  type Planning,
} from './transfer-planning.ts';
import {
  isExpired,
  undoOf,
  waiting,
  type ApprovalTold,
  type Receipt,
  type SourceTold,
  type Undo,
} from './transfers.ts';

/** The findings of the review of an image manifest. */
export type FoundManifest = { kind: 'manifest' } & ImageReferences;

/** Pull credentials of a repository of this store, named by received resources. They are new, or the existing ones. */
export interface FoundCredential {
  kind: 'credential';
  id: string;
  secretSha256: string;
  sealedSecret: string;
}

/** The findings of the review of a library version: its text. */
export interface FoundLibrary {
  kind: 'library';
  text: string;
}

/** The findings of the review of a resource. If the resource names an image, this store made its content. */
export type FoundResource = Extract<Findings, { kind: 'resource' }> & { content?: TransferContent };

export interface Accepted extends WaitingTransfer {
  /** The believed assertions of the transfer. */
  believed: BelievedByName<Picked>;
  only: readonly string[];
  without: readonly string[];
  asChannel: Planning['asChannel'];
  /** Whether to accept without a person, if the source and the policy permit it. */
  isAutomatic?: boolean;
  /**
   * The digest of the previewed lines. If the plan has another digest, the act is refused. Undefined if no preview was
   * read.
   */
  seen: string | undefined;
  digestOf: (plan: Plan) => string;
  /**
   * Spill file for long lists, also those of the receipt, for as long as they are read. If undefined, they stay in
   * memory.
   */
  aside?: Aside | undefined;
}

export const acceptTransfer = act({
  name: 'accept_transfer',
  summary: 'Let in a transfer that waits: all of its packages, revisions, resources, images and releases, or nothing.',
  on: 'transfer/ID',
  object: ({ id }: Accepted) => `transfer/${id}`,
  gate: {
    kinds: ['transfers', 'releases', 'unsigned_folders'],
    async lines(tx, accepted: Accepted, { at }) {
      const found = await tx.transfers.find(accepted.id);
      if (found?.status !== 'waiting') return [];
      const { plan, trusted } = await plannedOf(tx, accepted, at);
      const lines = [...approvalLines(plan), ...lateLine(accepted.statement, at), ...unsignedLine(found)];
      return lines.length === 0 || trusted === undefined ? lines : [trustLine(trusted), ...lines];
    },
  },

  async perform(tx, accepted: Accepted, doing): Promise<Receipt> {
    const { id, statement, believed } = accepted;
    const found = await tx.transfers.find(id);
    if (found?.status === 'accepted') throw new DoneAlready(JSON.parse(found.receipt ?? '{}') as Receipt);
    const before = await waiting(tx, id);
    const { plan, planning, source } = await plannedOf(tx, accepted, doing.at);
    refuseProblems(plan, statement);
    if (accepted.seen !== undefined && accepted.digestOf(plan) !== accepted.seen) {
      throw new Refusal(
        'conflict',
        'What it would change is not what was looked at any more; look at the preview again.',
      );
    }
    const automatic = accepted.isAutomatic === true ? await automaticIn(tx, accepted, plan, doing.at) : undefined;
    await keepBelieved(tx, { ...believed, accepted: plan.assertions }, doing);
    const undo = new PackedList<Undo>(accepted.aside);
    letGo();
    for (const one of plan.packages)
      for (const some of await new LettingIn(tx, doing, planning, one).run()) undo.add(some);
    letGo();
    await tx.transferSources.raiseFloor(statement.source, statement.sequence);
    const receipt: Receipt = {
      format: 1,
      ...{ transfer: id, source: statement.source, sequence: statement.sequence },
      ...(statement.label !== undefined && { label: statement.label }),
      ...{ 'accepted-at': doing.at, 'accepted-by': doing.actor },
      ...(isExpired(statement, doing.at) && { expired: statement.expires }),
      ...(automatic !== undefined && { automatic }),
      ...(before.unsigned === 1 && { unsigned: true as const }),
      ...{ signatures: signaturesKept(before, source), media: JSON.parse(before.media) as string[] },
      ...{ lines: plan.lines, 'left-out': plan.leftOut, approvals: (doing.approved?.by ?? []).map(approvalTold) },
      ...(doing.approved?.text !== undefined && { 'signed-text': doing.approved.text }),
      policy: Object.fromEntries(policyTexts(await tx.approvalPolicy.inForce())),
      sources: (await tx.transferSources.list()).map(sourceTold),
      undo,
    };
    await tx.transfers.settle(id, {
      status: 'accepted',
      receipt: jsonOf(receipt),
      at: doing.at,
      by: doing.actor,
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

const planLineText = ({ package: on, what, from, to }: PlanLine): string => lineText({ on, part: what, from, to });

/** The rule under which the transfer is accepted automatically. Throws if it has to wait for a person. */
async function automaticIn(tx: Changes, { statement }: Accepted, plan: Plan, at: string): Promise<string> {
  const [source, policy] = [await tx.transferSources.find(statement.source), await tx.approvalPolicy.inForce()];
  const { sequence } = statement;
  const asked = { source, sequence, isLate: isExpired(statement, at), policy, approvals: approvalLines(plan) };
  const why = whyPeople(plan.lines, asked);
  if (why.length === 0 && source !== undefined) return automaticRule(source);
  throw new Refusal('conflict', why.join(' '));
}

/** The line to approve if the transfer has expired. */
function lateLine(statement: Statement, at: string): Line[] {
  if (!isExpired(statement, at)) return [];
  const { expires, source, sequence } = statement;
  const on = `transfer ${String(sequence)} of ${source}`;
  return [{ kind: 'unsigned_folders', on, part: null, from: `good until ${expires}`, to: 'let in later than that' }];
}

/** The line to approve if the transfer is unsigned. */
const unsignedLine = ({ unsigned, source, sequence }: ReceivedTransfer): Line[] => {
  const on = `transfer ${String(sequence)} of ${source}`;
  const to = 'let in, though nobody has signed it';
  return unsigned === 0 ? [] : [{ kind: 'unsigned_folders', on, part: null, from: null, to }];
};

/** The received signatures that were made with keys of the source that this site knows. */
function signaturesKept({ signatures }: Pick<ReceivedTransfer, 'signatures'>, { keys }: Pick<TransferSource, 'keys'>) {
  const ids = new Set(keys.map((key) => hash('sha256', Buffer.from(key, 'base64url'))));
  const { signatures: all } = JSON.parse(signatures) as { signatures: Receipt['signatures'] };
  return all.filter(({ keyid }) => ids.has(keyid));
}

const approvalTold = ({ key, signature, ...approval }: Approval): ApprovalTold => ({
  ...approval,
  ...(key !== null && signature !== null && { key, signature }),
});

/** The trust settings of a source, for the receipt. */
const sourceTold = ({ name, keys, threshold, packages, mayRelease, floor, accept }: TransferSource): SourceTold => ({
  ...(accept === 'automatic' && { accept }),
  ...{ name, keys, threshold, packages, floor },
  'may-release': mayRelease,
});

interface Planned extends TrustedSource {
  plan: Plan;
  planning: Planning;
}

/**
 * The plan of a transaction, which both the gate (for the lines to approve) and `perform` need. Nothing is written
 * between the two, and a transaction that is retried has a new `Changes` object as its key.
 */
const planned = new WeakMap<Changes, { accepted: Accepted; planned: Promise<Planned> }>();

function plannedOf(tx: Changes, accepted: Accepted, at: string): Promise<Planned> {
  const before = planned.get(tx);
  if (before?.accepted === accepted) return before.planned;
  const made = planIn(tx, accepted, at);
  planned.set(tx, { accepted, planned: made });
  return made;
}

/** Plans the changes of a transfer. Refuses a transfer that is not for this site or cannot be accepted now. */
async function planIn(tx: Changes, accepted: Accepted, at: string): Promise<Planned> {
  const { id, statement, believed, only, without, asChannel, aside } = accepted;
  const { source, trusted } = await trustedSourceOf(tx, accepted, at);
  const isUnsigned = trusted === undefined;
  const given = { statement, source, isUnsigned, only, without, asChannel, at, believed, aside };
  const planning = await planningOf(tx, id, given);
  return { plan: await planOf(tx, planning), planning, source, trusted };
}

function refuseProblems({ problems, missing }: Plan, { base }: Statement): void {
  const [first] = problems;
  if (first === undefined) return;
  const others =
    problems.length > 1 ? ` There are ${String(problems.length - 1)} more of this kind; the preview names them.` : '';
  const lost =
    missing.length > 0 && base.kind === 'sent'
      ? ' If an earlier transfer of its source was lost, the preview names its number and the way out.'
      : '';
  throw new Refusal(
    'conflict',
    `${first.what === first.package ? '' : `${first.package}, `}${first.what}: ${first.why}${others} ` +
      `Nothing came in; '--without ${first.package}' leaves the package out.${lost}`,
  );
}

/** Accepts one package of a transfer. */
class LettingIn {
  readonly #tx: Changes;
  readonly #doing: Doing;
  readonly #planning: Planning;
  readonly #plan: PackagePlan;
  readonly #carried: TransferPackage;

  constructor(tx: Changes, doing: Doing, planning: Planning, plan: PackagePlan) {
    this.#tx = tx;
    this.#doing = doing;
    this.#planning = planning;
    this.#plan = plan;
    this.#carried = plan.carried;
  }

  async run(): Promise<Undo[]> {
    for (const account of this.#plan.accounts) await keepForeignAccount(this.#tx, account);
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
    const wanted = { id, namespace, name, type: type as PublishedPackage['type'], publisherId, private: isPrivate };
    return packageFor(this.#tx, wanted, this.#plan.here, this.#doing);
  }

  async #revisions(subject: PublishedPackage): Promise<void> {
    for (const { one, isDeleted, assertion } of this.#plan.revisions) {
      if (isDeleted) await this.#tx.revisions.setDeleted(subject.id, [one.revision], undefined);
      else {
        const { sha256, 'sha3-384': sha3_384, size } = one.content;
        const created = { createdAt: one['created-at'], createdBy: one['created-by'] };
        const found = (await this.#found(subjectOf(subject.id, one.revision))) as FoundRevision;
        await addRevisionTo(this.#tx, subject, { revision: one.revision, sha3_384, sha256, size, ...created }, found);
      }
      if (assertion !== undefined) await this.#tx.revisions.setAssertion(subject.id, one.revision, assertion);
    }
  }

  async #resources({ id }: PublishedPackage): Promise<void> {
    for (const { resource, one } of this.#plan.resources) {
      const found = (await this.#found(subjectOf(id, resource.name, one.revision))) as FoundResource;
      const content = one.content ?? found.content;
      if (content === undefined) throw new Error(`cannot let in ${resource.name}: it has no content`);
      if (one.content === undefined) await this.#credential({ packageId: id, resource: resource.name });
      // The next transfer compares against this, and the job that reads it from contents may not have run by then.
      if (one.image !== undefined) await this.#tx.images.mention(content['sha3-384'], one.image);
      const { sha256, 'sha3-384': sha3_384, size } = content;
      const [first = null, ...others] = one.serves;
      await this.#tx.resourceRevisions.add({
        ...{ packageId: id, name: resource.name, revision: one.revision, type: resource.type },
        ...{ sha256, sha3_384, size, sha384: found.sha384, sha512: found.sha512 },
        ...{ bases: one.bases, architectures: one.architectures, packageRevision: first },
        ...{ createdAt: one['created-at'], createdBy: one['created-by'] },
      });
      const component = { packageId: id, name: resource.name, revision: one.revision };
      for (const served of others) await this.#tx.resourceRevisions.pair(component, served);
    }
  }

  /** Makes the pull credentials valid that the content of a resource names. */
  async #credential(repository: Repository): Promise<void> {
    const subject = subjectOf(repository.packageId, repository.resource, 'credential');
    const { id, secretSha256, sealedSecret } = (await this.#found(subject)) as FoundCredential;
    const there = await this.#tx.imageCredentials.toPull(repository);
    if (there?.id === id) return;
    if (there !== undefined) {
      throw new Refusal(
        'conflict',
        `New credentials to pull ${repository.resource} were made meanwhile; discard the transfer, and receive it again.`,
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
        const found = (await this.#found(subjectOf(id, resource, sha256))) as FoundManifest;
        const manifest = { sha256, sha512: null, sha3_384, size, mediaType };
        await this.#tx.images.addManifest(repository, manifest, found, this.#doing.at);
        for (const tag of tags) await this.#tx.images.tag(repository, tag, sha256, this.#doing.at);
      }
    }
  }

  async #describe({ id }: PublishedPackage): Promise<void> {
    const subject = await this.#tx.packages.byId(id);
    if (subject !== undefined) await this.#tx.packages.describe({ ...subject, ...this.#plan.said });
  }

  async #libraries({ id: packageId }: PublishedPackage): Promise<void> {
    for (const { id, name, versions } of this.#plan.libraries) {
      const known = await this.#tx.charmLibraries.byId(id);
      if (known === undefined) await this.#tx.charmLibraries.add({ id, packageId, name, createdAt: this.#doing.at });
      for (const { api, patch, hash, 'created-at': at, 'created-by': by } of versions) {
        const { text: content } = (await this.#found(subjectOf(packageId, id, api, patch))) as FoundLibrary;
        await this.#tx.charmLibraries.addVersion({ libraryId: id, api, patch, hash, content, at, by });
      }
    }
  }

  async #withdrawals({ id }: PublishedPackage): Promise<void> {
    for (const { revision, why } of this.#plan.withdrawals) {
      await withdraw(this.#tx, id, { revision, because: why === '' ? 'withdrawn at its source' : why }, this.#doing);
    }
  }

  async #releases({ id, status }: PublishedPackage): Promise<Undo[]> {
    const undo: Undo[] = [];
    for (const { release, before } of this.#plan.releases) {
      const filled = filledBy(id, release, this.#doing.at);
      undo.push(undoOf(id, filled, release.revision, before));
      await this.#tx.releases.fill(filled);
      const held = before === undefined || isProgressive(before.progressive) ? null : before.revision;
      await remember(this.#tx, filled, held, this.#doing);
      await this.#tx.revisions.markReleased(id, release.revision);
    }
    if (undo.length > 0 && status === 'registered') await this.#tx.packages.publish(id);
    return undo;
  }

  async #ends({ id }: PublishedPackage): Promise<Undo[]> {
    for (const one of this.#plan.ends) await this.#tx.releases.empty(one);
    return this.#plan.ends.map((one) => undoOf(id, one, null, one));
  }

  async #closes({ id }: PublishedPackage): Promise<Undo[]> {
    const undo: Undo[] = [];
    for (const { channel, held } of this.#plan.closes) {
      await this.#tx.releases.close(id, channel);
      await rememberEnded(this.#tx, held, this.#doing);
      undo.push(...held.map((one) => undoOf(id, one, null, one)));
    }
    return undo;
  }

  async #found(subject: string): Promise<Findings | FoundManifest | FoundCredential | FoundLibrary> {
    const found = (await this.#planning.finding(subject))?.findings ?? null;
    if (found === null) throw new Error(`cannot let in ${subject}: it was not reviewed`);
    return JSON.parse(found) as Findings | FoundManifest | FoundCredential | FoundLibrary;
  }
}
