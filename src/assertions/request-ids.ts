// Request ids and nonces: a device asks for one and signs it, so that what it signed long ago is worth nothing. Nothing
// of them is recorded when they are given: each says when that was and carries a code that only this store can make.
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { hours, minutes } from '#domain/clock.ts';

export interface RequestIds {
  make(moment: Date): string;
  /** Whether this store gave it, and not too long ago. */
  holds(id: string, moment: Date): boolean;
}

/** A clock may be set back a little between the two. */
const slack = hours(1);
const codeLength = 16;

/** How long a device may take to come back with a nonce. */
const nonceLife = minutes(10);
/** For how long it must be known that a nonce was used: no longer is one taken, whatever the clock does meanwhile. */
export const nonceKept = slack + nonceLife;

/** @param siteKey from which the key of the codes is derived */
export const requestIds = (siteKey: Buffer): RequestIds => codes(siteKey, 'larder device request ids', hours(1));

/** The same for nonces, with which a device asks for a session; neither is good for the other. */
export const deviceNonces = (siteKey: Buffer): RequestIds => codes(siteKey, 'larder device nonces', nonceLife);

function codes(siteKey: Buffer, purpose: string, life: number): RequestIds {
  const key = Buffer.from(hkdfSync('sha256', siteKey, '', purpose, 32));
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
