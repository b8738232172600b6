// Access rules: who may call an operation. A rule admits the caller and supplies the evidence; a handler learns the caller and the subject
// from the evidence alone.
import type { IncomingMessage } from 'node:http';

import { administers, noBrand } from '#acts/brands/brands.ts';
import type { Now } from '#domain/clock.ts';
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import { isNamespace, type PackageNamespace } from '#domain/packages/namespace.ts';
import { grants, storePermission, type Permission } from '#domain/tokens/permission.ts';
import { reachesPackage, type Principal } from '#domain/tokens/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Browsing, Login } from '#macaroons/authority.ts';
import type { DeviceSessions } from '#macaroons/device-sessions.ts';
import type { AssignedRole } from '#records/accounts/accounts.ts';
import type { Brand } from '#records/brands/brands.ts';
import type { StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Registry } from '#registry/registry.ts';
import type { Config } from '#configuration/config.ts';

/** The parts of a request that a rule may read. */
export interface AccessRequest {
  /** Returns the account behind the token of the request; refuses with 401 if there is no token. */
  authenticate(): MaybePromise<Principal>;
  /** Returns the login behind the macaroons of the request, proven and ready to be exchanged. */
  login(): Promise<Login>;
  /** Returns the session of the browser, found by its cookie; refuses with 401 if there is no valid session. */
  browse(): Promise<Browsing>;
  /** Whether the request presents a token. */
  presentsToken(): Promise<boolean>;
  /** Whether the token that `authenticate` read was in the payload. */
  inPayload(): boolean;
  params: Record<string, string>;
  query: Record<string, string>;
  request: IncomingMessage;
  records: StoreRecords;
  registry: Registry;
  deviceSessions: DeviceSessions;
  config: Config;
  now: Now;
}

/**
 * The subject of a call. It decides how far an attenuated token reaches (`token-scope.ts`):
 * - `public` needs no token of the store, and treats a token like none;
 * - `token` is about the presented token and tokens made from it;
 * - `packages` finds packages itself and checks each against the token;
 * - `package` is about the package in the evidence;
 * - `collaborators` is about the collaborators of that package;
 * - `store` is about no package: brands, keys, accounts.
 */
export type CallSubject = 'public' | 'token' | 'packages' | 'package' | 'collaborators' | 'store';

export interface Access<Evidence> {
  about: CallSubject;
  /** The token needs any one of these permissions; empty if no permission is needed. */
  permissions: Permission[];
  /** A description of the admitted callers, for the permission table. */
  who: string;
  /** Whether the payload member `macaroon` may also hold the macaroons outside the charm namespace. */
  inPayload?: true;
  admit(accessRequest: AccessRequest): Evidence | Promise<Evidence>;
}

/** A package, and the role that the caller has in it. */
export interface PackageEvidence {
  principal: Principal;
  package: PublishedPackage;
  role: 'publisher' | 'collaborator' | 'store administrator';
}

/** Admits every caller, without a token. */
export const anyone: Access<object> = {
  about: 'public',
  permissions: [],
  who: 'anyone',
  admit: () => ({}),
};

/** Admits every caller. A token identifies the caller; an invalid token is refused. */
export const visitor = (about: 'public' | 'token'): Access<{ principal: Principal | undefined }> => ({
  about,
  permissions: [],
  who: 'anyone',
  admit: async ({ presentsToken, authenticate }) => ({
    principal: (await presentsToken()) ? await authenticate() : undefined,
  }),
});

/** Admits a caller who has logged in at the identity provider and presents its discharge. */
export const discharged: Access<{ login: Login }> = {
  about: 'token',
  permissions: [],
  who: 'anyone with a discharged macaroon',
  inPayload: true,
  admit: async ({ login }) => ({ login: await login() }),
};

/** Admits any account; if a permission is given, the token must have it. */
export const account = (
  about: 'token' | 'packages' | 'store',
  permission?: Permission,
): Access<{ principal: Principal }> => ({
  about,
  permissions: permission === undefined ? [] : [permission],
  who: 'any account',
  admit: ({ authenticate }) =>
    whenReady(authenticate(), (principal) => {
      if (permission !== undefined && !grants(principal.permissions, permission)) throw missingPermission(permission);
      return { principal };
    }),
});

