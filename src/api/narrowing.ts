// How far a narrowed token goes. A token that names packages acts on those alone; one that names channels releases to
// those, and decides nothing that reaches beyond a release. The rule is one for all operations, and is applied to each
// call that has been admitted: a record cannot forget it.
import type { Principal } from '#domain/principal.ts';
import { reachesPackage } from '#domain/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import { outOfReach } from './access.ts';
import type { Operation } from './operation.ts';

/** Refuses a call of somebody who is admitted, when it is about something that his token leaves out. */
export function refuseNarrowed(
  { access: { about }, method }: Pick<Operation, 'access' | 'method'>,
  { channels, packages }: Principal,
  evidence: object,
): void {
  if (about === 'public' || about === 'token') return;
  // Also where packages are named beside the channels: a caveat more never widens a token.
  if (channels !== null && (about === 'store' || about === 'collaborators' || method === 'DELETE')) {
    throw new Refusal(
      'permission-required',
      'This token is good for the channels that it names, not for this; use one that names no channels.',
    );
  }
  if (packages === null || about === 'packages') return;
  if (about === 'store') {
    throw new Refusal(
      'permission-required',
      'This token is good for the packages that it names, and this is about none; use one that names no packages.',
    );
  }
  const subject = 'package' in evidence ? (evidence.package as Parameters<typeof reachesPackage>[1]) : undefined;
  if (subject === undefined || !reachesPackage({ packages }, subject)) throw outOfReach(subject);
}
