// Request ids: a device asks for one and signs it, so that a request it signed long ago is worth nothing. Nothing of
// them is recorded: each says when it was given and carries a code that only this store can make.
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { hours } from '#domain/clock.ts';

export interface RequestIds {
  make(moment: Date): string;
  /** Whether this store gave it, and not too long ago. */
  holds(id: string, moment: Date): boolean;
}

/** How long a device may take to come back with it. */
const life = hours(1);
/** A clock may be set back a little between the two. */
const slack = hours(1);
const codeLength = 16;

/** @param siteKey from which the key of the codes is derived */
export function requestIds(siteKey: Buffer): RequestIds {
  const key = Buffer.from(hkdfSync('sha256', siteKey, '', 'larder device request ids', 32));
  const codeOf = (said: Buffer): Buffer => createHmac('sha256', key).update(said).digest().subarray(0, codeLength);
  return {
    make(moment) {
      const said = Buffer.concat([Buffer.alloc(8), randomBytes(12)]);
      said.writeBigUInt64BE(BigInt(moment.getTime()));
      return Buffer.concat([said, codeOf(said)]).toString('base64url');
    },
    holds(id, moment) {
      const bytes = Buffer.from(id, 'base64url');
      if (bytes.length !== 20 + codeLength || bytes.toString('base64url') !== id) return false;
      const said = bytes.subarray(0, 20);
      if (!timingSafeEqual(codeOf(said), bytes.subarray(20))) return false;
      const age = moment.getTime() - Number(said.readBigUInt64BE());
      return age > -slack && age < life;
    },
  };
}
