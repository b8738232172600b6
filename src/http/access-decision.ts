// Decides whether an account may do something to a package, and names the rule. Uses the same access rules as the server.
import type { Channel } from '#domain/releases/channel.ts';
import { reachesChannel, type Principal } from '#domain/tokens/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import { storeAdministrator, type Access, type AccessRequest, type PackageEvidence } from '#access/access-rules.ts';
import { checkTokenScope } from '#access/token-scope.ts';
import type { Operation } from './operation.ts';

export interface AccessVerdict {
  operation: string;
  allowed: boolean;
  /** The rule that decides, as a sentence. */
  because: string;
}

export interface AccessQuestion {
  principal: Principal;
  subject: { namespace: string; name: string };
  /** The target channel of a release. */
  channel: Channel | undefined;
}

/** Whether the question makes sense for an operation: its path must name a package. */
export const asksAboutPackage = ({ access: { about }, path }: Operation): boolean =>
  (about === 'package' || about === 'collaborators') && path.includes('/:namespace/:name');

/**
 * Admits a store administrator who asks about the rights of another account. The rules read the guarded records; the administrator gets the
 * verdict.
 */
export const asksForOthers: Access<{ mayCall: (op: Operation, question: AccessQuestion) => Promise<AccessVerdict> }> = {
  ...storeAdministrator('store-view'),
  async admit(accessRequest) {
    await storeAdministrator('store-view').admit(accessRequest);
    const records = readOnce(accessRequest.records);
    return { mayCall: (op, question) => decideAccess(op, question, records) };
  },
};

/** Decides whether an account may call an operation on a package, with the reason. */
export async function decideAccess(
  op: Operation,
  { principal, subject, channel }: AccessQuestion,
  records: StoreRecords,
): Promise<AccessVerdict> {
  const verdict = (allowed: boolean, because: string): AccessVerdict => ({ operation: op.name, allowed, because });
  try {
    const evidence = (await op.access.admit(askedBy(principal, subject, records))) as Partial<PackageEvidence>;
    checkTokenScope(op, principal, evidence);
    if (channel !== undefined && !reachesChannel(principal, channel)) {
      return verdict(false, `The token does not allow the channel '${channel.name}'.`);
    }
    return verdict(true, reason(op, principal, evidence));
  } catch (error) {
    if (error instanceof Refusal) return verdict(false, error.message);
    throw error;
  }
}

/**
 * Records that read the package and its collaborators once. All verdicts of one response are then of one moment, and a hundred rules cost
 * little more than one.
 */
function readOnce(records: StoreRecords): StoreRecords {
  const { packages, collaborators } = records;
  return {
    ...records,
    packages: { ...packages, find: cachePerPair(packages.find) },
    collaborators: { ...collaborators, has: cachePerPair(collaborators.has) },
  };
}

/** Caches the result per pair of names. */
function cachePerPair<Found>(ask: (first: string, other: string) => Promise<Found>): typeof ask {
  const cached = new Map<string, Promise<Found>>();
  return (first, other) => {
    const key = `${first}/${other}`;
    const result = cached.get(key) ?? ask(first, other);
    cached.set(key, result);
    return result;
  };
}

/** The input of the rules about packages: the caller, and the package in the path. */
function askedBy(
  principal: Principal,
  subject: { namespace: string; name: string },
  records: StoreRecords,
): AccessRequest {
  const accessRequest: Pick<
    AccessRequest,
    'authenticate' | 'params' | 'query' | 'records' | 'inPayload' | 'presentsToken'
  > = {
    authenticate: () => Promise.resolve(principal),
    presentsToken: () => Promise.resolve(true),
    inPayload: () => false,
    params: { ...subject },
    query: {},
    records,
  };
  return accessRequest as AccessRequest;
}

function reason({ access }: Operation, principal: Principal, { role }: Partial<PackageEvidence>): string {
  const token =
    principal.permissions === null || access.permissions.length === 0
      ? ''
      : ', and the token has a required permission';
  if (role === undefined) return `Any account may${token}.`;
  const who = principal.username;
  return role === 'store administrator'
    ? `${who} does not work on the package, but administers the store${token}.`
    : `${who} is ${role === 'publisher' ? 'the publisher' : 'a collaborator'} of the package${token}.`;
}
