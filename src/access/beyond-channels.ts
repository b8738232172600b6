// The access rule for decisions that reach beyond the channels of a token.
import { Refusal } from '#domain/refusal.ts';
import type { Permission } from '#domain/tokens/permission.ts';
import { onPackage, type Access, type PackageEvidence } from './access-rules.ts';

/**
 * Like `onPackage`, but refuses tokens that name channels: a decision about a whole revision or track also affects channels that the token
 * does not name.
 */
export const beyondChannels = (permission: Permission): Access<PackageEvidence> => {
  const sees = onPackage(permission);
  return {
    ...sees,
    async admit(accessRequest) {
      const evidence = await sees.admit(accessRequest);
      if (evidence.principal.channels === null) return evidence;
      throw new Refusal(
        'permission-required',
        'This token is restricted to certain channels and does not allow this. Use a token without a restriction to channels.',
      );
    },
  };
};