/** Admits an account if the path names a namespace; an unknown namespace is refused as not found. */
export const inNamespace = (permission: Permission): Access<{ principal: Principal; namespace: PackageNamespace }> => ({
  about: 'packages',
  permissions: [permission],
  who: 'any account',
  async admit({ authenticate, params }) {
    const principal = await authenticate();
    if (!grants(principal.permissions, permission)) throw missingPermission(permission);
    return { principal, namespace: namespaceOf(params) };
  },
});

/** Admits any account that replies to an invite to the package in the path, even if the account cannot see the package yet. */
export const invited: Access<{
  principal: Principal;
  namespace: PackageNamespace;
  package: PublishedPackage | undefined;
}> = {
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
 * Admits the publisher or a collaborator of the package in the path. Also admits a store administrator if the token allows it. To every
 * other caller the package does not exist. With `alternative`, another permission is sufficient if the query has the member that it names.
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
    const granted = accepted.some((candidate) => grants(principal.permissions, candidate));
    const administers = accepted.some((candidate) => actsAsPublisher(principal, candidate));
    if (!granted && !administers) throw missingPermission(permission);
    const subject = await findPackage(params, records);
    const role = granted ? await findRole(principal, subject, records) : undefined;
    if (role === undefined && !administers) throw packageNotFound(params);
    return { principal, package: subject, role: role ?? 'store administrator' };
  },
});

/** Like `onPackage`, for the charm in the path member `charm_name`. */
export const onCharm = (permission: Permission): Access<PackageEvidence> => {
  const sees = onPackage(permission);
  return {
    ...sees,
    admit: (accessRequest) =>
      sees.admit({
        ...accessRequest,
        params: { ...accessRequest.params, namespace: 'charm', name: accessRequest.params['charm_name'] ?? '' },
      }),
  };
};

/**
 * Admits the publisher of the package in the path, or a store administrator if the token allows it. A collaborator is refused with that
 * reason.
 */
export const publisherOf = (permission: Permission): Access<PackageEvidence> => {
  const sees = onPackage(permission);
  return {
    ...sees,
    who: 'publisher; store administrator',
    async admit(accessRequest) {
      const evidence = await sees.admit(accessRequest);
      if (evidence.role !== 'collaborator' || actsAsPublisher(evidence.principal, permission)) return evidence;
      throw new Refusal('permission-required', `Only the publisher of '${evidence.package.name}' may do this.`);
    },
  };
};

/** Like `onPackage`, for the package in the query member `package`, written as `namespace/name`. */
export const onQueriedPackage = (permission: Permission): Access<PackageEvidence> => {
  const sees = onPackage(permission);
  return {
    ...sees,
    async admit(accessRequest) {
      const admitted = async (): Promise<void> => {
        const principal = await accessRequest.authenticate();
        if (!grants(principal.permissions, permission) && !actsAsPublisher(principal, permission))
          throw missingPermission(permission);
      };
      const packageRef = accessRequest.query['package'];
      if (packageRef === undefined) {
        await admitted();
        throw new Refusal('api-error', "'package' is a required property at /");
      }
      const params = parsePackageRef(packageRef);
      if (params !== undefined) return sees.admit({ ...accessRequest, params });
      await admitted();
      throw invalidPackageRef(packageRef);
    },
  };
};

/** Parses a text such as `snap/hello`; undefined if it has another format. */
export function parsePackageRef(text: string): { namespace: string; name: string } | undefined {
  const [, namespace, name] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

export const invalidPackageRef = (text: string): Refusal =>
  new Refusal('api-error', `'${text.slice(0, 100)}' is not a package; write namespace/name at /package`);

/** Admits every caller who may see the package and checks no permission yet: for the one operation with its own rules. */
export const seesPackage = (permissions: Permission[]): Access<PackageEvidence> => ({
  about: 'package',
  permissions,
  who: 'publisher; a store administrator outside charm',
  async admit({ authenticate, params, records }) {
    const principal = await authenticate();
    const subject = await findPackage(params, records);
    const role = await findRole(principal, subject, records);
    if (role !== undefined) return { principal, package: subject, role };
    if (actsAsPublisher(principal, 'package-manage'))
      return { principal, package: subject, role: 'store administrator' };
    throw packageNotFound(params);
  },
});

/** Admits an administrator of the brand in the path, or a store administrator. To every other caller the brand does not exist. */
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
    if (!accepted.some((candidate) => grants(principal.permissions, candidate))) throw missingPermission(permission);
    const id = params['brand_account_id'] ?? '';
    const brand = await records.brands.find(id);
    if (brand !== undefined && (await administers(principal, id, records))) return { principal, brand };
    throw noBrand(id);
  },
});

