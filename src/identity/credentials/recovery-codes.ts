// Recovery codes for an account that lost its authenticator. Each replaces a one-time password once.
import { createMac, randomInt } from '#domain/cryptography.ts';

/** Letters and digits that are not easily confused. */
const signs = 'abcdefghjkmnpqrstuvwxyz23456789';
const length = 12;
const many = 10;
const written = new RegExp(`^[${signs}]{${String(length)}}$`);

/** New codes in display format: `k7mq-2xwd-9hfs`, each of 59 bits. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: many }, () =>
    Array.from({ length }, () => signs.charAt(randomInt(signs.length)))
      .join('')
      .replace(/(.{4})(?=.)/g, '$1-'),
  );

/** Whether the input has the format of a recovery code, valid or not, and not that of an authenticator code. */
export const isRecoveryCode = (typed: string): boolean => bare(typed) !== undefined;

const bare = (typed: string): string | undefined => {
  const code = typed.toLowerCase().replace(/[\s-]/g, '');
  return written.test(code) ? code : undefined;
};

/**
 * The digest under which a code of an account is stored; undefined if the input is no code. It is keyed with the site key, so the
 * codes cannot be found by trying them all against the records.
 */
export function recoveryDigest(siteKey: Buffer, accountId: string, typed: string): string | undefined {
  const code = bare(typed);
  if (code === undefined) return undefined;
  return createMac('recovery code', siteKey).update(`recovery code of ${accountId}\n${code}`).digest('base64url');
}

/** The digests of new codes. */
export const recoveryDigests = (siteKey: Buffer, accountId: string, codes: readonly string[]): string[] =>
  codes.flatMap((code) => recoveryDigest(siteKey, accountId, code) ?? []);
