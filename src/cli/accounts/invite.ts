// larder account invite
import { inviteAccount } from '#acts/accounts/credentials.ts';
import { newSetUpLink, usualHours } from '#identity/credentials/set-up-links.ts';
import { command } from '../frame/command.ts';
import { findAccount, withStore } from '../frame/store.ts';

export const accountInvite = command({
  name: 'account invite',
  summary: 'Create a link to set the password of an account, once.',
  description:
    'The link is the only text on standard output. Anyone who has the link can set the password, so give it to ' +
    'the owner of the account alone. A later link voids an earlier one.',
  positionals: [{ name: 'id', summary: 'The id of the account.' }],
  options: {
    hours: {
      type: 'integer',
      value: 'N',
      summary: 'The hours until the link expires. Default: 72.',
      minimum: 1,
      maximum: 720,
    },
  },
  examples: [
    'larder account invite xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI',
    'larder account invite xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --hours 4',
  ],

  run({ positionals: { id }, options, data, json, world }) {
    return withStore({ data, world }, async ({ records, acts, person, now, config }) => {
      const { username } = await findAccount(records, id);
      const { link, digest, until } = newSetUpLink({
        now,
        baseUrl: config.http.base_url,
        life: options.hours ?? usualHours,
      });
      await acts.do(inviteAccount, person, { id, digest, until });
      if (!json) world.stderr.write(`A link for ${id} (${username}), good once and until ${until}.\n`);
      return { text: link, json: { id, link, 'expires-at': until } };
    });
  },
});
