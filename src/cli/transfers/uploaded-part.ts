// Opens a part of a transfer that was uploaded, as a whole or in pieces.
import { withFiles } from '#blobs/blobs.ts';
import { withBlobs } from '#data/blobs.ts';
import { Refusal } from '#domain/refusal.ts';
import { openCutPart, type OpenPart } from '#transfers/parts/open-part.ts';
import { NotATransfer } from '#transfers/statement/not-a-transfer.ts';
import { Failure, type CommandResult } from '../frame/command.ts';
import type { OpenStore } from '../frame/store.ts';

/** Opens the file that these uploads have in order, while `work` runs. The uploads stay. */
export async function withUploadedPart(
  store: OpenStore,
  uploads: readonly string[],
  work: (parts: OpenPart[]) => Promise<CommandResult>,
): Promise<CommandResult> {
  const contents: string[] = [];
  for (const id of uploads) {
    const upload = await store.records.unclaimedUploads.find(id);
    if (upload === undefined)
      throw new Refusal('resource-not-found', `There is no upload '${id}', or it has expired. Upload the file again.`);
    contents.push(upload.sha3_384);
  }
  return withBlobs(store, ({ blobs }) =>
    withFiles(blobs, contents, async (files) => {
      const part = await opened(files);
      try {
        return await work([part]);
      } catch (error) {
        throw error instanceof NotATransfer ? noTransfer(error) : error;
      } finally {
        await part.close();
      }
    }),
  );
}

async function opened(files: readonly string[]): Promise<OpenPart> {
  try {
    return await openCutPart('the uploaded file', files);
  } catch (error) {
    throw error instanceof NotATransfer ? noTransfer(error) : error;
  }
}

const noTransfer = (cause: NotATransfer): Failure =>
  new Failure(`The uploaded file cannot be read as a transfer. ${cause.message}`, { code: 'no-transfer', cause });
