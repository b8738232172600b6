// larder key rotate
import { command, UsageError } from '../frame/command.ts';
import { readLatestTime, withStore } from '../frame/store.ts';

export const keyRotate = command({
  name: 'key rotate',
  summary: 'Rotate a key: the root key of tokens, or the key of the identity provider.',
  description:
    'A new root key signs new tokens. Existing tokens stay valid until they expire. The store also rotates the ' +
    "root key by itself every few days. After a rotation of the identity provider's key, logins in progress can " +
    'finish for one day. Registered agents are not affected. A running server uses the new key from its next ' +
    'request on.',
  positionals: [{ name: 'key', summary: 'The key to rotate: root or discharger. Default: root.', optional: true }],
  examples: ['larder key rotate', 'larder key rotate discharger --yes'],
  confirm: {
    question: ({ positionals: { key } }) =>
      key === 'discharger'
        ? 'The identity provider gets a new key at once. Logins in progress must finish within a day.'
        : undefined,
    unattended: 'refused',
  },

  run({ positionals: { key = 'root' }, data, world }) {
    if (key !== 'root' && key !== 'discharger') {
      throw new UsageError(`the key to rotate is root or discharger, not '${key}'`);
    }
    return withStore({ data, world }, async (store) => {
      const { rootKeys, dischargerKeys, person } = store;
      // The newest key is the current one. Read the latest time first, so that a clock that was set back cannot give the new key an earlier time.
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
