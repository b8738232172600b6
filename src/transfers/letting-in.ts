// Accepts a waiting transfer, for people and for automatic acceptance.
import { rm } from 'node:fs/promises';

import type { Acts, By } from '#acts/act.ts';
import { acceptTransfer, type Accepted } from '#acts/transfer-accept.ts';
import type { Here, Receipt } from '#acts/transfers.ts';
import type { Planning } from '#acts/transfer-planning.ts';
import { piecesOf } from './intake.ts';
import { digestOf, type Brought } from './look.ts';

export type Narrowing = Pick<Planning, 'only' | 'without' | 'asChannel'>;

/** Selects the whole transfer. */
export const whole: Narrowing = { only: [], without: [], asChannel: [] };

export interface LettingIn extends Here {
  acts: Acts;
  /** The data directory. */
  directory: string;
}

type Wanted = Brought & Pick<Accepted, 'seen' | 'isAutomatic' | 'isAdoption'> & { narrowed: Narrowing };

/**
 * Accepts a transfer and deletes its stored pieces. `seen` is the digest of the plan that the person has seen, if any. The lists of the
 * receipt are readable as long as the transfer's spill file exists.
 */
export async function letIn(
  { acts, directory, site, labels }: LettingIn,
  {
    transfer: { id },
    statement,
    signers,
    believed,
    aside,
    seen,
    narrowed,
    isAutomatic = false,
    isAdoption = false,
  }: Wanted,
  by: By,
): Promise<Receipt> {
  const accepted = {
    id,
    statement,
    signers,
    site,
    labels,
    believed,
    ...narrowed,
    seen,
    digestOf,
    isAutomatic,
    isAdoption,
    aside,
  };
  const receipt = await acts.do(acceptTransfer, by, accepted);
  await rm(piecesOf(directory, id), { recursive: true, force: true });
  return receipt;
}
