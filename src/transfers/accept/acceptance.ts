// Accepts a waiting transfer, for people and for automatic acceptance.
import { rm } from 'node:fs/promises';

import type { Acts, Actor } from '#acts/act.ts';
import { acceptTransfer, type TransferAcceptance } from '#acts/transfers/accept.ts';
import type { ReceivingSite } from '#acts/transfers/acceptance-conditions.ts';
import type { Receipt } from '#acts/transfers/receipt.ts';
import type { TransferPlanInputs } from '#acts/transfers/plan-types.ts';
import { pieceFolderOf } from '../receive/content-receiver.ts';
import { planDigestOf, type VerifiedTransfer } from './inspect.ts';

export type AcceptanceSelection = Pick<TransferPlanInputs, 'only' | 'without' | 'asChannel'>;

/** Selects the whole transfer. */
export const wholeTransfer: AcceptanceSelection = { only: [], without: [], asChannel: [] };

export interface AcceptanceContext extends ReceivingSite {
  acts: Acts;
  /** The data directory. */
  directory: string;
}

type AcceptanceRequest = VerifiedTransfer &
  Pick<TransferAcceptance, 'seen' | 'isAutomatic' | 'isAdoption'> & { narrowed: AcceptanceSelection };

/**
 * Accepts a transfer and deletes its stored pieces. `seen` is the digest of the plan that the person has seen, if any. The lists of the
 * receipt are readable as long as the transfer's spill file exists.
 */
export async function acceptReceivedTransfer(
  { acts, directory, site, labels }: AcceptanceContext,
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
  }: AcceptanceRequest,
  actor: Actor,
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
    digestOf: planDigestOf,
    isAutomatic,
    isAdoption,
    aside,
  };
  const receipt = await acts.do(acceptTransfer, actor, accepted);
  await rm(pieceFolderOf(directory, id), { recursive: true, force: true });
  return receipt;
}
