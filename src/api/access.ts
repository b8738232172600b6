// Access: who may call an operation. A rule admits the caller and supplies what it learned on the way,
// which is the only way a handler gets to know who asks and about what.
import type { IncomingMessage } from 'node:http';

import { administers, noBrand } from '#acts/brands.ts';
import type { Now } from '#domain/clock.ts';
import { isNamespace, type Namespace } from '#domain/namespace.ts';
import { grants, storePermission, type Permission } from '#domain/permission.ts';
import { reachesPackage, type Principal } from '#domain/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import { then, type Soon } from '#domain/soon.ts';
import type { Browsing, Login } from '#macaroons/authority.ts';
import type { DeviceSessions } from '#macaroons/device-sessions.ts';
import type { AssignedRole } from '#records/accounts.ts';
import type { Brand } from '#records/brands.ts';
import type { Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Registry } from '#registry/registry.ts';
import type { Config } from '#src/config.ts';

/** What a rule may look at. */
export interface Asked {
  /** The account behind the request's token; refused with 401 when there is none. */
  authenticate(): Soon<Principal>;
  /** The login behind the request's macaroons, proven and ready to be exchanged. */
  login(): Promise<Login>;
  /** Who is at the browser that asks, by the cookie of its session; refused with 401 when there is none in force. */
  browse(): Promise<Browsing>;
  /** Whether the request brings a token at all. */
  presentsToken(): Promise<boolean>;
  /** Whether the token that `authenticate` looked at came in the payload. */
  inPayload(): boolean;
  params: Record<string, string>;
  query: Record<string, string>;
  request: IncomingMessage;
  records: Records;
  registry: Registry;
  deviceSessions: DeviceSessions;
  config: Config;
  now: Now;
}

/**
 * What a call is about, which decides how far a narrowed token goes with it (`narrowing.ts`):
 * `public` asks for no token of the store, and answers one as none; `token` is about the token that is brought, and what comes
 * of it; `packages` finds packages on its own, and holds each against the token; `package` is about the one in the evidence;
 * `collaborators` about who works on that one; `store` about none: brands, keys, accounts.
 */
export type About = 'public' | 'token' | 'packages' | 'package' | 'collaborators' | 'store';

export interface Access<Evidence> {
  about: About;
  /** The permissions any one of which lets a token in; empty when none is asked for. */
  permissions: Permission[];
  /** Who may call it, in words, for the permission table. */
  who: string;
  /** Whether the macaroons may also come in the payload's member `macaroon`, outside the charm namespace too. */
  inPayload?: true;
  admit(asked: Asked): Soon<Evidence>;
}

/** A package, and the part the caller has in it. */
export interface PackageEvidence {
  principal: Principal;
  package: PublishedPackage;
  role: 'publisher' | 'collaborator' | 'store administrator';
}

/** Anybody, without a token. */
export const anyone: Access<object> = {
  about: 'public',
  permissions: [],
  who: 'anyone',
  admit: () => ({}),
};

/** Anybody; whoever brings a token is known by it, and a token that does not hold is refused. */
export const visitor = (about: 'public' | 'token'): Access<{ principal: Principal | undefined }> => ({
  about,
  permissions: [],
  who: 'anyone',
  admit: async ({ presentsToken, authenticate }) => ({
    principal: (await presentsToken()) ? await authenticate() : undefined,
  }),
});

/** Whoever has logged in at the identity provider and brings its discharge. */
export const discharged: Access<{ login: Login }> = {
  about: 'token',
  permissions: [],
  who: 'anyone with a discharged macaroon',
  inPayload: true,
  admit: async ({ login }) => ({ login: await login() }),
};

/** Any account; with a permission, when its token holds that. */
export const account = (
  about: 'token' | 'packages' | 'store',
  permission?: Permission,
): Access<{ principal: Principal }> => ({
  about,
  permissions: permission === undefined ? [] : [permission],
  who: 'any account',
  admit: ({ authenticate }) =>
    then(authenticate(), (principal) => {
      if (permission !== undefined && !grants(principal.permissions, permission)) throw missing(permission);
      return { principal };
    }),
});

/** An account that names a namespace in the path; anything that is no namespace does not exist. */
export const inNamespace = (permission: Permission): Access<{ principal: Principal; namespace: Namespace }> => ({
  about: 'packages',
  permissions: [permission],
  who: 'any account',
  async admit({ authenticate, params }) {
    const principal = await authenticate();
    if (!grants(principal.permissions, permission)) throw missing(permission);
    return { principal, namespace: namespaceOf(params) };
  },
});

