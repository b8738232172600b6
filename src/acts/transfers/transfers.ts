// Transfers: make, mark as lost, receive and discard.
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { MadeTransfer, ReceivedTransfer } from '#records/transfers/transfers.ts';
import { act, DoneAlready, type ActContext } from '../act.ts';
import { recordExport } from '../audit/exports.ts';

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
    await recordTransferExport(tx, id, leaving, doing);
  },
});

export const rewriteTransferPart = act({
  name: 'rewrite_transfer_part',
  summary: 'Write a part of an earlier transfer again, with the same bytes.',
  on: 'transfer/ID',
  object: ({ id }: { id: string; leaving: TransferExport }) => `transfer/${id}`,
  gate: { never: 'the same content left the site before' },

  perform: (tx, { id, leaving }: { id: string; leaving: TransferExport }, doing) =>
    recordTransferExport(tx, id, leaving, doing),
});

export const markTransferLost = act({
  name: 'record_lost_transfer',
  summary: 'Record that a transfer of this site never arrived, so later ones contain its content again.',
  on: 'transfer/ID',
  object: ({ id }: { id: string; sequence: number }) => `transfer/${id}`,
  gate: { never: 'later transfers only become larger' },

  /** Returns how many contents and packages count as not sent from now on. */
  async perform(tx, { id, sequence }: { id: string; sequence: number }, { note }) {
    if ((await tx.transfers.made(sequence))?.id !== id) {
      throw new Refusal('resource-not-found', `No transfer number ${String(sequence)} was made here.`);
    }
    const forgotten = await tx.transfers.forgetSent(sequence);
    if (forgotten.contents + forgotten.packages === 0) throw new DoneAlready(forgotten);
    note({ sequence, ...forgotten });
    return forgotten;
  },
});

async function recordTransferExport(
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
