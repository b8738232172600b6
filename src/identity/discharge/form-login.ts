// Login by a form that the client itself shows: on a terminal, without a browser.
import { anyone } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';

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

  async handle({ query, identity }) {
    await identity.interactions.find(query.did);
    return {
      schema: {
        username: { description: 'user name or e-mail address', type: 'string', mandatory: true },
        password: { description: 'password', type: 'string', mandatory: true, secret: true },
        otp: { description: 'one-time password, if the account has one', type: 'string', secret: true },
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
  refuses: ['invalid-credentials', 'twofactor-required', 'twofactor-failure', 'login-expired', 'too-many-requests'],

  async handle({ query, body, identity, address, requestId }) {
    const interaction = await identity.interactions.find(query.did);
    const { username, password, otp } = body.form;
    const account = await identity.logins.logIn({
      name: username,
      password,
      oneTimePassword: otp ?? undefined,
      address,
      requestId,
    });
    const token = await identity.interactions.finish(interaction.id, account);
    return { token: { kind: 'login', value: Buffer.from(token).toString('base64') } };
  },
});