/** Any account that answers an invite to the package in the path, which it need not see before. */
export const invited: Access<{ principal: Principal; namespace: Namespace; package: PublishedPackage | undefined }> = {
  about: 'collaborators',
  permissions: [],
  who: 'any account',
  async admit({ authenticate, params, records }) {
    const principal = await authenticate();
    const namespace = namespaceOf(params);
    return { principal, namespace, package: await records.packages.find(namespace, params['name'] ?? '') };
  },
};

/**
 * The publisher or a collaborator of the package in the path, or a store administrator whose token allows that.
 * To everybody else the package does not exist. With `alternative`, another permission serves
 * when the query has the member it names.
 */
export const onPackage = (
  permission: Permission,
  alternative?: { permission: Permission; when: string },
): Access<PackageEvidence> => ({
  about: permission.endsWith('-acl') ? 'collaborators' : 'package',
  permissions: alternative === undefined ? [permission] : [permission, alternative.permission],
  who: 'publisher, collaborator, store administrator',
  async admit({ authenticate, params, query, records }) {
    const principal = await authenticate();
    const accepted =
      alternative !== undefined && alternative.when in query ? [permission, alternative.permission] : [permission];
    const granted = accepted.some((one) => grants(principal.permissions, one));
    const administers = accepted.some((one) => actsAsPublisher(principal, one));
    if (!granted && !administers) throw missing(permission);
    const found = await findPackage(params, records);
    const role = granted ? await roleOf(principal, found, records) : undefined;
    if (role === undefined && !administers) throw nowhere(params);
    return { principal, package: found, role: role ?? 'store administrator' };
  },
});

/** The same as `onPackage` for the charm that the path's member `charm_name` names. */
export const onCharm = (permission: Permission): Access<PackageEvidence> => {
  const sees = onPackage(permission);
  return {
    ...sees,
    admit: (asked) =>
      sees.admit({ ...asked, params: { ...asked.params, namespace: 'charm', name: asked.params['charm_name'] ?? '' } }),
  };
};

/** The publisher of the package in the path, or a store administrator whose token allows that; a collaborator is told so. */
export const publisherOf = (permission: Permission): Access<PackageEvidence> => {
  const sees = onPackage(permission);
  return {
    ...sees,
    who: 'publisher; store administrator',
    async admit(asked) {
      const evidence = await sees.admit(asked);
      if (evidence.role !== 'collaborator' || actsAsPublisher(evidence.principal, permission)) return evidence;
      throw new Refusal('permission-required', `Only the publisher of '${evidence.package.name}' may do this.`);
    },
  };
};

/** The same as `onPackage` for the package that the query's member `package` names, as `namespace/name`. */
export const onQueriedPackage = (permission: Permission): Access<PackageEvidence> => {
  const sees = onPackage(permission);
  return {
    ...sees,
    async admit(asked) {
      const admitted = async (): Promise<void> => {
        const principal = await asked.authenticate();
        if (!grants(principal.permissions, permission) && !actsAsPublisher(principal, permission))
          throw missing(permission);
      };
      const named = asked.query['package'];
      if (named === undefined) {
        await admitted();
        throw new Refusal('api-error', "'package' is a required property at /");
      }
      const params = packageIn(named);
      if (params !== undefined) return sees.admit({ ...asked, params });
      await admitted();
      throw noPackage(named);
    },
  };
};

