// The result of the last proof of the records.
import { recordsCheckSetting, type RecordsCheckResult } from '#acts/store/integrity.ts';
import type { HandlerRecords } from '#http/handler-records.ts';

/** Undefined before the first proof. */
export async function readRecordsProof({
  appliance,
}: Pick<HandlerRecords, 'appliance'>): Promise<RecordsCheckResult | undefined> {
  const text = await appliance.find(recordsCheckSetting);
  return text === undefined ? undefined : (JSON.parse(text) as RecordsCheckResult);
}
