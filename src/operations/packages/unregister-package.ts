import { refuseInUse, unregisterPackage as act } from '#acts/packages/registration.ts';
import {
  missingPermission,
  seesPackage,
  type Access,
  type AccessRequest,
  type PackageEvidence,
} from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { grants } from '#domain/tokens/permission.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import { caller } from '../caller.ts';

const sees = seesPackage(['account-register-package', 'package-manage']);

/** Admits the caller, with a separate error message per reason, as the API defines them. */
const mayUnregister: Access<PackageEvidence> = {
  ...sees,
  async admit(request) {
    const principal = await authenticate(request);
    const { namespace } = request.params;
    const lists = principal.packages ?? [];
    if (namespace === 'snap' && lists.some((list) => !list.some(({ type }) => type === 'snap'))) {
      throw new Refusal('permission-required', 'Unregistering snaps requires snap-publishing credentials');
    }
    const { permissions } = principal;
    const granted = grants(permissions, 'account-register-package') || grants(permissions, 'package-manage');
    const administers = principal.storeAdministrator && grants(permissions, 'store-manage') && namespace !== 'charm';
    if (!granted && !administers) throw missingPermission('account-register-package');
    const evidence = await sees.admit({ ...request, authenticate: () => Promise.resolve(principal) });
    if (evidence.role !== 'publisher' && !administers) {
      const noun = namespace === 'charm' ? 'Charms' : 'Packages';
      throw new Refusal('permission-required', `${noun} can only be unregistered by their publisher`);
    }
    // The API reports a package that is in use before it reports the restrictions of a token. The act checks the use again.
    await refuseInUse(request.records, evidence.package.id);
    return evidence.role === 'publisher' ? evidence : { ...evidence, role: 'store administrator' };
  },
};

async function authenticate(request: AccessRequest): Promise<Principal> {
  try {
    return await request.authenticate();
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'macaroon-authorization-required') throw error;
    throw new Refusal(error.code, request.inPayload() ? 'Unauthorized' : 'discharge required');
  }
}

export const unregisterPackage = operation({
  name: 'unregister_package',
  method: 'DELETE',
  path: '/v1/:namespace/:name',
  since: 1,
  summary: 'Unregister a name without revisions.',
  access: mayUnregister,
  response: 'UnregisterPackageResponse',
  bodyLimit: 64 * 1024,
  refuses: ['forbidden'],

  async handle(call) {
    const { package: subject, acts } = call;
    await acts.do(act, caller(call), subject);
    return { 'package-id': subject.id };
  },
});
