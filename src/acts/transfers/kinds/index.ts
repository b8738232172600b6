// The kinds of content that packages have in transfers, in the order of planning and acceptance.
import { acceptAccounts, planAccounts } from './accounts.ts';
import { channelContent } from './channels.ts';
import type { ContentKind, PackageAcceptance } from './content-kind.ts';
import { imageContent } from './images.ts';
import { libraryContent } from './libraries.ts';
import { metadataContent } from './metadata.ts';
import { acceptPackage, planPackage } from './packages.ts';
import { resourceContent } from './resources.ts';
import { revisionContent } from './revisions.ts';
import { trackContent } from './tracks.ts';
import { withdrawalContent } from './withdrawals.ts';
import type { PackagePlanning } from '../package-planning.ts';
import type { PackagePlan } from '../plan-types.ts';

/** Each kind comes after the kinds that it refers to. */
const contentKinds: readonly ContentKind[] = [
  trackContent,
  revisionContent,
  resourceContent,
  imageContent,
  metadataContent,
  libraryContent,
  withdrawalContent,
  channelContent,
];

/** Plans a package, its contents, and the accounts that they name. Returns undefined if the whole package is refused. */
export async function planWholePackage(planning: PackagePlanning): Promise<PackagePlan | undefined> {
  if (!(await planPackage(planning))) return undefined;
  for (const kind of contentKinds) await kind.plan(planning);
  await planAccounts(planning);
  return planning.plan;
}

/** Accepts a package as planned. The accounts come first, because the package and its contents refer to them. */
export async function acceptWholePackage(acceptance: Omit<PackageAcceptance, 'subject'>): Promise<void> {
  const { tx, plan, doing } = acceptance;
  await acceptAccounts(tx, plan);
  const subject = await acceptPackage(tx, plan, doing);
  for (const kind of contentKinds) await kind.accept({ ...acceptance, subject });
}
