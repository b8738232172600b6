// Recovery codes: what somebody has on paper who loses his authenticator. Each is good once, in the place of a one-time password.
import { createHmac, randomInt } from 'node:crypto';

/** Letters and digits that nobody takes for one another. */
const signs = 'abcdefghjkmnpqrstuvwxyz23456789';
const length = 12;
const many = 10;
const written = new RegExp(`^[${signs}]{${String(length)}}$`);

/** New ones, as they are shown: `k7mq-2xwd-9hfs`, each of 59 bits. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: many }, () =>
    Array.from({ length }, () => signs.charAt(randomInt(signs.length)))
      .join('')
      .replace(/(.{4})(?=.)/g, '$1-'),
  );

/** Whether somebody has typed a recovery code rather than what an authenticator shows, good or not. */
export const isRecoveryCode = (typed: string): boolean => bare(typed) !== undefined;

const bare = (typed: string): string | undefined => {
  const code = typed.toLowerCase().replace(/[\s-]/g, '');
  return written.test(code) ? code : undefined;
};

/** What is kept of a code of an account; nothing of a text that is none. Without the site key no list of codes finds it out. */
export function recoveryDigest(siteKey: Buffer, accountId: string, typed: string): string | undefined {
  const code = bare(typed);
  if (code === undefined) return undefined;
  return createHmac('sha256', siteKey).update(`recovery code of ${accountId}\n${code}`).digest('base64url');
}

/** The digests of codes that were just made. */
export const recoveryDigests = (siteKey: Buffer, accountId: string, codes: readonly string[]): string[] =>
  codes.flatMap((code) => recoveryDigest(siteKey, accountId, code) ?? []);