/** Admits a store administrator; the permission of the token says whether they may view or manage. */
export const storeAdministrator = (permission: 'store-view' | 'store-manage'): Access<{ principal: Principal }> => ({
  about: 'store',
  permissions: [permission],
  who: 'store administrator',
  async admit({ authenticate }) {
    const principal = await authenticate();
    if (!grants(principal.permissions, permission)) throw missingPermission(permission);
    if (principal.storeAdministrator) return { principal };
    throw new Refusal('permission-required', 'Only a store administrator may do this.');
  },
});

/**
 * Admits an account with one of these roles, or a store administrator if the token allows viewing: for content that the role needs for its
 * task and that an administrator may see anyway.
 */
export const overseer = (...roles: readonly AssignedRole[]): Access<{ principal: Principal }> => ({
  about: 'store',
  permissions: ['store-view'],
  who: `store administrator, ${roles.join(', ')}`,
  async admit({ authenticate, records }) {
    const principal = await authenticate();
    if (!grants(principal.permissions, 'store-view')) throw missingPermission('store-view');
    if (principal.storeAdministrator) return { principal };
    const held = await records.accounts.rolesOf(principal.accountId);
    if (roles.some((role) => held.includes(role))) return { principal };
    throw new Refusal(
      'permission-required',
      `Only a store administrator may do this, or an account that is ${roles.join(' or ')}.`,
    );
  },
});

/** The package in the path, for a store administrator. */
export const storeAdministratorOnPackage = (permission: 'store-view' | 'store-manage'): Access<PackageEvidence> => {
  const admits = storeAdministrator(permission);
  return {
    ...admits,
    async admit(accessRequest) {
      const { principal } = await admits.admit(accessRequest);
      return {
        principal,
        package: await findPackage(accessRequest.params, accessRequest.records),
        role: 'store administrator',
      };
    },
  };
};

/** The refusal for a token that lacks a permission. */
export const missingPermission = (permission: Permission): Refusal =>
  new Refusal('permission-required', `Missing required permission: ${permission}`);

/** The refusal for a token that is valid for other packages only, although its account works on this package or is invited to it. */
export const packageOutOfScope = (subject: { name: string } | undefined): Refusal =>
  new Refusal(
    'permission-required',
    `Package access not allowed: this token is not valid for ${subject === undefined ? 'it' : `'${subject.name}'`}.`,
  );

/** Whether the caller may act like a publisher because they administer the store and their token allows it. */
export const actsAsPublisher = (principal: Principal, permission: Permission): boolean =>
  principal.storeAdministrator && grants(principal.permissions, storePermission(permission));

function namespaceOf(params: Record<string, string>): PackageNamespace {
  const namespace = params['namespace'] ?? '';
  if (isNamespace(namespace)) return namespace;
  throw new Refusal('resource-not-found', `There is no namespace '${namespace.slice(0, 64)}'.`);
}

async function findPackage(params: Record<string, string>, records: StoreRecords): Promise<PublishedPackage> {
  const subject = await records.packages.find(namespaceOf(params), params['name'] ?? '');
  if (subject === undefined) throw packageNotFound(params);
  return subject;
}

/** Returns the role that an account itself has in a package. */
export async function findRole(
  principal: Principal,
  subject: PublishedPackage,
  records: StoreRecords,
): Promise<'publisher' | 'collaborator' | undefined> {
  if (subject.publisherId === principal.accountId) return 'publisher';
  return (await records.collaborators.has(subject.id, principal.accountId)) ? 'collaborator' : undefined;
}

/** Whether the caller may act on a package that the request body names, by a role in it or as a store administrator. */
export async function mayActOnPackage(
  principal: Principal,
  subject: PublishedPackage,
  permission: Permission,
  records: StoreRecords,
): Promise<boolean> {
  if (!actsAsPublisher(principal, permission) && (await findRole(principal, subject, records)) === undefined)
    return false;
  if (!reachesPackage(principal, subject)) throw packageOutOfScope(subject);
  return true;
}

/** The refusal for a missing package and for a package of another account: one text, so that it does not tell which packages exist. */
export const packageNotFound = (params: Record<string, string>): Refusal =>
  new Refusal(
    'resource-not-found',
    `Name ${(params['name'] ?? '').slice(0, 100)} not found in the ${params['namespace'] ?? ''} namespace, or this account has no part in it`,
  );
