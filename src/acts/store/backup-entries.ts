// The entries of the audit log that backups and drills make themselves. A store with no others since a backup has not changed.
import type { StoreRecords } from '#records/index.ts';
import { wordsOfAct } from '../audit-words.ts';
import { failBackup, failDrill, makeBackup, recordDrill } from './appliance.ts';

const words = [makeBackup, failBackup, recordDrill, failDrill].flatMap(({ name }) => wordsOfAct(name));

export const isBackupEntry = ({ action }: { action: string }): boolean => words.includes(action);

/** More entries in a row than backups make between two increments. */
const maxEntries = 100;

/** Whether the audit log has no other entries after this one. */
export async function hasOnlyBackupEntries({ audit }: Pick<StoreRecords, 'audit'>, seq: number): Promise<boolean> {
  const later = await audit.list(seq, maxEntries);
  return later.length < maxEntries && later.every(isBackupEntry);
}
