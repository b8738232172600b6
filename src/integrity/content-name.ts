// Describes content in a person's words.
import type { StoreRecords } from '#records/index.ts';

/** How many packages that need the same content are named. */
const maxNames = 3;

/** Returns the packages, with their revisions, that need this content; if there are none, the beginning of its digest. */
export async function contentName(records: Pick<StoreRecords, 'neededContents'>, sha3_384: string): Promise<string> {
  const owners = await records.neededContents.neededBy(sha3_384, maxNames);
  return owners.length === 0 ? `the blob ${sha3_384.slice(0, 12)}…` : owners.join(', ');
}

/** The same with the accounts that pushed it. Only for people on the host, because /readyz is public. */
export async function contentAndPusher(
  records: Pick<StoreRecords, 'neededContents'>,
  sha3_384: string,
): Promise<string> {
  const pushers = await records.neededContents.pushersOf(sha3_384, maxNames);
  const name = await contentName(records, sha3_384);
  return pushers.length === 0 ? name : `${name} (pushed by ${pushers.join(', ')})`;
}
