// Rows of the operations about packages.
import type { OperationRows } from './row.ts';
import { each, makeOfferedPackage, makePackage, must, once, request } from './writes.ts';

export const packagesRows: OperationRows = {
  list_packages: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: ({ ids }) => [
      { as: 'root', path: '/internal/v1/packages' },
      { variant: 'of a publisher', as: 'root', path: `/internal/v1/packages?publisher=${ids.bob}` },
      { variant: 'holding a channel', as: 'root', path: '/internal/v1/packages?channel=18.0/edge' },
      { variant: 'large ones', as: 'root', path: '/internal/v1/packages?at-least=1000000000' },
      { variant: 'quiet ones', as: 'root', path: '/internal/v1/packages?quiet-since=2020-01-01T00:00:00Z' },
    ],
  },
  read_package: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/packages/snap/tiny-app' }],
  },
  explain_access: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/explain-access?account=bob&package=snap/tiny-app' }],
  },
  list_registered_names: {
    about: 'packages',
    callers: 'any account',
    needs: ['account-view-packages'],
    reads: () => [
      { as: 'bob', path: '/v1/snap' },
      { variant: 'id and name', as: 'bob', path: '/v1/snap?fields=id,name' },
      { variant: 'collaborations', as: 'bob', path: '/v1/snap?include-collaborations=true' },
    ],
  },
  register_name: { about: 'packages', callers: 'any account', needs: ['account-register-package'] },
  package_metadata: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-view-metadata'],
    administrator: 'store-view',
    reads: () => [{ as: 'ada', path: '/v1/snap/tiny-app' }],
  },
  update_package_metadata: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-metadata'],
    administrator: 'store-manage',
  },
  unregister_package: {
    about: 'package',
    callers: 'publisher',
    needs: ['account-register-package', 'package-manage'],
    administrator: 'store-manage',
  },
  package_icon: {
    about: 'public',
    callers: 'anyone',
    reads: ({ ids, icon }) => [{ path: `/icons/${ids.snap}/${icon}` }],
  },
  invite_collaborators: {
    about: 'collaborators',
    callers: 'publisher',
    needs: ['package-manage-acl'],
    administrator: 'store-manage',
  },
  revoke_invites: {
    about: 'collaborators',
    callers: 'publisher',
    needs: ['package-manage-acl'],
    administrator: 'store-manage',
  },
  accept_invite: { about: 'collaborators', callers: 'any account' },
  reject_invite: { about: 'collaborators', callers: 'any account' },
  get_all_invites: {
    about: 'collaborators',
    callers: 'publisher, collaborator',
    needs: ['package-view-acl'],
    administrator: 'store-view',
    reads: () => [{ as: 'ada', path: '/v1/snap/tiny-app/collaborators/invites' }],
  },
  get_pending_invites: {
    about: 'collaborators',
    callers: 'publisher, collaborator',
    needs: ['package-view-acl'],
    administrator: 'store-view',
    reads: () => [{ as: 'ada', path: '/v1/snap/tiny-app/collaborators/invites/pending' }],
  },
  get_collaborators: {
    about: 'collaborators',
    callers: 'publisher, collaborator',
    needs: ['package-view-acl'],
    administrator: 'store-view',
    reads: () => [{ as: 'ada', path: '/v1/snap/tiny-app/collaborators' }],
  },
  remove_collaborator: {
    about: 'collaborators',
    callers: 'publisher',
    needs: ['package-manage-acl'],
    administrator: 'store-manage',
    writes: once(async (world, n) => {
      const { at } = await makePackage(world, n, 'parted', true);
      return request(world.ada, 'DELETE', `${at}/collaborators/${world.store.ids.bob}`);
    }),
  },
  leave_package: {
    about: 'collaborators',
    callers: 'any account',
    writes: once(async (world, n) =>
      request(world.bob, 'DELETE', `${(await makePackage(world, n, 'left', true)).at}/collaboration`),
    ),
  },
  offer_package: {
    about: 'collaborators',
    callers: 'publisher',
    needs: ['package-manage-acl'],
    administrator: 'store-manage',
    writes: each(async (world, n) =>
      request(world.ada, 'POST', `${(await makePackage(world, n, 'offered')).at}/offer`, { email: 'bob@example.com' }),
    ),
  },
  withdraw_package_offer: {
    about: 'collaborators',
    callers: 'publisher',
    needs: ['package-manage-acl'],
    administrator: 'store-manage',
    writes: once(async (world, n) =>
      request(world.ada, 'DELETE', `${await makeOfferedPackage(world, n, 'kept')}/offer`),
    ),
  },
  list_own_invites: {
    about: 'packages',
    callers: 'any account',
    needs: ['account-view-packages'],
    reads: () => [{ as: 'bob', path: '/internal/v1/invites' }],
  },
  answer_own_invite: {
    about: 'collaborators',
    callers: 'any account',
    writes: once(async (world, n) => {
      const { name, at } = await makePackage(world, n, 'joined');
      const invites = [{ email: 'bob@example.com' }];
      must(await world.ada.post(`/v1/bin/${name}/collaborators/invites`, { invites }));
      return request(world.bob, 'POST', `${at}/invite/answer`, { accept: true });
    }),
  },
  answer_package_offer: {
    about: 'collaborators',
    callers: 'any account',
    writes: once(async (world, n) =>
      request(world.bob, 'POST', `${await makeOfferedPackage(world, n, 'taken')}/offer/answer`, { accept: true }),
    ),
  },
  list_package_offers: {
    about: 'packages',
    callers: 'any account',
    needs: ['account-view-packages'],
    reads: () => [{ as: 'bob', path: '/internal/v1/package-offers' }],
  },
  hand_over_package: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: once(async (world, n) =>
      request(world.root, 'POST', `${(await makePackage(world, n, 'handed')).at}/publisher`, {
        'account-id': world.store.ids.bob,
      }),
    ),
  },
  package_access: { about: 'packages', callers: 'any account' },
  package_permissions: { about: 'packages', callers: 'any account' },
  read_package_usage: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-view-metrics'],
    administrator: 'store-view',
    reads: () => [{ as: 'root', path: '/internal/v1/packages/snap/tiny-app/usage?days=90' }],
  },
  dashboard_register_name: {
    about: 'packages',
    callers: 'any account',
    needs: ['account-register-package'],
    writes: once(async ({ ada }, n) => request(ada, 'POST', '/dev/api/register-name/', { snap_name: `named-${n}` })),
  },
  dashboard_account: {
    about: 'packages',
    callers: 'any account',
    reads: () => [
      { variant: '1000 names', as: 'bob', path: '/dev/api/account' },
      { as: 'ada', path: '/dev/api/account' },
    ],
  },
};
