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
  summary: 'Ask an account for a one-time password too, or no more.',
  description:
    'Shows, this once, the secret for the authenticator of the account: as text to type in, and as an address that ' +
    'many authenticators take; and recovery codes, each of which lets its owner in once when the authenticator is lost. ' +
    'From then on every login with the password asks for a code.',
  positionals: [{ name: 'id', summary: 'The id of the account.' }],
  options: {
    replace: { type: 'boolean', summary: 'Make a new secret where there is one; the old one is good no more.' },
    remove: { type: 'boolean', summary: 'Ask for the password alone again.' },
  },
  examples: [
    'larder account totp xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI',
    'larder account totp xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --remove --yes',
  ],
  confirm: {
    question({ positionals: { id }, options: { replace, remove } }) {
      if (remove) return `The account ${id} will log in with its password alone.`;
      return replace ? `The authenticator of the account ${id} is good no more; it needs the new secret.` : undefined;
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
          `The account ${id} (${username}) is asked for one-time passwords from now on.\nSecret:  ${shown.secret}\nAddress: ${shown.address}\n` +
          `Recovery codes, each good once in the place of a one-time password:\n${codes.map((code) => `  ${code}`).join('\n')}`,
        json: { id, totp: true, ...shown, 'recovery-codes': codes },
      };
    });
  },
});
