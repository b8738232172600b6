// larder account password
import { setPassword } from '#acts/accounts/credentials.ts';
import { sitePasswords } from '#identity/identity.ts';
import { passwordProblem } from '#identity/credentials/passwords.ts';
import { command, Failure, UsageError } from '../frame/command.ts';
import { formatCount } from '#domain/quantities.ts';
import { canAsk, newSecret } from '../frame/questions.ts';
import { readSecret } from '../frame/stdin.ts';
import { findAccount, readLatestTime, withStore } from '../frame/store.ts';

export const accountPassword = command({
  name: 'account password',
  summary: 'Set the password of an account.',
  description:
    'After too many failed logins, the owner can log in at once with the new password. Existing tokens stay ' +
    'valid, unless --end-tokens revokes them. Use --end-tokens if another person may know the old password.',
  positionals: [{ name: 'id', summary: 'The id of the account.' }],
  options: {
    'password-stdin': {
      type: 'boolean',
      summary:
        'Read the password from standard input. Without it, the command asks at the terminal and does not echo the ' +
        'password.',
    },
    'end-tokens': {
      type: 'boolean',
      summary: 'Revoke all tokens of the account for good. Programs that use one must log in again.',
    },
  },
  examples: [
    'larder account password xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI',
    'larder account password xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --password-stdin --end-tokens',
  ],

  async run({ positionals: { id }, options, data, world }) {
    if (!options['password-stdin'] && !canAsk(world)) {
      throw new UsageError("'account password' needs --password-stdin, and the password on the standard input");
    }
    const password = options['password-stdin']
      ? await readSecret(world.stdin, 'password')
      : await newSecret(world, 'password');
    return withStore({ data, world }, async (store) => {
      const { records, acts, person, siteKey, config } = store;
      const account = await findAccount(records, id);
      const problem = passwordProblem(password, account, new URL(config.http.base_url).hostname);
      if (problem !== undefined) throw new Failure(problem, { code: 'weak-password' });
      const hash = await sitePasswords(siteKey).hash(password);
      const endTokensAt = options['end-tokens'] ? await readLatestTime(store) : null;
      const ended = await acts.do(setPassword, person, { id, hash, endTokensAt });
      const text = `The password of ${id} (${account.username}) is set.`;
      return {
        text: ended === undefined ? text : `${text} ${formatCount(ended, 'token')} ended for good.`,
        json: { id, username: account.username, ...(ended !== undefined && { 'ended-tokens': ended }) },
      };
    });
  },
});
