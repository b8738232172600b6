// larder clock accept
import { acceptClock } from '#acts/store/clock.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';

export const clockAccept = command({
  name: 'clock accept',
  summary: 'Accept the clock of this machine, even if the store has seen a later time.',
  description:
    'The store remembers the latest time that it has seen, so that expired tokens stay expired if the clock is ' +
    'set back. If the clock was wrong before and is right now, this command makes the store start from the ' +
    'present time.',
  examples: ['larder clock accept --data /var/lib/larder'],
  confirm: {
    question: () =>
      `The clock of this machine says ${new Date().toISOString()}. If that is too early, expired tokens become valid again.`,
    unattended: 'goes on',
  },

  run: (call) =>
    withStore(call, async ({ acts, person, newId }) => {
      const { accepted, before } = await acts.do(acceptClock, person, { acceptanceId: newId.uuid() });
      return {
        text: `The clock is right at ${accepted}; the latest time seen before was ${before ?? 'none'}. A running server follows within a minute.`,
        json: { accepted, before },
      };
    }),
});
