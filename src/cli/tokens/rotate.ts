// larder token rotate
import { days, hours } from '#domain/clock.ts';
import { command } from '../frame/command.ts';
import { readDuration } from '../frame/duration.ts';
import { readLatestTime, withStore } from '../frame/store.ts';

/** The longest time that both tokens are valid. */
const longestOverlap = days(90);

export const tokenRotate = command({
  name: 'token rotate',
  summary: 'Issue a token in the place of another one, which stays good for a while.',
  description:
    'The new token stands alone on the standard output. It is of the same account, allows the same and lasts as long ' +
    'as the other one was to last, from now on. What the bearer of the other one has added to it is not known. Only ' +
    'on the host: over HTTP nobody is given a token of somebody else, and no token can prolong itself.',
  positionals: [{ name: 'session', summary: "The session of the token, as 'larder token list' shows it." }],
  options: {
    overlap: {
      type: 'string',
      value: 'TIME',
      summary: 'How long the other one stays good, such as 30m, 24h or 7d; 0s ends it at once. Otherwise 24h.',
    },
  },
  examples: [
    'larder token rotate 7a3f6f0e-55f1-4c0e-9a40-6d1f1b1f6f6a',
    'larder token rotate 7a3f6f0e-55f1-4c0e-9a40-6d1f1b1f6f6a --overlap 7d --json',
  ],

  run({ positionals: { session }, options, data, json, world }) {
    const { overlap: overlapText } = options;
    const overlap = overlapText === undefined ? hours(24) : readDuration(overlapText, '--overlap', longestOverlap);
    return withStore({ data, world }, async (store) => {
      await readLatestTime(store);
      const rotated = await store.authority.rotate(session, overlap, store.person);
      const { token, sessionId, validUntil, accountId, endsAt } = rotated;
      const about =
        `A token of ${accountId}, valid until ${validUntil}; its session is ${sessionId}.\n` +
        `The one of the session ${session} ends at ${endsAt}.\n`;
      if (!json) world.stderr.write(about);
      const details = { 'session-id': sessionId, 'valid-until': validUntil, replaces: session, 'ends-at': endsAt };
      return { text: token, json: { macaroon: token, 'account-id': accountId, ...details } };
    });
  },
});
