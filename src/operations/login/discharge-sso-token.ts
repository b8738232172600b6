import { anyone } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { AddressedCaveat } from '#macaroons/discharger.ts';

export const dischargeSsoToken = operation({
  name: 'discharge_sso_token',
  method: 'POST',
  path: '/api/v2/tokens/discharge',
  since: 0,
  summary: 'Discharge a macaroon with the password, and with the one-time password if the account uses them.',
  access: anyone,
  errors: 'sso',
  prefixed: false,
  body: 'SsoDischargeRequest',
  response: 'SsoDischarge',
  refuses: ['invalid-credentials', 'twofactor-required', 'twofactor-failure', 'forbidden', 'too-many-requests'],

  async handle({ body, discharger, identity, authority, address, requestId }) {
    const caveat = await readSsoCaveat(() => discharger.read(Buffer.from(body.caveat_id)));
    const account = await identity.logins.logIn({
      name: body.email,
      password: body.password,
      oneTimePassword: body.otp ?? undefined,
      address,
      requestId,
    });
    const now = authority.latestTime();
    return { discharge_macaroon: discharger.plainDischarge(caveat, ssoConditions(account.username, now, now)) };
  },
});

export const refreshSsoToken = operation({
  name: 'refresh_sso_token',
  method: 'POST',
  path: '/api/v2/tokens/refresh',
  since: 0,
  summary: 'Renew a discharge that has expired or expires soon.',
  access: anyone,
  errors: 'sso',
  prefixed: false,
  body: 'SsoDischarge',
  response: 'SsoDischarge',
  refuses: ['invalid-credentials', 'forbidden'],

  async handle({ body, discharger, records, authority, identity }) {
    const { caveat, username, loggedInAt } = await discharger.readPlainDischarge(body.discharge_macaroon);
    const account = await records.accounts.logsInAs(username);
    const password = account && (await records.passwords.find(account.id));
    // A password change ends all logins with the old password.
    if (account?.username !== username || password === undefined || new Date(password.changedAt) > loggedInAt) {
      throw new Refusal('invalid-credentials', 'This login has ended. Log in again.');
    }
    await identity.logins.refuseWithoutCertificate(account);
    const now = authority.latestTime();
    return { discharge_macaroon: discharger.plainDischarge(caveat, ssoConditions(username, loggedInAt, now)) };
  },
});

/** How long a discharge is valid; the discharged macaroon can be valid for longer. */
const dischargeLifetimeMs = days(1);

const ssoConditions = (username: string, loggedInAt: Date, now: Date): string[] => [
  `logged-in ${timestamp(loggedInAt)}`,
  `declared username ${username}`,
  `time-since ${timestamp(now)}`,
  `time-before ${timestamp(after(now, dischargeLifetimeMs))}`,
];

async function readSsoCaveat(read: () => Promise<AddressedCaveat>): Promise<AddressedCaveat> {
  const caveat = await read();
  if (caveat.condition === 'is-authenticated-user') return caveat;
  throw new Refusal('api-error', 'The identity provider does not understand the condition of this caveat.');
}
