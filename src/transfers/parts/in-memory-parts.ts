// Provides the parts of a transfer that is made and received in the same process, without writing files.
import type { TransferIntent } from '../make/compose.ts';
import { NotATransfer } from '../statement/not-a-transfer.ts';
import { verifyBytes } from './verify-bytes.ts';
import type { OpenPart } from './open-part.ts';
import { readSignatures } from '../statement/signatures.ts';
import { idOf } from '../statement/statement.ts';
import type { TransferContentReader } from './part-bytes.ts';
import type { Transfer } from './members.ts';

/** Without files there is one part, and no content is known to be present already. */
export const unwrittenIntent: TransferIntent = {
  sites: [],
  base: { kind: 'none' },
  expiresDays: 180,
  partSize: undefined,
  reason: undefined,
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
    file: from,
    id,
    part: at + 1,
    signatureList,
    size: pieces.values().reduce((sum, { size }) => sum + size, 0),
    async *pieces() {
      for (const piece of pieces) {
        const of = statement.blobs.at(piece.blob)!;
        const unproven = async function* (): AsyncGenerator<Buffer> {
          for await (const some of content(of, piece.offset, piece.size)) yield Buffer.from(some);
        };
        const wrong = () =>
          new NotATransfer(`A file in ${from} has changed since it was gathered. Gather the folder again.`);
        const place = { file: from, offset: piece.offset };
        yield { piece, of, at: place, unproven, wrong, bytes: () => verifyBytes(unproven(), piece, wrong) };
      }
    },
    close: async () => undefined,
  }));
}
