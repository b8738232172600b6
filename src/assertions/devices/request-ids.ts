// Makes request ids and nonces. A device obtains one and signs it, so that an old signature cannot be replayed.
import { randomBytes } from '#domain/cryptography.ts';
import { hours, minutes } from '#domain/clock.ts';
import { signedMoments } from './signed-moments.ts';

export interface RequestIds {
  make(moment: Date): string;
  /** Returns whether this store issued the id and it has not expired. */
  holds(id: string, moment: Date): boolean;
}

/** Tolerance for a clock that was set back in between. */
const slack = hours(1);

/** How long a device may take to return with a nonce. */
const nonceLife = minutes(10);
/** How long to remember used nonces. No nonce is accepted for longer, even if the clock changes. */
export const nonceKept = slack + nonceLife;

/** @param siteKey the key of the codes is derived from it */
export const requestIds = (siteKey: Buffer): RequestIds => codes(siteKey, 'larder device request ids', hours(1));

/** Makes the nonces of session requests. Request ids and nonces are not interchangeable. */
export const deviceNonces = (siteKey: Buffer): RequestIds => codes(siteKey, 'larder device nonces', nonceLife);

function codes(siteKey: Buffer, purpose: string, life: number): RequestIds {
  const signed = signedMoments(siteKey, purpose);
  return {
    make: (moment) => signed.make(moment, randomBytes(12)),
    holds(id, moment) {
      const contents = signed.read(id);
      const age = contents && moment.getTime() - contents.moment.getTime();
      return age !== undefined && age > -slack && age < life;
    },
  };
}
