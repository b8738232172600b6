// Reads the conditions of third-party caveats for the identity provider, and makes the declarations of a discharge.
import { Refusal } from '#domain/refusal.ts';
import type { Account } from '#records/accounts/accounts.ts';

/** An account that has logged in, with its groups. */
export interface AuthenticatedAccount extends Account {
  groups: string[];
}

/** A parsed condition. Whether an account meets it is checked after the login. */
export interface Condition {
  name: 'is-authenticated-user' | 'is-authenticated-userid' | 'is-member-of';
  argument: string;
  /** The names that the discharge must declare, if necessary as empty. */
  needed: string[];
}

/** Parses a condition. Refuses an unknown one before the person has to log in. */
export function readCondition(text: string): Condition {
  const [name, argument] = parted(text);
  if (name === 'need-declared') {
    const [names, inner] = parted(argument);
    const needed = names.split(',');
    if (needed.some((declaredName) => !/^[a-zA-Z0-9_-]{1,64}$/.test(declaredName))) throw notUnderstood();
    const condition = readCondition(inner);
    if (condition.needed.length > 0) throw notUnderstood();
    return { ...condition, needed };
  }
  switch (name) {
    case 'is-authenticated-user':
      // The argument can be a domain, such as `@example`. It is met by user names of this store that end with it.
      if (argument !== '' && !/^@[a-zA-Z0-9._-]{1,100}$/.test(argument)) throw notUnderstood();
      return { name, argument, needed: [] };
    case 'is-authenticated-userid':
      if (argument !== '') throw notUnderstood();
      return { name, argument, needed: [] };
    case 'is-member-of':
      if (!/^\S+(?: \S+)*$/.test(argument)) throw notUnderstood();
      return { name, argument, needed: [] };
    default:
      throw notUnderstood();
  }
}

/** The conditions of the discharge for this account, except the time limits. Refuses an account that does not meet the condition. */
export function declarations({ name, argument, needed }: Condition, person: AuthenticatedAccount): string[] {
  const declared = new Map<string, string>();
  if (name === 'is-authenticated-user') {
    if (!person.username.endsWith(argument)) throw notMet();
    declared.set('username', person.username);
  } else if (name === 'is-authenticated-userid') {
    declared.set('userid', person.id);
  } else if (!argument.split(' ').some((group) => person.groups.includes(group))) {
    throw notMet();
  }
  // Declare unknown names as empty, so that no other party can declare them.
  for (const declaredName of needed) if (!declared.has(declaredName)) declared.set(declaredName, '');
  return [...declared].map(([key, value]) => `declared ${key} ${value}`);
}

const notUnderstood = (): Refusal =>
  new Refusal('api-error', 'The identity provider does not understand the condition of this caveat.');

const notMet = (): Refusal =>
  new Refusal('forbidden', 'The account that logged in does not meet the condition of this caveat.');

function parted(text: string): [string, string] {
  const space = text.indexOf(' ');
  return space < 0 ? [text, ''] : [text.slice(0, space), text.slice(space + 1)];
}
