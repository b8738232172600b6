// Transfers: make, receive, accept, discard and withdraw.
import type { ApprovalPolicy, ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { isProgressive } from '#domain/releases/channel-map.ts';
import { clockTolerance } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { slotText } from '#domain/releases/release-text.ts';
import type { Sequence } from '#domain/sequence.ts';
import { mayReceive, type SiteLabels } from '#domain/sites/site-label.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { StoredApproval } from '#records/approvals/proposals.ts';
import type { Release } from '#records/releases/releases.ts';
import type { MadeTransfer, ReceivedTransfer } from '#records/transfers/transfers.ts';
import type { TransferSource } from '#records/sites/transfer-sources.ts';
import { act, DoneAlready, type ActContext } from '../act.ts';
import { latestTimeSetting } from '../store/clock.ts';
import { recordExport, measureText } from '../audit/exports.ts';
import { slotLine } from '../releases/release-lines.ts';
import { refuseRiskAgain, recordRelease, recordEndedReleases } from '../releases/releases.ts';
import type { LazyTransferStatement } from './statement.ts';

const object = ({ id }: { id: string }): string => `transfer/${id}`;

/** The files of a transfer that leave this site, and their medium. */
export interface TransferExport {
  files: readonly { part: number; sha256: string; bytes: number }[];
  /** The number of parts of the transfer. */
  of: number;
  /** The label of this site, if it has one. */
  label: string | null;
  /** The name that the carrier gives the medium. */
  media: string | null;
}

interface NewTransfer extends Omit<MadeTransfer, 'madeAt' | 'madeBy'> {
  contents: readonly string[];
  /** Contents that no other record refers to. They are kept here so that a lost part can be written again. */
  texts: readonly string[];
  packageDigests: ReadonlyMap<string, string>;
  leaving: TransferExport;
}

export const makeTransfer = act({
  name: 'make_transfer',
  summary: 'Sign a transfer of content of this store for other sites.',
  on: 'transfer/ID',
  object: ({ id }: NewTransfer) => `transfer/${id}`,
  gate: { never: 'nothing changes here; the audit log records the content and the receivers' },

  async perform(tx, { contents, texts, packageDigests, leaving, ...made }: NewTransfer, doing) {
    const { at, actor, note } = doing;
    const { id, sequence, sites, bytes } = made;
    if (sequence <= (await tx.transfers.newestMade())) {
      throw new Refusal('conflict', 'Another transfer was made at the same time. Make this one again.');
    }
    note({ sequence, for: sites.length === 0 ? 'any site' : sites, bytes });
    await tx.transfers.addMade({ ...made, madeAt: at, madeBy: actor }, { contents, texts, packageDigests });
    await letOut(tx, id, leaving, doing);
  },
});

export const rewriteTransferPart = act({
  name: 'make_transfer_again',
  summary: 'Write a part of an earlier transfer again, with the same bytes.',
  on: 'transfer/ID',
  object: ({ id }: { id: string; leaving: TransferExport }) => `transfer/${id}`,
  gate: { never: 'the same content left the site before' },

  perform: (tx, { id, leaving }: { id: string; leaving: TransferExport }, doing) => letOut(tx, id, leaving, doing),
});

async function letOut(
  tx: ChangeRecords,
  id: string,
  { files, of, label, media }: TransferExport,
  doing: ActContext,
): Promise<void> {
  doing.note({
    ...(media !== null && { media }),
    files: files.map(({ part, sha256, bytes }) => ({ part, sha256, bytes })),
  });
  for (const { part, sha256, bytes } of files) {
    const name = of === 1 ? id : `${id} part ${String(part)} of ${String(of)}`;
    await recordExport(tx, { what: 'transfer', name, sha256, bytes, label, media }, doing);
  }
}

type ReceivedTransferField = 'id' | 'source' | 'sequence' | 'statement' | 'signatures' | 'unsigned' | 'answers';

interface TransferReception extends Pick<ReceivedTransfer, ReceivedTransferField> {
  signers: readonly string[];
  /** The name that the carrier gives the medium of the received transfer. Each name is recorded once. */
  media: string | undefined;
}

const maxMedia = 1000;

export const receiveTransfer = act({
  name: 'receive_transfer',
  summary:
    'Receive a transfer that enough keys of its source have signed, or an unsigned folder; nothing is visible before it ' +
    'is accepted.',
  on: 'transfer/ID',
  object: ({ id }: TransferReception) => `transfer/${id}`,
  gate: { never: 'nothing is visible before the transfer is accepted' },

  async perform(tx, { signers, media, ...received }: TransferReception, { at, actor, note }) {
    const { id, source, sequence, unsigned } = received;
    note({
      source,
      sequence,
      signers,
      ...(unsigned === 1 && { unsigned: true }),
      ...(media !== undefined && { media }),
    });
    const isNew = await tx.transfers.add({ ...received, receivedAt: at, receivedBy: actor });
    const stored = await tx.transfers.find(id);
    // A second copy of a waiting transfer may be signed with further keys, for example of a scanning station or after a
    // rotation.
    const isSignedAnew = !isNew && stored?.status === 'waiting' && stored.signatures !== received.signatures;
    if (isSignedAnew) await tx.transfers.setSignatures(id, received.signatures);
    const before = JSON.parse(stored?.media ?? '[]') as string[];
    const comesOn = media !== undefined && !before.includes(media) ? [...before, media] : before;
    if (comesOn.length > maxMedia) throw new Refusal('conflict', `It came on ${String(maxMedia)} media already.`);
    if (comesOn.length > before.length) await tx.transfers.setMedia(id, JSON.stringify(comesOn));
    else if (!isNew && !isSignedAnew) throw new DoneAlready(undefined);
  },
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

export const discardTransfer = act({
  name: 'discard_transfer',
  summary: 'Discard a waiting transfer; it may be received again.',
  on: 'transfer/ID',
  object,
  gate: { never: 'nothing of it was accepted' },

  async perform(tx, { id }: { id: string }, doing) {
    await requireWaitingTransfer(tx, id);
    await tx.transfers.settle(id, { status: 'discarded', receipt: null, at: doing.at, actor: doing.actor });
    await tx.transfers.forgetArrived(id);
  },
});

/** Returns a waiting transfer; refuses any other. */
export async function requireWaitingTransfer(
  { transfers }: Pick<ChangeRecords, 'transfers'>,
  id: string,
): Promise<ReceivedTransfer> {
  const transfer = await transfers.find(id);
  if (transfer?.status === 'waiting') return transfer;
  const reason = transfer === undefined ? 'is not here' : `was ${transfer.status} at ${transfer.settledAt ?? ''}`;
  throw new Refusal(
    transfer === undefined ? 'resource-not-found' : 'conflict',
    `The transfer ${id.slice(0, 12)} ${reason}.`,
  );
}

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

export const withdrawTransfer = act({
  name: 'withdraw_transfer',
  summary: 'Withdraw an accepted transfer: restore its channels, unless they were changed later. Its revisions stay.',
  on: 'transfer/ID',
  object,
  gate: {
    kinds: ['transfers', 'releases'],
    async lines(tx, { id }: { id: string }, { at }) {
      const { undo = [] } = JSON.parse((await tx.transfers.find(id))?.receipt ?? '{}') as Partial<Receipt>;
      const lines: ApprovalLine[] = [];
      for (const [packageId, ofPackage] of Map.groupBy(undo, (step) => step.id)) {
        const subject = await tx.packages.byId(packageId);
        if (subject === undefined) continue;
        const held = await tx.releases.current(packageId, at);
        for (const some of Map.groupBy(ofPackage, ({ channel, slot }) => `${channel} ${slot}`).values()) {
          const { channel, slot } = some[0]!;
          const current = held.filter((release) => release.channel === channel && release.slot === slot);
          const stays = current.filter(
            (release) => !some.some((other) => other.isProgressive === isProgressive(release.progressive)),
          );
          const to = slotText([...stays, ...some.flatMap(({ before }) => before ?? [])]);
          const line = slotLine(subject, channel, slot, { from: slotText(current), to });
          lines.push(line, { ...line, kind: 'transfers' });
        }
      }
      return lines;
    },
  },

  /** Returns the restored channels. */
  async perform(tx, { id }: { id: string }, doing): Promise<string[]> {
    const transfer = await tx.transfers.find(id);
    if (transfer?.status !== 'accepted' || transfer.settledAt === null) {
      throw new Refusal('conflict', `The transfer ${id.slice(0, 12)} was not accepted, or was withdrawn already.`);
    }
    const { undo } = JSON.parse(transfer.receipt ?? '{}') as { undo: ChannelUndo[] };
    for (const step of undo) await refuseLater(tx, step, transfer.settledAt);
    // Restoring a revision counts as a release of it, so the same check applies.
    for (const { before } of undo) if (before !== null) await refuseRiskAgain(tx, before);
    for (const step of undo.toReversed()) await restoreSlot(tx, step, doing);
    const channels = undo.map(({ channel }) => channel);
    doing.note({ source: transfer.source, sequence: transfer.sequence, channels });
    await tx.transfers.settle(id, { status: 'withdrawn', receipt: transfer.receipt, at: doing.at, actor: doing.actor });
    return channels;
  },
});

const heldAt = async (
  tx: ChangeRecords,
  { id, channel, slot, isProgressive: over }: ChannelUndo,
): Promise<Release | undefined> =>
  (await tx.releases.held(id)).find(
    (release) => release.channel === channel && release.slot === slot && isProgressive(release.progressive) === over,
  );

async function refuseLater(tx: ChangeRecords, undo: ChannelUndo, acceptedAt: string): Promise<void> {
  const held = await heldAt(tx, undo);
  const isAsLeft =
    undo.put === null ? held === undefined : held?.revision === undo.put && held.releasedAt === acceptedAt;
  if (isAsLeft) return;
  const subject = await tx.packages.byId(undo.id);
  throw new Refusal(
    'conflict',
    `${subject === undefined ? undo.id : `${subject.namespace}/${subject.name}`} ${undo.channel} was changed after the transfer ` +
      'was accepted, so nothing was withdrawn.',
  );
}

async function restoreSlot(tx: ChangeRecords, undo: ChannelUndo, doing: ActContext): Promise<void> {
  const held = await heldAt(tx, undo);
  if (undo.before !== null) {
    const filled = { ...undo.before, releasedAt: doing.at };
    await tx.releases.fill(filled);
    await recordRelease(tx, filled, undo.isProgressive ? null : (held?.revision ?? null), doing);
  } else if (held !== undefined) {
    await tx.releases.empty(held);
    await recordEndedReleases(tx, [held], doing);
  }
}

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

/**
 * The subject, among the findings of reviews, that stores why a transfer waits for a person. No package can have this
 * name.
 */
export const waitReasonSubject = 'automatic';

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
