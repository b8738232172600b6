// Makes cohort keys. Devices that present the same key get the same revisions of a snap: the revisions that its channels held when the key
// was made.
import { days } from '#domain/clock.ts';
import { signedMoments } from './signed-moments.ts';

export interface CohortKeys {
  /** Makes a key for the snap with this id. */
  make(snapId: string, moment: Date): string;
  /** Returns when this store made the key for this snap; undefined for any other key and for an expired one. */
  madeAt(key: string, snapId: string, moment: Date): Date | undefined;
}

/** A cohort serves a staged rollout. The limit prevents devices from silently staying behind. */
const life = days(90);

/** @param siteKey the key of the codes is derived from it */
export function cohortKeys(siteKey: Buffer): CohortKeys {
  const signed = signedMoments(siteKey, 'larder cohorts');
  return {
    make: (snapId, moment) => signed.make(moment, Buffer.from(snapId)),
    madeAt(key, snapId, now) {
      const contents = signed.read(key);
      if (contents?.about.toString() !== snapId) return undefined;
      return now.getTime() - contents.moment.getTime() < life ? contents.moment : undefined;
    },
  };
}
