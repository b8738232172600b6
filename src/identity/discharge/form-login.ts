// Login by a form that the client itself shows: on a terminal, without a browser.
import { anyone } from '#access/access-rules.ts';
import type { Config } from '#configuration/config.ts';
import { operation } from '#http/operation.ts';
import { requiresAcknowledgement } from '#http/pages/login-notices.ts';
import { loginRefusals } from '../login/logins.ts';

/** A client prompts for each field with its description, so a field shows the login banner. */
function bannerFields(sessions: Config['sessions']): Record<string, unknown> {
  const { banner } = sessions;
  if (banner === undefined) return {};
  const mandatory = requiresAcknowledgement(sessions);
  return { acknowledged: { description: `${banner}\nType yes to accept this notice`, type: 'string', mandatory } };
}

export const form = operation({
  name: 'form',
  method: 'GET',
  path: '/identity/form',
  since: 0,
  summary: 'Get the fields of the login form for a client.',
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  query: 'InteractionQuery',
  response: 'FormSchema',
  refuses: ['login-expired'],

  async handle({ query, identity, config }) {
    await identity.interactions.find(query.did);
    return {
      schema: {
        username: { description: 'user name or e-mail address', type: 'string', mandatory: true },
        password: { description: 'password', type: 'string', mandatory: true, secret: true },
        otp: { description: 'one-time password, if the account has one', type: 'string', secret: true },
        ...bannerFields(config.sessions),
      },
    };
  },
});

export const submitForm = operation({
  name: 'submit_form',
  method: 'POST',
  path: '/identity/form',
  since: 0,
  summary: 'Log in with the fields of the form, and return the token that proves the login.',
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  query: 'InteractionQuery',
  body: 'FormRequest',
  response: 'TokenResponse',
  refuses: loginRefusals,

  async handle({ query, body, identity, address, requestId }) {
    const interaction = await identity.interactions.find(query.did);
    const { username, password, otp, acknowledged } = body.form;
    const account = await identity.logins.logIn({
      name: username,
      password,
      oneTimePassword: otp ?? undefined,
      acknowledged: acknowledged === 'yes',
      address,
      requestId,
    });
    const token = await identity.interactions.finish(interaction.id, account);
    return { token: { kind: 'login', value: Buffer.from(token).toString('base64') } };
  },
});
