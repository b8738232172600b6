// Declares the upload of a file by a store administrator at a page: as a whole, or in pieces that can be sent again. The pieces are
// unclaimed uploads.
import { storeAdministrator } from '#access/access-rules.ts';
import type { Chunks } from '#blobs/blobs.ts';
import { computeDigest } from '#domain/cryptography.ts';
import { Refusal, type RefusalCode } from '#domain/refusal.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import { OperationResponse, type Operation } from '#http/operation.ts';
import { attachment } from '#http/response/content-disposition.ts';
import type { Services } from '#http/services.ts';
import type { caller } from '#operations/caller.ts';
import { forgetUnclaimed, receiveUnclaimed } from '#operations/uploads/receive-unclaimed.ts';
import type { UploadAddresses } from '../parts/upload-form.ts';
import { size as formatSize } from '../parts/values.ts';
import { fileHandler, formHandler } from '../screen.ts';
import { renewedSessionHeader } from '../session-headers.ts';

const access = storeAdministrator('store-manage');
const MiB = 1024 * 1024;

/** The bytes of a piece, and the maximum of pieces: an account has at most 1,000 unclaimed uploads. */
const pieceLimits = { min: 8 * MiB, count: 400 };

interface UploadedFile {
  /** The random name of the upload. */
  upload: string;
  size: number;
}

export type UploadCall = Services & Parameters<typeof caller>[0];

interface FileUploadDeclaration {
  /** The kind of file, such as `transfer`; part of the names of the operations. */
  kind: string;
  /** The file in a sentence, such as `a file of a transfer`. */
  file: string;
  addresses: UploadAddresses;
  /** The number of first bytes that `refuseStart` decides on. */
  startLength: number;
  /** Refuses a file by its first bytes, so that nothing of it is stored. Fewer than `startLength` bytes are the whole file. */
  refuseStart(start: Buffer): void;
  /** The maximum number of bytes. */
  limit(config: Services['config']): number;
  /** Receives the file that these uploads have in order. Returns the next address of the browser. */
  receive(call: UploadCall, uploads: readonly string[]): Promise<string>;
  refuses: readonly RefusalCode[];
}

/** The piece size for a file; it follows from the size of the file, so that another tab uses the same pieces. */
const pieceSizeOf = (size: number): number =>
  Math.max(pieceLimits.min, Math.ceil(size / pieceLimits.count / MiB) * MiB);

/** The sender of the uploads of an account, for the quota. */
export const senderOf = ({ accountId }: Principal): string => `account ${accountId}`;

/** Passes on a file after its first bytes were accepted. */
async function* withStart(
  content: AsyncIterable<Chunks>,
  { startLength, refuseStart }: Pick<FileUploadDeclaration, 'startLength' | 'refuseStart'>,
): AsyncGenerator<Chunks> {
  let start = Buffer.alloc(0);
  let waiting: Uint8Array[] | undefined = [];
  for await (const chunks of content) {
    if (waiting === undefined) {
      yield chunks;
      continue;
    }
    start = Buffer.concat([start, ...chunks]);
    waiting.push(...chunks);
    if (start.length < startLength) continue;
    refuseStart(start);
    yield waiting;
    waiting = undefined;
  }
  if (waiting === undefined) return;
  refuseStart(start);
  yield waiting;
}

/** The pieces of the files of one kind. */
function piecesOfKind({ kind, limit }: Pick<FileUploadDeclaration, 'kind' | 'limit'>) {
  /** The id of a piece. Only the account that uploads the file can know it, and it is the same when the piece is sent again. */
  function idOf({ accountId }: Principal, { upload, size }: UploadedFile, offset: number): string {
    const digest = computeDigest('secret', `${kind} piece ${accountId} ${upload} ${String(size)} ${String(offset)}`);
    return digest.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }
  return {
    idOf,

    /** The ids of all pieces of a file, in order. */
    idsOf: (principal: Principal, file: UploadedFile): string[] =>
      Array.from({ length: Math.ceil(file.size / pieceSizeOf(file.size)) }, (_, at) =>
        idOf(principal, file, at * pieceSizeOf(file.size)),
      ),

    /** Refuses a file that is empty or too large, before its pieces are sent. */
    readFile({ upload, size }: { upload: string; size: string }, { config }: Pick<Services, 'config'>): UploadedFile {
      if (Number(size) === 0) throw new Refusal('api-error', 'The file is empty. Choose another file.');
      if (Number(size) > limit(config))
        throw new Refusal(
          'request-too-large',
          `The file is larger than the ${formatSize(limit(config))} that this store accepts.`,
        );
      return { upload, size: Number(size) };
    },

    /** The number of bytes from the start of the file that are stored here. */
    async countReceived(
      principal: Principal,
      file: UploadedFile,
      { records }: Pick<Services, 'records'>,
    ): Promise<number> {
      const step = pieceSizeOf(file.size);
      for (let offset = 0; offset < file.size; offset += step)
        if ((await records.unclaimedUploads.find(idOf(principal, file, offset))) === undefined) return offset;
      return file.size;
    },
  };
}

