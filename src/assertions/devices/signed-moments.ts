// Makes texts that contain a time and a subject with a code that only this store can compute. They need no record.
import { createMac, deriveKey, timingSafeEqual } from '#domain/cryptography.ts';

export interface SignedMoments {
  /** Returns the text in base64url: 24 bytes plus the subject. */
  make(moment: Date, about: Buffer): string;
  /** Returns the contents of a text that this store issued; undefined for any other. */
  read(text: string): { moment: Date; about: Buffer } | undefined;
}

const momentLength = 8;
const codeLength = 16;

/**
 * @param siteKey the key of the codes is derived from it
 * @param purpose a text made for one purpose is invalid for another
 */
export function signedMoments(siteKey: Buffer, purpose: string): SignedMoments {
  const key = deriveKey(siteKey, purpose);
  const codeOf = (content: Buffer): Buffer => createMac('moment', key).update(content).digest().subarray(0, codeLength);
  return {
    make(moment, about) {
      const content = Buffer.concat([Buffer.alloc(momentLength), about]);
      content.writeBigUInt64BE(BigInt(moment.getTime()));
      return Buffer.concat([content, codeOf(content)]).toString('base64url');
    },
    read(text) {
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.length < momentLength + codeLength || bytes.toString('base64url') !== text) return undefined;
      const content = bytes.subarray(0, -codeLength);
      if (!timingSafeEqual(codeOf(content), bytes.subarray(-codeLength))) return undefined;
      return { moment: new Date(Number(content.readBigUInt64BE())), about: content.subarray(momentLength) };
    },
  };
}
