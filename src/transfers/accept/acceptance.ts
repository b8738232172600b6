// Accepts a waiting transfer, for people and for automatic acceptance.
import { rm } from 'node:fs/promises';

import type { Acts, Actor } from '#acts/act.ts';
import { acceptTransfer, type TransferAcceptance } from '#acts/transfers/accept.ts';
import type { ReceivingSite } from '#acts/transfers/acceptance-conditions.ts';
import type { Receipt } from '#acts/transfers/receipt.ts';
import type { TransferSelection } from '#acts/transfers/plan-types.ts';
import { pieceFolderOf } from '../receive/content-receiver.ts';
import type { VerifiedTransfer } from './inspect.ts';

export interface AcceptanceContext extends ReceivingSite {
  acts: Acts;
  /** The data directory. */
  directory: string;
}

type AcceptanceRequest = VerifiedTransfer &
  TransferSelection &
  Pick<TransferAcceptance, 'seen' | 'isAutomatic' | 'isAdoption'>;

/**
 * Accepts a transfer and deletes its stored pieces. `seen` is the digest of the plan that the person has seen, if any. The lists of the
 * receipt are readable as long as the transfer's spill file exists.
 */
export async function acceptReceivedTransfer(
  { acts, directory, site, labels }: AcceptanceContext,
  request: AcceptanceRequest,
  actor: Actor,
): Promise<Receipt> {
  const { id } = request.transfer;
  const receipt = await acts.do(acceptTransfer, actor, { ...request, id, site, labels });
  await rm(pieceFolderOf(directory, id), { recursive: true, force: true });
  return receipt;
}
