import { anyone } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { readDateTime } from '#domain/date-time.ts';
import type { IssueMacaroonRequest } from '#contract/wire.ts';
import { isPermission, type Permission } from '#domain/tokens/permission.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Authority } from '#macaroons/authority.ts';
import { loginRequest } from '../tokens/attenuation.ts';

export const dashboardAcl = operation({
  name: 'dashboard_acl',
  method: 'POST',
  path: '/dev/api/acl/',
  since: 0,
  summary: 'Issue a macaroon to log in with, for the older publishing tools.',
  access: anyone,
  errors: 'dashboard',
  body: 'DashboardAclRequest',
  response: 'UndischargedMacaroonResponse',

  async handle({ body, authority }) {
    const { channels, packages, description, expires } = body;
    const issueRequest: IssueMacaroonRequest = {
      permissions: body.permissions.flatMap(toPermissions),
      // In this protocol an empty list means no restriction. In a token it would allow nothing, so it is omitted.
      ...(channels && channels.length > 0 && { channels }),
      ...(packages &&
        packages.length > 0 && {
          packages: packages.map(({ name, snap_id: id }) => ({
            type: 'snap' as const,
            ...(name && { name }),
            ...(id && { id }),
          })),
        }),
      ...(description && { description }),
      ...(expires && { ttl: secondsUntil(expires, authority) }),
    };
    return { macaroon: await authority.startLogin(loginRequest(issueRequest, authority), 'sso') };
  },
});

/** Maps the permissions of those tools to permissions of this store. */
const words: Record<string, Permission[]> = {
  edit_account: ['account-manage-metadata'],
  modify_account_key: ['account-manage-keys'],
  package_access: ['account-view-packages', 'package-view'],
  package_manage: ['package-manage'],
  package_metrics: ['package-view-metrics'],
  package_push: ['package-manage-revisions', 'package-view-revisions'],
  package_register: ['account-register-package'],
  package_release: ['package-manage-releases', 'package-view-releases'],
  package_update: ['package-manage-metadata', 'package-view-metadata'],
  package_upload: ['package-manage-metadata', 'package-manage-revisions', 'package-view-revisions'],
  store_admin: ['store-manage', 'store-view'],
};

function toPermissions(word: string): Permission[] {
  const mapped = isPermission(word) ? [word] : Object.hasOwn(words, word) ? words[word] : undefined;
  if (mapped !== undefined) return mapped;
  throw new Refusal('api-error', `'${word.slice(0, 64)}' is no permission at /permissions`);
}

/** Seconds until a moment, at most the longest life of a token: the tools ask for a year by their own clock. */
function secondsUntil(expires: string, { latestTime, longestLife }: Authority): number {
  // The tools write the time zone; a time without one is in UTC.
  const text = /(?:Z|[+-]\d\d:\d\d)$/.test(expires) ? expires : `${expires}Z`;
  const moment = readDateTime(text);
  if (moment === undefined) throw new Refusal('api-error', 'The date is not one of RFC 3339 at /expires');
  const seconds = Math.floor((moment.getTime() - latestTime().getTime()) / 1000);
  if (seconds < 10) throw new Refusal('api-error', 'The token would end within ten seconds at /expires');
  return Math.min(seconds, longestLife() / 1000);
}
