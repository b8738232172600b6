// Provides the parts of a transfer that is made and received in the same process, without writing files.
import type { TransferIntent } from './composing.ts';
import { NotATransfer } from './form/not-a-transfer.ts';
import { verifyBytes } from './form/proven.ts';
import type { OpenPart } from './form/read.ts';
import { readSignatures } from './form/signatures.ts';
import { idOf } from './form/statement.ts';
import type { TransferContentReader } from './form/write.ts';
import type { Transfer } from './form/members.ts';

/** Without files there is one part, and no content is known to be present already. */
export const unwrittenIntent: TransferIntent = {
  ...{ sites: [], base: { kind: 'none' }, expiresDays: 180, partSize: undefined, reason: undefined },
  findPresent: async () => new Set<string>(),
};

export function unwrittenParts(
  transfer: Transfer,
  content: TransferContentReader,
  from: string,
  signatureList = readSignatures(transfer.signatures),
): OpenPart[] {
  const { statement, bytes } = transfer;
  const id = idOf(bytes);
  return statement.parts.map((pieces, at) => ({
    ...transfer,
    ...{ file: from, id, part: at + 1, signatureList },
    size: pieces.values().reduce((sum, { size }) => sum + size, 0),
    async *pieces() {
      for (const piece of pieces) {
        const of = statement.blobs.at(piece.blob)!;
        const unproven = async function* (): AsyncGenerator<Buffer> {
          for await (const some of content(of, piece.offset, piece.size)) yield Buffer.from(some);
        };
        const wrong = () => new NotATransfer(`A file in ${from} is not what it was when it was gathered; begin again.`);
        const place = { file: from, offset: piece.offset };
        yield { piece, of, at: place, unproven, wrong, bytes: () => verifyBytes(unproven(), piece, wrong) };
      }
    },
    close: async () => undefined,
  }));
}
