// Texts that say when they were given and about what, with a code that only this store can make: nothing of them is recorded.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

export interface SignedMoments {
  /** The text in base64url, of 24 bytes and what it is about. */
  make(moment: Date, about: Buffer): string;
  /** What a text says that this store gave; nothing of any other. */
  read(text: string): { moment: Date; about: Buffer } | undefined;
}

const momentLength = 8;
const codeLength = 16;

/**
 * @param siteKey from which the key of the codes is derived
 * @param purpose what is given for one is worth nothing for another
 */
export function signedMoments(siteKey: Buffer, purpose: string): SignedMoments {
  const key = Buffer.from(hkdfSync('sha256', siteKey, '', purpose, 32));
  const codeOf = (said: Buffer): Buffer => createHmac('sha256', key).update(said).digest().subarray(0, codeLength);
  return {
    make(moment, about) {
      const said = Buffer.concat([Buffer.alloc(momentLength), about]);
      said.writeBigUInt64BE(BigInt(moment.getTime()));
      return Buffer.concat([said, codeOf(said)]).toString('base64url');
    },
    read(text) {
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.length < momentLength + codeLength || bytes.toString('base64url') !== text) return undefined;
      const said = bytes.subarray(0, -codeLength);
      if (!timingSafeEqual(codeOf(said), bytes.subarray(-codeLength))) return undefined;
      return { moment: new Date(Number(said.readBigUInt64BE())), about: said.subarray(momentLength) };
    },
  };
}
