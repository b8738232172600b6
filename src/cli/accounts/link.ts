// larder account link, larder account unlink
import { addOpenidIdentity, removeOpenidIdentity } from '#acts/accounts/openid-identities.ts';
import { command, Failure, UsageError } from '../frame/command.ts';
import { findAccount, withStore } from '../frame/store.ts';

const accountId = { name: 'id', summary: 'The id of the account.' } as const;

export const accountLink = command({
  name: 'account link',
  summary: 'Let a person of the OpenID provider log in as an account.',
  description:
    'The provider is the issuer in [identity.oidc] of larder.toml. The subject is the id of the person at the provider ' +
    '(claim sub); a login that is refused shows it. The password of the account stays valid.',
  positionals: [accountId, { name: 'subject', summary: 'The subject of the person at the provider.' }],
  examples: ['larder account link xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI 248289761001'],

  run({ positionals: { id, subject }, data, world }) {
    if (!/^[\x20-\x7e]{1,255}$/.test(subject)) {
      throw new UsageError('SUBJECT is the subject of a person, 1 to 255 ASCII characters');
    }
    return withStore({ data, world }, async ({ records, acts, person, config }) => {
      const { issuer } = config.identity.oidc;
      if (issuer === undefined) {
        throw new Failure('the store has no OpenID provider; set the keys of [identity.oidc] in larder.toml first');
      }
      const { username } = await findAccount(records, id);
      await acts.do(addOpenidIdentity, person, { id, issuer, subject });
      return {
        text: `The person ${subject} of ${issuer} logs in as the account ${id} (${username}).`,
        json: { id, issuer, subject },
      };
    });
  },
});

export const accountUnlink = command({
  name: 'account unlink',
  summary: 'End the logins of an account with the OpenID provider.',
  description: 'Sessions and tokens of the account stay valid. Roles that groups of the provider gave are taken away.',
  positionals: [accountId],
  examples: ['larder account unlink xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI'],

  run: ({ positionals: { id }, data, world }) =>
    withStore({ data, world }, async ({ records, acts, person }) => {
      const { username } = await findAccount(records, id);
      await acts.do(removeOpenidIdentity, person, { id });
      return { text: `The account ${id} (${username}) no longer logs in with the OpenID provider.`, json: { id } };
    }),
});
