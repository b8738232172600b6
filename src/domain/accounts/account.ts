// The names of accounts.

/** Normalizes an e-mail address to lower case, for storage and comparison. Returns undefined if it is not valid. */
export function emailAddress(text: string): string | undefined {
  const address = text.trim().toLowerCase();
  const [, local = '', domain = ''] = /^([^@]*)@([^@]*)$/.exec(address) ?? [];
  const isLocal = /^[a-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}$/.test(local);
  const isDomain = domain.length <= 253 && domain.split('.').every((label) => /^[a-z0-9-]{1,63}$/.test(label));
  return isLocal && isDomain ? address : undefined;
}

/** The problem with a user name, or undefined. A user name cannot look like an e-mail address. */
export function usernameProblem(username: string): string | undefined {
  if (username.length > 64) return `A user name has at most 64 characters, not ${username.length}.`;
  if (/^[a-z0-9](?:[a-z0-9._+-]*[a-z0-9])?$/.test(username)) return undefined;
  return `A user name holds lower-case letters, digits and, between them, any of . _ + -, unlike '${username}'.`;
}

/** The problem with a display name, which may be any text on one line. */
export const displayNameProblem = (name: string): string | undefined => lineProblem('display name', name);

/** The problem with the name of a brand. */
export const brandNameProblem = (name: string): string | undefined => lineProblem('brand name', name);

function lineProblem(label: string, text: string): string | undefined {
  const { length } = Array.from(text);
  if (text.trim() === '') return `A ${label} must not be blank.`;
  if (length > 128) return `A ${label} has at most 128 characters, not ${length}.`;
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) return `A ${label} must be one line without control characters.`;
  return undefined;
}
