// Access to snaps for the older publishing tools, which name a snap by its id, by its name alone, or in the body.
import { grants, type Permission } from '#domain/tokens/permission.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import {
  actsAsPublisher,
  missingPermission,
  packageNotFound,
  mayActOnPackage,
  findRole,
  type Access,
  type AccessRequest,
} from './access-rules.ts';
import type { PackageEvidence } from './access-rules.ts';

type AtLeastOne = readonly [Permission, ...Permission[]];

/** Any one of these permissions lets an account see the channels of a snap: to change a snap, an account must see it. */
export const viewsReleases: AtLeastOne = [
  'package-view-releases',
  'package-manage-acl',
  'package-manage-metadata',
  'package-manage-releases',
  'package-manage-revisions',
];

/** Admits an account that works on the snap with the id in the path, if its token has any one of these permissions. */
export const onSnapOfId = (permissions: AtLeastOne): Access<PackageEvidence> =>
  onSnap(permissions, ({ params, records }) => byId(params['snap_id'] ?? '', records));

/** Like `onSnapOfId`, for the snap that the path names. */
export const onSnapNamed = (permissions: AtLeastOne): Access<PackageEvidence> =>
  onSnap(permissions, ({ params, records }) => byName(params['name'] ?? '', records));

/** The caller, and a way to find snaps that the body names; snaps of other accounts do not exist here. */
export interface SnapsInBody {
  principal: Principal;
  /** Also refuses if the token lacks one of the additional permissions. */
  snapNamed(name: string, ...more: Permission[]): Promise<PublishedPackage>;
  snapOfId(id: string): Promise<PublishedPackage>;
}

/** Admits an account with this permission; finds snaps in the body that the account works on. */
export const snapsInBody = (permission: Permission): Access<SnapsInBody> => ({
  about: 'packages',
  permissions: [permission],
  who: 'publisher, collaborator, store administrator',
  async admit({ authenticate, records }) {
    const principal = await authenticate();
    refuseWithout([permission], principal);
    const requireOwn = async ({ snap, unknown }: SnapLookup): Promise<PublishedPackage> => {
      if (snap !== undefined && (await mayActOnPackage(principal, snap, permission, records))) return snap;
      throw unknown;
    };
    return {
      principal,
      async snapNamed(name, ...more) {
        for (const additional of more) refuseWithout([additional], principal);
        return requireOwn(await byName(name, records));
      },
      snapOfId: async (id) => requireOwn(await byId(id, records)),
    };
  },
});

const onSnap = (
  permissions: AtLeastOne,
  find: (accessRequest: AccessRequest) => Promise<SnapLookup>,
): Access<PackageEvidence> => ({
  about: 'package',
  permissions: [...permissions],
  who: 'publisher, collaborator, store administrator',
  async admit(accessRequest) {
    const principal = await accessRequest.authenticate();
    const { granted, administers } = refuseWithout(permissions, principal);
    const { snap, unknown } = await find(accessRequest);
    if (snap === undefined) throw unknown;
    const role = granted ? await findRole(principal, snap, accessRequest.records) : undefined;
    if (role === undefined && !administers) throw unknown;
    return { principal, package: snap, role: role ?? 'store administrator' };
  },
});

function refuseWithout(permissions: AtLeastOne, principal: Principal): { granted: boolean; administers: boolean } {
  const granted = permissions.some((permission) => grants(principal.permissions, permission));
  const administers = permissions.some((permission) => actsAsPublisher(principal, permission));
  if (granted || administers) return { granted, administers };
  throw missingPermission(permissions[0]);
}

/** A snap, undefined if it does not exist. `unknown` is the refusal for a missing snap and for a snap of another account. */
interface SnapLookup {
  snap: PublishedPackage | undefined;
  unknown: Refusal;
}

const byName = async (name: string, { packages }: StoreRecords): Promise<SnapLookup> => ({
  snap: await packages.find('snap', name),
  unknown: packageNotFound({ namespace: 'snap', name }),
});

async function byId(id: string, { packages }: StoreRecords): Promise<SnapLookup> {
  const snap = await packages.byId(id);
  const unknown = `There is no snap with the id '${id.slice(0, 64)}', or this account has no part in it`;
  return {
    snap: snap?.namespace === 'snap' ? snap : undefined,
    unknown: new Refusal('resource-not-found', unknown),
  };
}
