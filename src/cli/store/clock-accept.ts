// larder clock accept
import { acceptClock } from '#acts/store/clock.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';

export const clockAccept = command({
  name: 'clock accept',
  summary: "Take this machine's clock as right, whatever time the store has seen before.",
  description:
    'The store remembers the latest time that it has seen, so that a clock that is set back brings no token to life. ' +
    'When the clock was wrong before and is right now, this makes the store begin again from now.',
  examples: ['larder clock accept --data /var/lib/larder'],
  confirm: {
    question: () =>
      `The clock of this machine says ${new Date().toISOString()}. If that is too early, tokens that had ended are good again.`,
    unattended: 'goes on',
  },

  run: (call) =>
    withStore(call, async ({ acts, person, newId }) => {
      const { accepted, before } = await acts.do(acceptClock, person, { acceptanceId: newId.uuid() });
      return {
        text: `The clock is right at ${accepted}; the latest time seen before was ${before ?? 'none'}. A serving larder follows within a minute.`,
        json: { accepted, before },
      };
    }),
});
