// Collects the replies of workers to one of them, and the counters of workers that have ended.
import type { MetricCounts } from '#http/metrics/metrics.ts';
import type { TeamReplies } from '#appliance/team.ts';
import type { ServingState } from '#data/serving-state.ts';
import type { WorkerSlot } from './worker-slot.ts';

/** Collects replies from the workers in these places. */
export function createReplyCollector(places: readonly WorkerSlot[], supervisor: () => ServingState) {
  /** The last known counters of the worker in each place. */
  const lastFigures = new Map<WorkerSlot, MetricCounts>();
  let ofEnded: MetricCounts | undefined;

  return {
    /** Returns the replies of all workers except `place`; for metrics also the counters of workers that have ended. */
    async gather(place: WorkerSlot, kind: keyof TeamReplies, own: unknown): Promise<unknown[]> {
      const others = places.filter((other) => other !== place);
      const replies = await Promise.all(others.map(async (other) => ({ other, answer: await other.ask(kind) })));
      const answers = replies.flatMap(({ answer }) => (answer === undefined ? [] : [answer as unknown]));
      if (kind === 'state') return [supervisor(), ...answers];
      if (kind !== 'figures') return answers;
      lastFigures.set(place, own as MetricCounts);
      for (const { other, answer } of replies) if (answer !== undefined) lastFigures.set(other, answer as MetricCounts);
      return ofEnded === undefined ? answers : [...answers, ofEnded];
    },

    /** Keeps the counters of a worker that has ended. */
    async ended(place: WorkerSlot): Promise<void> {
      const last = lastFigures.get(place);
      lastFigures.delete(place);
      if (last === undefined) return;
      const { lastCounts } = await import('#http/metrics/metrics.ts');
      ofEnded = await lastCounts(ofEnded === undefined ? [last] : [ofEnded, last]);
    },
  };
}
