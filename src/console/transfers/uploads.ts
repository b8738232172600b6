// Receives the files of transfers from browsers: as a whole, or in pieces that can be sent again. The pieces are unclaimed uploads.
import { storeAdministrator } from '#access/access-rules.ts';
import type { Chunks } from '#blobs/blobs.ts';
import { computeDigest } from '#domain/cryptography.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import { OperationResponse } from '#http/operation.ts';
import { attachment } from '#http/response/content-disposition.ts';
import type { Services } from '#http/services.ts';
import { caller } from '#operations/caller.ts';
import { forgetUnclaimed, receiveUnclaimed } from '#operations/uploads/receive-unclaimed.ts';
import { isPartStart, startLength } from '#transfers/parts/members.ts';
import { size as formatSize } from '../parts/values.ts';
import { withMessage } from '../messages.ts';
import { fileHandler, formHandler } from '../screen.ts';
import { renewedSessionHeader } from '../session-headers.ts';
import { addressOfTransfer } from './transfer-parts.ts';
import { uploadAddresses } from './upload-form.ts';

const access = storeAdministrator('store-manage');
const MiB = 1024 * 1024;

/** The bytes of a piece, and the maximum of pieces: an account has at most 1,000 unclaimed uploads. */
const pieceLimits = { min: 8 * MiB, count: 400 };

interface UploadedFile {
  /** The random name of the upload. */
  upload: string;
  size: number;
}

/** The piece size for a file; it follows from the size of the file, so that another tab uses the same pieces. */
const pieceSizeOf = (size: number): number =>
  Math.max(pieceLimits.min, Math.ceil(size / pieceLimits.count / MiB) * MiB);

