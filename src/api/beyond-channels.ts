// The package in the path, for what reaches beyond the channels that a token may name.
import { Refusal } from '#domain/refusal.ts';
import type { Permission } from '#domain/permission.ts';
import { onPackage, type Access, type PackageEvidence } from './access.ts';

/**
 * The same as `onPackage`, but for tokens that name channels: what is decided of a revision or a track as such holds in
 * those that the token does not name.
 */
export const beyondChannels = (permission: Permission): Access<PackageEvidence> => {
  const sees = onPackage(permission);
  return {
    ...sees,
    async admit(asked) {
      const evidence = await sees.admit(asked);
      if (evidence.principal.channels === null) return evidence;
      throw new Refusal(
        'permission-required',
        'This token is good for the channels that it names, not for this; use one that names no channels.',
      );
    },
  };
};
