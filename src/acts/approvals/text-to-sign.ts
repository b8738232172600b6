// The text that approvers of a proposal sign.
import { approvalText, type ProposalToSign } from '#domain/approvals/approval-text.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import { siteNameSetting } from '../sites/sites.ts';

type SiteNameRecords = Pick<StoreRecords, 'appliance'> | Pick<ChangeRecords, 'appliance'>;

/** Returns the text of a proposal. Refused if the store has no name, because the text names the store. */
export const textToSign = async (records: SiteNameRecords, proposal: ProposalToSign): Promise<string> =>
  approvalText(await nameToSign(records), proposal);

export async function nameToSign({ appliance }: SiteNameRecords): Promise<string> {
  const name = await appliance.find(siteNameSetting);
  if (name !== undefined) return name;
  throw new Refusal(
    'conflict',
    "The text to sign names this store, and the store has no name yet. Give it one with 'larder site init NAME'.",
  );
}
