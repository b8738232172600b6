// The snaps that an account may fetch at the interface for devices, as tools that build images do.
import { parseChannel } from '#domain/releases/channel.ts';
import { grants, type Permission } from '#domain/tokens/permission.ts';
import { reachesChannel, reachesPackage, type Principal } from '#domain/tokens/principal.ts';
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import { Refusal } from '#domain/refusal.ts';
import { InvalidMacaroon } from '#macaroons/token-checker.ts';
import type { StoreRecords } from '#records/index.ts';
import type { AccessRequest } from './access-rules.ts';

/** How far a caller reaches a snap. */
export interface SnapReach {
  /** Whether the releases in a channel, by its full name, exist for the caller. Undefined if those in every channel do. */
  coversChannel: ((name: string) => boolean) | undefined;
  /** Whether revisions and components that no channel ever held exist for the caller, by their numbers. */
  unreleased: boolean;
}

/** What a device reaches of a snap that it may have. */
export const everyRelease: SnapReach = { coversChannel: undefined, unreleased: false };

/** Any one of these permissions lets a token fetch the private snaps of its account. */
const fetches: readonly Permission[] = [
  'package-view-revisions',
  'package-manage-acl',
  'package-manage-metadata',
  'package-manage-releases',
  'package-manage-revisions',
];

/**
 * How far a token reaches a snap because its account works on it, or because all devices of the brand that the account is may have it;
 * undefined if it does not.
 */
export function reachOfAccount(
  principal: Principal,
  id: string,
  { packages }: { packages: Pick<StoreRecords['packages'], 'snapsFor'> },
): MaybePromise<SnapReach | undefined> {
  const { permissions, channels, accountId } = principal;
  if (!fetches.some((permission) => grants(permissions, permission))) return undefined;
  return whenReady(packages.snapsFor([id], accountId), ([snap]) => {
    if (snap === undefined || !reachesPackage(principal, snap)) return undefined;
    const worksOn = snap.publishes === 1 || snap.collaborates === 1;
    if (!worksOn && snap.granted === 0) return undefined;
    return {
      coversChannel: channels === null ? undefined : (name) => coversChannel(principal, name),
      // A revision outside of all channels is outside of the channels of a token.
      unreleased: worksOn && channels === null && grants(permissions, 'package-view-revisions'),
    };
  });
}

function coversChannel(principal: Principal, name: string): boolean {
  const channel = parseChannel(name);
  return channel !== undefined && reachesChannel(principal, channel);
}

/** The account behind the header Authorization; undefined if there is none. An invalid token is refused, so that its holder notices. */
export async function accountOf({
  request,
  authenticate,
}: Pick<AccessRequest, 'request' | 'authenticate'>): Promise<Principal | undefined> {
  if (request.headers.authorization === undefined) return undefined;
  try {
    return await authenticate();
  } catch (error) {
    throw error instanceof Refusal && error.status === 401 ? asSnapdReads(error) : error;
  }
}

/** snapd refreshes a discharge when the header asks for it (store/store.go, `doRequest`). */
function asSnapdReads(refusal: Refusal): Refusal {
  if (refusal.code === 'macaroon-needs-refresh')
    return new Refusal('user-authorization-needs-refresh', refusal.message, undefined, {
      'www-authenticate': 'Macaroon needs_refresh=1',
    });
  const message =
    refusal instanceof InvalidMacaroon
      ? 'The token in the header Authorization is not a token of this store, or its discharge is missing or altered. ' +
        "Issue another one with 'larder token issue --for images'; on a device, log out with 'snap logout'."
      : refusal.message;
  return new Refusal(refusal.code, message, undefined, { 'www-authenticate': 'Macaroon' });
}
