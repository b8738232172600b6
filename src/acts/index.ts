// Every act: what may be done to the store, by noun. The documents and the tests go through it.
import type { Act } from './act.ts';
import { renewCertificate } from './appliance.ts';
import { expireBranches, pushReleases } from './releases.ts';

export const everyAct: readonly Act<never, unknown>[] = [
  // The appliance
  renewCertificate,
  // Releases
  expireBranches,
  pushReleases,
];
