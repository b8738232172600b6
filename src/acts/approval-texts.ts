// The text that approvers of a proposal sign.
import { approvalText, type Proposed } from '#domain/approval-text.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Changes, Records } from '#records/index.ts';
import { siteNameKept } from './sites.ts';

type Read = Pick<Records, 'appliance'> | Pick<Changes, 'appliance'>;

/** Returns the text of a proposal. Refused if the store has no name, because the text names the store. */
export const textToSign = async (records: Read, proposal: Proposed): Promise<string> =>
  approvalText(await nameToSign(records), proposal);

export async function nameToSign({ appliance }: Read): Promise<string> {
  const name = await appliance.find(siteNameKept);
  if (name !== undefined) return name;
  throw new Refusal(
    'conflict',
    "What is signed names this store, and it has no name yet; 'larder site init NAME' gives it one.",
  );
}
