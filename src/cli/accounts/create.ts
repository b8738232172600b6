// larder account create
import { createAccount } from '#acts/accounts/accounts.ts';
import { displayNameProblem, emailAddress, usernameProblem } from '#domain/accounts/account.ts';
import { isAccountId } from '#domain/ids.ts';
import { presentWholeAccount } from '#operations/store/present.ts';
import { command, UsageError } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';

export const accountCreate = command({
  name: 'account create',
  summary: 'Create an account for a publisher.',
  description:
    'If the publisher has an account in the online store, give its id with --id. With any other id, keys and ' +
    'packages would refer to an account that the online store does not know.',
  options: {
    email: { type: 'string', value: 'EMAIL', summary: 'The e-mail address.', required: true },
    username: { type: 'string', value: 'NAME', summary: 'The user name, to log in with.', required: true },
    'display-name': { type: 'string', value: 'NAME', summary: 'The name that other people see.', required: true },
    id: { type: 'string', value: 'ID', summary: 'The id of the account in the online store. Default: a new id.' },
  },
  examples: [
    "larder account create --email ada@example.org --username ada --display-name 'Ada Lovelace' --json",
    "larder account create --email bob@example.org --username bob --display-name 'Bob' --id xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI",
  ],

  run({ options, data, world }) {
    const { username, id: onlineId } = options;
    const displayName = options['display-name'].trim();
    const email = emailAddress(options.email);
    if (email === undefined) throw new UsageError(`--email is an e-mail address, not '${options.email}'`);
    const problem = usernameProblem(username) ?? displayNameProblem(displayName);
    if (problem !== undefined) throw new UsageError(problem);
    if (onlineId !== undefined && !isAccountId(onlineId)) {
      throw new UsageError(
        `--id is an account id, 32 letters and digits or 2 to 28 of a-z, 0-9 and dashes, not '${onlineId}'`,
      );
    }

    return withStore({ data, world }, async ({ acts, person, newId }) => {
      const id = onlineId ?? newId.id();
      const details = { id, username, displayName, email, idMadeHere: onlineId === undefined };
      const account = await acts.do(createAccount, person, details);
      return {
        text: `The account ${id} of ${displayName} (${username}, ${email}) is made.`,
        json: presentWholeAccount({ ...account, roles: [] }),
      };
    });
  },
});