/** The id of a piece. Only the account that uploads the file can know it, and it is the same when the piece is sent again. */
function pieceIdOf({ accountId }: Principal, { upload, size }: UploadedFile, offset: number): string {
  const digest = computeDigest('secret', `transfer piece ${accountId} ${upload} ${String(size)} ${String(offset)}`);
  return digest.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** The ids of all pieces of a file, in order. */
const pieceIdsOf = (principal: Principal, file: UploadedFile): string[] =>
  Array.from({ length: Math.ceil(file.size / pieceSizeOf(file.size)) }, (_, at) =>
    pieceIdOf(principal, file, at * pieceSizeOf(file.size)),
  );

/** Refuses a file that is empty or too large, before its pieces are sent. */
function readFile({ upload, size }: { upload: string; size: string }, { config }: Pick<Services, 'config'>) {
  const { max_size: limit } = config.uploads;
  if (Number(size) === 0) throw new Refusal('api-error', 'The file is empty. Choose another file.');
  if (Number(size) > limit)
    throw new Refusal('request-too-large', `The file is larger than the ${formatSize(limit)} that this store accepts.`);
  return { upload, size: Number(size) };
}

/** The number of bytes from the start of the file that are stored here. */
async function countReceived(
  principal: Principal,
  file: UploadedFile,
  { records }: Pick<Services, 'records'>,
): Promise<number> {
  const step = pieceSizeOf(file.size);
  for (let offset = 0; offset < file.size; offset += step)
    if ((await records.unclaimedUploads.find(pieceIdOf(principal, file, offset))) === undefined) return offset;
  return file.size;
}

/** Passes on a file; refuses it by its first bytes if it is no part of a transfer, so that nothing of it is stored. */
async function* refuseOthers(content: AsyncIterable<Chunks>): AsyncGenerator<Chunks> {
  let start = Buffer.alloc(0);
  let waiting: Uint8Array[] = [];
  for await (const chunks of content) {
    if (start.length >= startLength) {
      yield chunks;
      continue;
    }
    start = Buffer.concat([start, ...chunks]);
    waiting.push(...chunks);
    if (start.length < startLength) continue;
    if (!isPartStart(start)) throw notATransfer();
    yield waiting;
    waiting = [];
  }
  if (start.length < startLength) throw notATransfer();
}

const notATransfer = (): Refusal =>
  new Refusal(
    'api-error',
    'The file is not a transfer. Choose a file that larder transfer make or larder transfer fetch has written.',
  );

/** Receives a transfer from its uploads like `larder transfer receive`; returns the page of the transfer. */
async function receiveTransfer(
  call: Services & Parameters<typeof caller>[0],
  uploads: readonly string[],
): Promise<string> {
  const { id, lacking } = await call.transfers.receiveUploads(uploads, caller(call));
  await forgetUnclaimed(call, uploads);
  return withMessage(addressOfTransfer(id), lacking.length === 0 ? 'transfer-received' : 'transfer-part-received');
}

/** The sender of the uploads of an account, for the quota. */
const senderOf = ({ accountId }: Principal): string => `account ${accountId}`;

export const consoleUploadTransfer = fileHandler({
  name: 'console_upload_transfer',
  path: uploadAddresses.whole,
  summary: 'Upload a file of a transfer, and receive it.',
  access,
  refuses: ['conflict', 'sealed', 'shutting-down'],

  limit: ({ config }) => config.uploads.max_size,
  async receive(call, content, expected) {
    const id = call.newId.uuid();
    const { accountId: actor } = call.principal;
    await receiveUnclaimed(call, refuseOthers(content), {
      id,
      client: senderOf(call.principal),
      limit: call.config.uploads.max_size,
      expected,
      actor,
    });
    return id;
  },
  async perform(call, id) {
    try {
      return await receiveTransfer(call, [id]);
    } catch (error) {
      // A browser without script cannot name the upload again.
      await forgetUnclaimed(call, [id]);
      throw error;
    }
  },
});

export const consoleUploadPiece = fileHandler({
  name: 'console_upload_transfer_piece',
  path: uploadAddresses.piece,
  summary: 'Upload a piece of a file of a transfer. A piece that is sent again stays as it is.',
  access,
  query: 'ConsoleUploadPieceQuery',

  limit: ({ query }) => pieceSizeOf(Number(query.size)),
  async receive(call, content, expected) {
    const { query, principal } = call;
    const file = readFile(query, call);
    const [offset, step] = [Number(query.offset), pieceSizeOf(file.size)];
    if (offset % step !== 0 || offset >= file.size)
      throw new Refusal('api-error', `The pieces of this file have ${String(step)} bytes each.`);
    const length = Math.min(step, file.size - offset);
    await receiveUnclaimed(call, offset === 0 ? refuseOthers(content) : content, {
      id: pieceIdOf(principal, file, offset),
      client: senderOf(principal),
      limit: length,
      expected,
      accept({ size }) {
        if (size !== length)
          throw new Refusal('api-error', `The piece has ${String(size)} bytes of ${String(length)}.`);
      },
      actor: principal.accountId,
    });
  },
  perform: () => Promise.resolve(undefined),
});

export const consoleBeginUpload = formHandler({
  name: 'console_begin_transfer_upload',
  path: uploadAddresses.begin,
  summary: 'Give the size of the pieces of a file of a transfer, and the number of bytes that are stored.',
  access,
  body: 'ConsoleUploadedFile',
  file: 'text/plain',
  refuses: ['insufficient-storage'],

  async perform(call) {
    const file = readFile(call.body, call);
    const received = await countReceived(call.principal, file, call);
    const free = await call.blobs.free();
    // The pieces and the contents that are read from them are stored together for a while.
    const needed = 2 * file.size - received;
    if (needed > free)
      throw new Refusal(
        'insufficient-storage',
        `The upload takes up to ${formatSize(needed)}, but only ${formatSize(free)} are free. Free space first.`,
      );
    return new OperationResponse({
      headers: {
        'content-type': 'text/plain; charset=utf-8',
        'cache-control': 'no-store',
        ...attachment('upload.txt'),
        ...renewedSessionHeader(call),
      },
      body: `${String(pieceSizeOf(file.size))} ${String(received)}`,
    });
  },
});

export const consoleReceiveUpload = formHandler({
  name: 'console_receive_uploaded_transfer',
  path: uploadAddresses.receive,
  summary: 'Receive a file of a transfer whose pieces are uploaded.',
  access,
  body: 'ConsoleUploadedFile',
  refuses: ['conflict', 'insufficient-storage', 'sealed', 'shutting-down', 'resource-not-found'],

  async perform(call) {
    const file = readFile(call.body, call);
    const pieces = pieceIdsOf(call.principal, file);
    if ((await countReceived(call.principal, file, call)) < file.size)
      throw new Refusal(
        'resource-not-found',
        'Some pieces of the file are not here: the upload has expired, or the transfer was received already. Look for it in the list of transfers, or choose the file again.',
      );
    try {
      return await receiveTransfer(call, pieces);
    } catch (error) {
      // The pieces stay if the cause can be mended: the upload then continues at its end.
      if (error instanceof Refusal && error.code === 'api-error') await forgetUnclaimed(call, pieces);
      throw error;
    }
  },
});