/** What a text such as `snap/hello` names; nothing where it is not written so. */
export function packageIn(text: string): { namespace: string; name: string } | undefined {
  const [, namespace, name] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

export const noPackage = (text: string): Refusal =>
  new Refusal('api-error', `'${text.slice(0, 100)}' is not a package; write namespace/name at /package`);

/** Whoever may see the package, with no permission asked yet: for the one operation with rules of its own. */
export const seesPackage = (permissions: Permission[]): Access<PackageEvidence> => ({
  about: 'package',
  permissions,
  who: 'publisher; a store administrator outside charm',
  async admit({ authenticate, params, records }) {
    const principal = await authenticate();
    const found = await findPackage(params, records);
    const role = await roleOf(principal, found, records);
    if (role !== undefined) return { principal, package: found, role };
    if (actsAsPublisher(principal, 'package-manage')) return { principal, package: found, role: 'store administrator' };
    throw nowhere(params);
  },
});

/** An administrator of the brand in the path, or a store administrator. To everybody else the brand does not exist. */
export const brandAdministrator = (
  permission: 'account-manage-keys' | 'account-manage-metadata',
  reads: boolean,
): Access<{ principal: Principal; brand: Brand }> => ({
  about: 'store',
  permissions: reads
    ? ['account-manage-keys', 'account-manage-metadata', 'store-view', 'store-manage']
    : [permission, 'store-manage'],
  who: 'brand administrator, store administrator',
  async admit({ authenticate, params, records }) {
    const principal = await authenticate();
    const accepted = reads
      ? (['account-manage-keys', 'account-manage-metadata', 'store-view', 'store-manage'] as const)
      : ([permission, 'store-manage'] as const);
    if (!accepted.some((one) => grants(principal.permissions, one))) throw missing(permission);
    const id = params['brand_account_id'] ?? '';
    const brand = await records.brands.find(id);
    if (brand !== undefined && (await administers(principal, id, records))) return { principal, brand };
    throw noBrand(id);
  },
});

/** A store administrator; his token says what he may look at, or do. */
export const storeAdministrator = (permission: 'store-view' | 'store-manage'): Access<{ principal: Principal }> => ({
  about: 'store',
  permissions: [permission],
  who: 'store administrator',
  async admit({ authenticate }) {
    const principal = await authenticate();
    if (!grants(principal.permissions, permission)) throw missing(permission);
    if (principal.storeAdministrator) return { principal };
    throw new Refusal('permission-required', 'Only a store administrator may do this.');
  },
});

/**
 * Somebody with one of these roles, or a store administrator whose token allows him to look; for what the one has to read for
 * his task and the other anyway.
 */
export const overseer = (...roles: readonly AssignedRole[]): Access<{ principal: Principal }> => ({
  about: 'store',
  permissions: ['store-view'],
  who: `store administrator, ${roles.join(', ')}`,
  async admit({ authenticate, records }) {
    const principal = await authenticate();
    if (!grants(principal.permissions, 'store-view')) throw missing('store-view');
    if (principal.storeAdministrator) return { principal };
    const held = await records.accounts.rolesOf(principal.accountId);
    if (roles.some((role) => held.includes(role))) return { principal };
    throw new Refusal(
      'permission-required',
      `Only a store administrator may do this, or who is ${roles.join(' or ')}.`,
    );
  },
});

/** The package in the path, for a store administrator. */
export const storeAdministratorOnPackage = (permission: 'store-view' | 'store-manage'): Access<PackageEvidence> => {
  const admits = storeAdministrator(permission);
  return {
    ...admits,
    async admit(asked) {
      const { principal } = await admits.admit(asked);
      return { principal, package: await findPackage(asked.params, asked.records), role: 'store administrator' };
    },
  };
};

/** A token that lacks a permission. */
export const missing = (permission: Permission): Refusal =>
  new Refusal('permission-required', `Missing required permission: ${permission}`);

/** A token that is good for other packages than this one, which its account has a part in or is invited to. */
export const outOfReach = (subject: { name: string } | undefined): Refusal =>
  new Refusal(
    'permission-required',
    `Package access not allowed: this token is not good for ${subject === undefined ? 'it' : `'${subject.name}'`}.`,
  );

/** Whether somebody may do as a publisher does because he administers the store, and his token allows that. */
export const actsAsPublisher = (principal: Principal, permission: Permission): boolean =>
  principal.storeAdministrator && grants(principal.permissions, storePermission(permission));

function namespaceOf(params: Record<string, string>): Namespace {
  const namespace = params['namespace'] ?? '';
  if (isNamespace(namespace)) return namespace;
  throw new Refusal('resource-not-found', `There is no namespace '${namespace.slice(0, 64)}'.`);
}

async function findPackage(params: Record<string, string>, records: Records): Promise<PublishedPackage> {
  const found = await records.packages.find(namespaceOf(params), params['name'] ?? '');
  if (found === undefined) throw nowhere(params);
  return found;
}

/** Which part an account has in a package of its own right. */
export async function roleOf(
  principal: Principal,
  subject: PublishedPackage,
  records: Records,
): Promise<'publisher' | 'collaborator' | undefined> {
  if (subject.publisherId === principal.accountId) return 'publisher';
  return (await records.collaborators.has(subject.id, principal.accountId)) ? 'collaborator' : undefined;
}

/** Whether somebody may act on a package that the request's body names, by a part in it or as store administrator. */
export async function partIn(
  principal: Principal,
  subject: PublishedPackage,
  permission: Permission,
  records: Records,
): Promise<boolean> {
  if (!actsAsPublisher(principal, permission) && (await roleOf(principal, subject, records)) === undefined)
    return false;
  if (!reachesPackage(principal, subject)) throw outOfReach(subject);
  return true;
}

/** One answer for what is not there and for what is somebody else's, so that a stranger learns nothing. */
export const nowhere = (params: Record<string, string>): Refusal =>
  new Refusal(
    'resource-not-found',
    `Name ${(params['name'] ?? '').slice(0, 100)} not found in the ${params['namespace'] ?? ''} namespace, or this account has no part in it`,
  );
