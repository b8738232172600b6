// What one worker asks of the others, and what is still known of those that are no more.
import type { Figures } from '#api/metrics.ts';
import type { Answers } from '#appliance/team.ts';
import type { ServingState } from '#data/serving-state.ts';
import type { Place } from './place.ts';

/** Gathers among the workers in these places. */
export function createGathering(places: readonly Place[], supervisor: () => ServingState) {
  /** What the worker in each place had counted when somebody asked last. */
  const lastFigures = new Map<Place, Figures>();
  let ofEnded: Figures | undefined;

  return {
    /** What all others answer whom `place` asks; of figures also what those had counted that have ended. */
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

    /** Keeps of a worker that has ended what it had counted. */
    async ended(place: Place): Promise<void> {
      const last = lastFigures.get(place);
      lastFigures.delete(place);
      if (last === undefined) return;
      const { lastCounts } = await import('#api/metrics.ts');
      ofEnded = await lastCounts(ofEnded === undefined ? [last] : [ofEnded, last]);
    },
  };
}