type Pieces = ReturnType<typeof piecesOfKind>;

/** Declares the operations of an upload: the form without a script, and the steps of the script. */
export function declareFileUpload(declaration: FileUploadDeclaration): Operation[] {
  const pieces = piecesOfKind(declaration);
  return [
    declareWhole(declaration),
    declareBegin(declaration, pieces),
    declarePiece(declaration, pieces),
    declareReceive(declaration, pieces),
  ];
}

const declareWhole = (declaration: FileUploadDeclaration): Operation =>
  fileHandler({
    name: `console_upload_${declaration.kind}`,
    path: declaration.addresses.whole,
    summary: `Upload ${declaration.file}, and receive it.`,
    access,
    refuses: declaration.refuses,

    limit: ({ config }) => declaration.limit(config),
    async receive(call, content, expected) {
      const id = call.newId.uuid();
      await receiveUnclaimed(call, withStart(content, declaration), {
        id,
        client: senderOf(call.principal),
        limit: declaration.limit(call.config),
        expected,
        actor: call.principal.accountId,
      });
      return id;
    },
    async perform(call, id) {
      try {
        return await declaration.receive(call, [id]);
      } catch (error) {
        // A browser without script cannot name the upload again.
        await forgetUnclaimed(call, [id]);
        throw error;
      }
    },
  });

const declarePiece = (declaration: FileUploadDeclaration, pieces: Pieces): Operation =>
  fileHandler({
    name: `console_upload_${declaration.kind}_piece`,
    path: declaration.addresses.piece,
    summary: `Upload a piece of ${declaration.file}. A piece that is sent again stays as it is.`,
    access,
    query: 'ConsoleUploadPieceQuery',

    limit: ({ query }) => pieceSizeOf(Number(query.size)),
    async receive(call, content, expected) {
      const { query, principal } = call;
      const file = pieces.readFile(query, call);
      const [offset, step] = [Number(query.offset), pieceSizeOf(file.size)];
      if (offset % step !== 0 || offset >= file.size)
        throw new Refusal('api-error', `The pieces of this file have ${String(step)} bytes each.`);
      const length = Math.min(step, file.size - offset);
      await receiveUnclaimed(call, offset === 0 ? withStart(content, declaration) : content, {
        id: pieces.idOf(principal, file, offset),
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

const declareBegin = (declaration: FileUploadDeclaration, pieces: Pieces): Operation =>
  formHandler({
    name: `console_begin_${declaration.kind}_upload`,
    path: declaration.addresses.begin,
    summary: `Give the size of the pieces of ${declaration.file}, and the number of bytes that are stored.`,
    access,
    body: 'ConsoleUploadedFile',
    file: 'text/plain',
    refuses: ['insufficient-storage'],

    async perform(call) {
      const file = pieces.readFile(call.body, call);
      const received = await pieces.countReceived(call.principal, file, call);
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

const declareReceive = (declaration: FileUploadDeclaration, pieces: Pieces): Operation =>
  formHandler({
    name: `console_receive_uploaded_${declaration.kind}`,
    path: declaration.addresses.receive,
    summary: `Receive ${declaration.file} whose pieces are uploaded.`,
    access,
    body: 'ConsoleUploadedFile',
    refuses: [...new Set<RefusalCode>([...declaration.refuses, 'insufficient-storage', 'resource-not-found'])],

    async perform(call) {
      const file = pieces.readFile(call.body, call);
      const ids = pieces.idsOf(call.principal, file);
      if ((await pieces.countReceived(call.principal, file, call)) < file.size)
        throw new Refusal(
          'resource-not-found',
          `Some pieces of the file are not here: the upload has expired, or the ${declaration.kind} was received already. Look for it in the list, or choose the file again.`,
        );
      try {
        return await declaration.receive(call, ids);
      } catch (error) {
        // The pieces stay if the cause can be mended: the upload then continues at its end.
        if (error instanceof Refusal && error.code === 'api-error') await forgetUnclaimed(call, ids);
        throw error;
      }
    },
  });
