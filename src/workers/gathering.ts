// Collects the replies of workers to one of them, and the counters of workers that have ended.
import type { Figures } from '#api/metrics.ts';
import type { Answers } from '#appliance/team.ts';
import type { ServingState } from '#data/serving-state.ts';
import type { Place } from './place.ts';

/** Collects replies from the workers in these places. */
export function createGathering(places: readonly Place[], supervisor: () => ServingState) {
  /** The last known counters of the worker in each place. */
  const lastFigures = new Map<Place, Figures>();
  let ofEnded: Figures | undefined;

  return {
    /** Returns the replies of all workers except `place`; for metrics also the counters of workers that have ended. */
    async gather(place: Place, what: keyof Answers, own: unknown): Promise<unknown[]> {
      const others = places.filter((other) => other !== place);
      const found = await Promise.all(others.map(async (other) => ({ other, answer: await other.ask(what) })));
      const answers = found.flatMap(({ answer }) => (answer === undefined ? [] : [answer as unknown]));
      if (what === 'state') return [supervisor(), ...answers];
      if (what !== 'figures') return answers;
      lastFigures.set(place, own as Figures);
      for (const { other, answer } of found) if (answer !== undefined) lastFigures.set(other, answer as Figures);
      return ofEnded === undefined ? answers : [...answers, ofEnded];
    },

    /** Keeps the counters of a worker that has ended. */
    async ended(place: Place): Promise<void> {
      const last = lastFigures.get(place);
      lastFigures.delete(place);
      if (last === undefined) return;
      const { lastCounts } = await import('#api/metrics.ts');
      ofEnded = await lastCounts(ofEnded === undefined ? [last] : [ofEnded, last]);
    },
  };
}
