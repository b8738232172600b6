// larder account password
import { sitePasswords } from '#identity/identity.ts';
import { passwordProblem } from '#identity/passwords.ts';
import { command, Failure, UsageError } from './command.ts';
import { canAsk, newSecret } from './questions.ts';
import { readSecret } from './stdin.ts';
import { accountOf, withStore } from './store.ts';

export const accountPassword = command({
  name: 'account password',
  summary: 'Set the password of an account.',
  description:
    'Whoever was kept waiting after too many failed logins can log in at once with the new password. ' +
    "Tokens that are out stay good; 'larder account disable' ends them all.",
  positionals: [{ name: 'id', summary: 'The id of the account.' }],
  options: {
    'password-stdin': {
      type: 'boolean',
      summary:
        'Read the password from the standard input; otherwise it is asked for at the terminal, and does not show.',
    },
  },
  examples: [
    'larder account password xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI',
    'larder account password xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --password-stdin',
  ],

  async run({ positionals: { id }, options, data, world }) {
    if (!options['password-stdin'] && !canAsk(world)) {
      throw new UsageError("'account password' needs --password-stdin, and the password on the standard input");
    }
    const password = options['password-stdin']
      ? await readSecret(world.stdin, 'password')
      : await newSecret(world, 'password');
    return withStore({ data, world }, async ({ records, entry, siteKey }) => {
      const account = await accountOf(records, id);
      const problem = passwordProblem(password, account);
      if (problem !== undefined) throw new Failure(problem, { code: 'weak-password' });
      const hash = await sitePasswords(siteKey).hash(password);
      const change = entry('account password', `account/${id}`);
      await records.change(change, async (tx) => {
        await tx.passwords.set(id, hash, change.at);
        await tx.setUpLinks.removeOf(id);
      });
      return { text: `The password of ${id} (${account.username}) is set.`, json: { id, username: account.username } };
    });
  },
});
