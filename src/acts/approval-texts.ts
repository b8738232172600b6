// What those sign who approve of what is proposed here.
import { approvalText, type Proposed } from '#domain/approval-text.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Changes, Records } from '#records/index.ts';
import { siteNameKept } from './sites.ts';

type Read = Pick<Records, 'appliance'> | Pick<Changes, 'appliance'>;

/** The text of a proposal; refuses where the store has no name that would keep it apart from others. */
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
