import { createDigest } from '#domain/cryptography.ts';
import type { TransferPiece } from '#contract/wire.ts';

/**
 * Passes bytes through and verifies size and SHA-256. The last chunk is yielded only after verification; if it fails, throws the error
 * from `wrong`.
 */
export async function* verifyBytes<Bytes extends Uint8Array>(
  bytes: AsyncIterable<Bytes>,
  { size, sha256 }: Pick<TransferPiece, 'size' | 'sha256'>,
  wrong: () => Error,
): AsyncGenerator<Bytes> {
  const digest = createDigest('content sha256');
  let held: Bytes | undefined;
  let length = 0;
  for await (const some of bytes) {
    if (held !== undefined) yield held;
    digest.update(some);
    length += some.length;
    held = some;
  }
  if (length !== size || digest.digest('hex') !== sha256) throw wrong();
  if (held !== undefined) yield held;
}
