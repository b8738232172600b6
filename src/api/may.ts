// Whether somebody may do something to a package, and by which rule: the very rules that the server asks, asked by themselves.
import type { Channel } from '#domain/channel.ts';
import { reachesChannel, type Principal } from '#domain/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Records } from '#records/index.ts';
import { storeAdministrator, type Access, type Asked, type PackageEvidence } from './access.ts';
import { refuseNarrowed } from './narrowing.ts';
import type { Operation } from './operation.ts';

export interface Verdict {
  operation: string;
  allowed: boolean;
  /** The rule that decides, in a sentence. */
  because: string;
}

export interface Question {
  principal: Principal;
  subject: { namespace: string; name: string };
  /** Where something would be released to. */
  channel: Channel | undefined;
}

/** The operations of which may be asked whether somebody may do them to a package: those whose path names it. */
export const asksAboutPackage = ({ access: { about }, path }: Operation): boolean =>
  (about === 'package' || about === 'collaborators') && path.includes('/:namespace/:name');

/** A store administrator, who asks what others may do: the rules look at what they guard, and he gets what they say of it. */
export const asksForOthers: Access<{ mayCall: (op: Operation, question: Question) => Promise<Verdict> }> = {
  ...storeAdministrator('store-view'),
  async admit(asked) {
    await storeAdministrator('store-view').admit(asked);
    const records = readOnce(asked.records);
    return { mayCall: (op, question) => may(op, question, records) };
  },
};

/** Whether somebody may call an operation on a package, and why or why not. */
export async function may(
  op: Operation,
  { principal, subject, channel }: Question,
  records: Records,
): Promise<Verdict> {
  const verdict = (allowed: boolean, because: string): Verdict => ({ operation: op.name, allowed, because });
  try {
    const evidence = (await op.access.admit(askedBy(principal, subject, records))) as Partial<PackageEvidence>;
    refuseNarrowed(op, principal, evidence);
    if (channel !== undefined && !reachesChannel(principal, channel)) {
      return verdict(false, `The token is not good for the channel '${channel.name}'.`);
    }
    return verdict(true, reason(op, principal, evidence));
  } catch (error) {
    if (error instanceof Refusal) return verdict(false, error.message);
    throw error;
  }
}

/**
 * The records as the rules of one answer see them: the package that they are about, and who works on it, is read once. So all
 * verdicts are of one moment, and a hundred rules cost little more than one.
 */
function readOnce(records: Records): Records {
  const { packages, collaborators } = records;
  return {
    ...records,
    packages: { ...packages, find: once(packages.find) },
    collaborators: { ...collaborators, has: once(collaborators.has) },
  };
}

/** Asks once for each pair of names. */
function once<Found>(ask: (one: string, other: string) => Promise<Found>): typeof ask {
  const asked = new Map<string, Promise<Found>>();
  return (one, other) => {
    const key = `${one}/${other}`;
    const found = asked.get(key) ?? ask(one, other);
    asked.set(key, found);
    return found;
  };
}

/** What the rules about packages look at: who asks, and which package the path names. */
function askedBy(principal: Principal, subject: { namespace: string; name: string }, records: Records): Asked {
  const asked: Pick<Asked, 'authenticate' | 'params' | 'query' | 'records' | 'inPayload' | 'presentsToken'> = {
    authenticate: () => principal,
    presentsToken: () => Promise.resolve(true),
    inPayload: () => false,
    params: { ...subject },
    query: {},
    records,
  };
  return asked as Asked;
}

function reason({ access }: Operation, principal: Principal, { role }: Partial<PackageEvidence>): string {
  const token =
    principal.permissions === null || access.permissions.length === 0
      ? ''
      : ', and the token has a permission that is asked for';
  if (role === undefined) return `Any account may${token}.`;
  const who = principal.username;
  return role === 'store administrator'
    ? `${who} has no part in the package, but administers the store${token}.`
    : `${who} is ${role === 'publisher' ? 'the publisher' : 'a collaborator'} of the package${token}.`;
}
