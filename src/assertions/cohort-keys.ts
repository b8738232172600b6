// Cohort keys: devices that show the same one get the same revisions of a snap, those that its channels held when it was made.
import { days } from '#domain/clock.ts';
import { signedMoments } from './signed-moments.ts';

export interface CohortKeys {
  /** A key for a snap, by its id. */
  make(snapId: string, moment: Date): string;
  /** When a key was made that this store gave for this snap; nothing of any other, nor of one that has ended. */
  madeAt(key: string, snapId: string, moment: Date): Date | undefined;
}

/** A cohort is for rolling out a revision; who stays in one for longer is left behind unnoticed. */
const life = days(90);

/** @param siteKey from which the key of the codes is derived */
export function cohortKeys(siteKey: Buffer): CohortKeys {
  const signed = signedMoments(siteKey, 'larder cohorts');
  return {
    make: (snapId, moment) => signed.make(moment, Buffer.from(snapId)),
    madeAt(key, snapId, now) {
      const said = signed.read(key);
      if (said?.about.toString() !== snapId) return undefined;
      return now.getTime() - said.moment.getTime() < life ? said.moment : undefined;
    },
  };
}
