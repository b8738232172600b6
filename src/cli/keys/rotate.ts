// larder key rotate
import { command, UsageError } from '../frame/command.ts';
import { readLatestTime, withStore } from '../frame/store.ts';

export const keyRotate = command({
  name: 'key rotate',
  summary: 'Take a new key into use: the root key of tokens, or the key of the identity provider.',
  description:
    'A new root key signs new tokens; those that are out stay good until they end. The store does this by itself every ' +
    'few days. With a new key of the identity provider, logins that are under way go on for a day; registered agents need nothing. ' +
    'A serving larder follows with its next request.',
  positionals: [{ name: 'key', summary: 'Which key: root or discharger; otherwise root.', optional: true }],
  examples: ['larder key rotate', 'larder key rotate discharger --yes'],
  confirm: {
    question: ({ positionals: { key } }) =>
      key === 'discharger'
        ? 'The identity provider gets a new key at once: logins that are under way have a day to end.'
        : undefined,
    unattended: 'refused',
  },

  run({ positionals: { key = 'root' }, data, world }) {
    if (key !== 'root' && key !== 'discharger') {
      throw new UsageError(`the key to rotate is root or discharger, not '${key}'`);
    }
    return withStore({ data, world }, async (store) => {
      const { rootKeys, dischargerKeys, person } = store;
      // Keys are told apart by their creation time, so it must not be before the latest time that the store has seen.
      await readLatestTime(store);
      if (key === 'root') {
        const { id, createdAt } = await rootKeys.rotate(person);
        return { text: `New tokens are signed with the root key ${id}.`, json: { key, id, 'created-at': createdAt } };
      }
      const { publicKey } = await dischargerKeys.rotate(person);
      return {
        text: `The identity provider's public key is now ${publicKey}.`,
        json: { key, 'public-key': publicKey },
      };
    });
  },
});
