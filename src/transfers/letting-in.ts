// Lets a transfer in that waits, for people and for what lets it in by itself.
import { rm } from 'node:fs/promises';

import type { Acts, By } from '#acts/act.ts';
import { acceptTransfer, type Accepted } from '#acts/transfer-accept.ts';
import type { Here, Receipt } from '#acts/transfers.ts';
import type { Planning } from '#acts/transfer-planning.ts';
import { piecesOf } from './intake.ts';
import { digestOf, type Brought } from './look.ts';

export type Narrowing = Pick<Planning, 'only' | 'without' | 'asChannel'>;

/** All of it. */
export const whole: Narrowing = { only: [], without: [], asChannel: [] };

export interface LettingIn extends Here {
  acts: Acts;
  /** The data directory. */
  directory: string;
}

type Wanted = Brought & Pick<Accepted, 'seen' | 'isAutomatic' | 'isAdoption'> & { narrowed: Narrowing };

/**
 * Lets in what was looked at; where nobody looked, what there is. Pieces that came of it are of no use any more then. The lists of the receipt can
 * be read as long as what the transfer brought lies aside.
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
