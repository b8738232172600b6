// What validation sets name: a revision that one of them asks for may be fetched by its number, whatever channels hold.
import { parseAssertion, type Assertion } from '#assertions/assertion.ts';
import { series } from '#assertions/types.ts';
import type { HandlerRecords } from '#api/handler-records.ts';

/** Whether one of these sets, as far as they are kept here, names this revision of a snap. */
export async function isPinnedBy(
  sets: readonly (readonly string[])[],
  snapId: string,
  revision: number,
  { assertions }: Pick<HandlerRecords, 'assertions'>,
): Promise<boolean> {
  const names = sets.flatMap(([itsSeries, account, name, sequence]) =>
    itsSeries === series && sequence !== undefined ? [`validation-set/${series}/${account}/${name}/${sequence}`] : [],
  );
  return anyNames(await assertions.listOf(names), snapId, revision);
}

/** The same of any set that is kept here. */
export const isPinned = async (
  snapId: string,
  revision: number,
  { assertions }: Pick<HandlerRecords, 'assertions'>,
): Promise<boolean> => anyNames(await assertions.setsNaming(snapId), snapId, revision);

const anyNames = (sets: readonly { text: string }[], snapId: string, revision: number): boolean =>
  sets.some(({ text }) => pinsIn(parseAssertion(text)).includes(`${snapId} ${revision}`));

/** Each as its snap's id and the number. */
function pinsIn({ headers: { snaps } }: Assertion): string[] {
  if (!Array.isArray(snaps)) return [];
  return snaps.flatMap((snap) => {
    if (typeof snap !== 'object' || Array.isArray(snap)) return [];
    const { id, revision } = snap as { id?: unknown; revision?: unknown };
    return typeof id === 'string' && typeof revision === 'string' ? [`${id} ${revision}`] : [];
  });
}
