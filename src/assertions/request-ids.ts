// Request ids and nonces: a device asks for one and signs it, so that what it signed long ago is worth nothing.
import { randomBytes } from 'node:crypto';
import { hours, minutes } from '#domain/clock.ts';
import { signedMoments } from './signed-moments.ts';

export interface RequestIds {
  make(moment: Date): string;
  /** Whether this store gave it, and not too long ago. */
  holds(id: string, moment: Date): boolean;
}

/** A clock may be set back a little between the two. */
const slack = hours(1);

/** How long a device may take to come back with a nonce. */
const nonceLife = minutes(10);
/** For how long it must be known that a nonce was used: no longer is one taken, whatever the clock does meanwhile. */
export const nonceKept = slack + nonceLife;

/** @param siteKey from which the key of the codes is derived */
export const requestIds = (siteKey: Buffer): RequestIds => codes(siteKey, 'larder device request ids', hours(1));

/** The same for nonces, with which a device asks for a session; neither is good for the other. */
export const deviceNonces = (siteKey: Buffer): RequestIds => codes(siteKey, 'larder device nonces', nonceLife);

function codes(siteKey: Buffer, purpose: string, life: number): RequestIds {
  const signed = signedMoments(siteKey, purpose);
  return {
    make: (moment) => signed.make(moment, randomBytes(12)),
    holds(id, moment) {
      const said = signed.read(id);
      const age = said && moment.getTime() - said.moment.getTime();
      return age !== undefined && age > -slack && age < life;
    },
  };
}
