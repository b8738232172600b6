// larder account change
import { updateAccount, validations } from '#acts/accounts/details.ts';
import { emailAddress } from '#domain/accounts/account.ts';
import { command, UsageError } from '../frame/command.ts';
import { findAccount, withStore } from '../frame/store.ts';
import { presentWholeAccount } from '#operations/store/present.ts';

export const accountChange = command({
  name: 'account change',
  summary: 'Change the user name, the display name, the e-mail address or the validation of an account.',
  description:
    'Options that are not given leave their values unchanged. Tokens of the account stay valid. A login that was ' +
    'started under the old user name must be started again. A former user name stays reserved for its account ' +
    'and cannot be given to another. Publishers can change their own display name with update_own_account.',
  positionals: [{ name: 'id', summary: 'The id of the account.' }],
  options: {
    email: { type: 'string', value: 'EMAIL', summary: 'The e-mail address.' },
    username: { type: 'string', value: 'NAME', summary: 'The user name, to log in with.' },
    'display-name': { type: 'string', value: 'NAME', summary: 'The name that other people see.' },
    validation: {
      type: 'string',
      value: 'V',
      summary: 'How far the store vouches for the publisher.',
      choices: validations,
    },
  },
  examples: [
    'larder account change xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --email ada.king@example.org',
    "larder account change xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --display-name 'Ada King' --validation verified --json",
  ],

  run({ positionals: { id }, options, data, world }) {
    const { username, 'display-name': displayName, email: emailText, validation } = options;
    const email = emailText === undefined ? undefined : emailAddress(emailText);
    if (emailText !== undefined && email === undefined) {
      throw new UsageError(`--email is an e-mail address, not '${emailText}'`);
    }
    const details = {
      ...(username !== undefined && { username }),
      ...(displayName !== undefined && { displayName: displayName.trim() }),
      ...(email !== undefined && { email }),
      ...(validation !== undefined && { validation }),
    };
    if (Object.keys(details).length === 0) {
      throw new UsageError("'account change' takes --email, --username, --display-name or --validation");
    }
    return withStore({ data, world }, async ({ records, acts, person }) => {
      await findAccount(records, id);
      const account = await acts.do(updateAccount, person, { id, ...details });
      const { displayName: shown, username: newUsername, email: address, validation: proof } = account;
      return {
        text: `The account ${id} is of ${shown} (${newUsername}, ${address}), ${proof}.`,
        json: presentWholeAccount({
          ...account,
          roles: await records.accounts.rolesOf(id),
          disabledAt: await records.accounts.disabledAt(id),
        }),
      };
    });
  },
});
