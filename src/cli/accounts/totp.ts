// larder account totp
import { setTotpSecret } from '#acts/accounts/credentials.ts';
import { totpPurpose } from '#identity/login/logins.ts';
import { newRecoveryCodes, recoveryDigests } from '#identity/credentials/recovery-codes.ts';
import { newTotpSecret, totpAddress } from '#identity/credentials/totp.ts';
import { seal } from '#macaroons/sealing.ts';
import { command } from '../frame/command.ts';
import { findAccount, withStore } from '../frame/store.ts';

export const accountTotp = command({
  name: 'account totp',
  summary: 'Turn one-time passwords on or off for an account.',
  description:
    'Shows once the secret for the authenticator app of the account, as text and as an address that many apps ' +
    'accept, and recovery codes. Each recovery code replaces one one-time password if the authenticator is lost. ' +
    'Every later login with the password asks for a one-time password.',
  positionals: [{ name: 'id', summary: 'The id of the account.' }],
  options: {
    replace: { type: 'boolean', summary: 'Replace an existing secret. The old one becomes invalid.' },
    remove: { type: 'boolean', summary: 'Turn one-time passwords off: log in with the password alone.' },
  },
  examples: [
    'larder account totp xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI',
    'larder account totp xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --remove --yes',
  ],
  confirm: {
    question({ positionals: { id }, options: { replace, remove } }) {
      if (remove) return `The account ${id} will log in with its password alone.`;
      return replace ? `The authenticator of the account ${id} becomes invalid; it needs the new secret.` : undefined;
    },
    unattended: 'refused',
  },

  run({ positionals: { id }, options: { replace, remove }, data, world }) {
    return withStore({ data, world }, async ({ records, acts, person, siteKey, config }) => {
      const { username } = await findAccount(records, id);
      if (remove) {
        await acts.do(setTotpSecret, person, { id, secret: null, replace });
        return { text: `The account ${id} (${username}) logs in with its password alone.`, json: { id, totp: false } };
      }
      const secret = newTotpSecret();
      const codes = newRecoveryCodes();
      const sealed = seal(siteKey, secret, totpPurpose(id));
      const recovery = recoveryDigests(siteKey, id, codes);
      await acts.do(setTotpSecret, person, { id, secret: sealed, replace, recovery });
      const shown = totpAddress(secret, username, new URL(config.http.base_url).host);
      return {
        text:
          `The account ${id} (${username}) must log in with one-time passwords from now on.\nSecret:  ${shown.secret}\nAddress: ${shown.address}\n` +
          `Recovery codes, each valid once instead of a one-time password:\n${codes.map((code) => `  ${code}`).join('\n')}`,
        json: { id, totp: true, ...shown, 'recovery-codes': codes },
      };
    });
  },
});
