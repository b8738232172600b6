// larder token rotate
import { days, hours } from '#domain/clock.ts';
import { command } from '../frame/command.ts';
import { readDuration } from '../frame/duration.ts';
import { readLatestTime, withStore } from '../frame/store.ts';

/** The longest time that both tokens are valid. */
const longestOverlap = days(90);

export const tokenRotate = command({
  name: 'token rotate',
  summary: 'Rotate a token: issue a new one. The old one stays valid for a grace period.',
  description:
    'The new token is the only text on standard output. It has the same account, permissions and lifetime as the ' +
    'old one. Restrictions that its holder added to the old token are not known to the store and not copied. ' +
    'This works on the host alone: over HTTP no client gets a token of another account, and no token can extend ' +
    'itself.',
  positionals: [{ name: 'session', summary: "The session of the token, as 'larder token list' shows it." }],
  options: {
    overlap: {
      type: 'string',
      value: 'TIME',
      summary: 'How long the old token stays valid, such as 30m, 24h or 7d; 0s revokes it at once. Default: 24h.',
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
