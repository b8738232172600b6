// How far an attenuated token reaches. A token that names packages acts on those packages only. A token that names channels releases to
// those channels only, and makes no decision that reaches beyond a release. This one rule is applied to every admitted call, so that no
// operation record can forget it.
import type { Principal } from '#domain/tokens/principal.ts';
import { reachesPackage } from '#domain/tokens/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import { packageOutOfScope, type Access } from './access-rules.ts';

/** Refuses an admitted call if its subject is outside the limits of the token. */
export function checkTokenScope(
  { access: { about }, method }: { access: Pick<Access<object>, 'about'>; method: string },
  { channels, packages }: Principal,
  evidence: object,
): void {
  if (about === 'public' || about === 'token') return;
  // Also if the token names packages in addition to the channels: one more caveat never widens a token.
  if (channels !== null && (about === 'store' || about === 'collaborators' || method === 'DELETE')) {
    throw new Refusal(
      'permission-required',
      'This token is restricted to certain channels and does not allow this. Use a token without a restriction to channels.',
    );
  }
  if (packages === null || about === 'packages') return;
  if (about === 'store') {
    throw new Refusal(
      'permission-required',
      'This token is restricted to certain packages, and this operation concerns no single package. Use a token without a restriction to packages.',
    );
  }
  const subject = 'package' in evidence ? (evidence.package as Parameters<typeof reachesPackage>[1]) : undefined;
  if (subject === undefined || !reachesPackage({ packages }, subject)) throw packageOutOfScope(subject);
}
