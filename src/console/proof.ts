// The result of the last proof of the records.
import { recordsProven, type ProofOfRecords } from '#acts/integrity.ts';
import type { HandlerRecords } from '#api/handler-records.ts';

/** Undefined before the first proof. */
export async function provenIn({ appliance }: Pick<HandlerRecords, 'appliance'>): Promise<ProofOfRecords | undefined> {
  const text = await appliance.find(recordsProven);
  return text === undefined ? undefined : (JSON.parse(text) as ProofOfRecords);
}
