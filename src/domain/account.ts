// What accounts are called.

/** An e-mail address in the form in which it is kept and compared, lower-case; nothing when it is none. */
export function emailAddress(text: string): string | undefined {
  const address = text.trim().toLowerCase();
  const [, local = '', domain = ''] = /^([^@]*)@([^@]*)$/.exec(address) ?? [];
  const isLocal = /^[a-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}$/.test(local);
  const isDomain = domain.length <= 253 && domain.split('.').every((label) => /^[a-z0-9-]{1,63}$/.test(label));
  return isLocal && isDomain ? address : undefined;
}

/** Says what is wrong with a user name, or nothing. No user name can be taken for an e-mail address. */
export function usernameProblem(username: string): string | undefined {
  if (username.length > 64) return `A user name has at most 64 characters, not ${username.length}.`;
  if (/^[a-z0-9](?:[a-z0-9._+-]*[a-z0-9])?$/.test(username)) return undefined;
  return `A user name holds lower-case letters, digits and, between them, any of . _ + -, unlike '${username}'.`;
}

/** The same for the name that others are shown: any text on one line. */
export const displayNameProblem = (name: string): string | undefined => lineProblem('display name', name);

/** The same for the name of a brand. */
export const brandNameProblem = (name: string): string | undefined => lineProblem('brand name', name);

function lineProblem(what: string, text: string): string | undefined {
  const { length } = Array.from(text);
  if (text.trim() === '') return `A ${what} holds more than blanks.`;
  if (length > 128) return `A ${what} has at most 128 characters, not ${length}.`;
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) return `A ${what} is one line, without control characters.`;
  return undefined;
}
