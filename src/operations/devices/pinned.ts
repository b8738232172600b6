// What validation sets name: a revision that one of them asks for may be fetched by its number, whatever channels hold.
import { parseAssertion, type Assertion } from '#assertions/assertion.ts';
import { series } from '#assertions/types.ts';
import type { HandlerRecords } from '#api/handler-records.ts';

/** Whether one of these sets, as far as they are kept here, names this revision of a snap. */
export async function pinsOf(
  sets: readonly (readonly string[])[],
  { assertions }: Pick<HandlerRecords, 'assertions'>,
): Promise<(snapId: string, revision: number) => boolean> {
  const names = sets
    .filter(([itsSeries]) => itsSeries === series)
    .map(([, account, name, sequence]) => ({ account, name, sequence }));
  const kept = await assertions.listOf(
    names
      .filter(({ sequence }) => sequence !== undefined)
      .map(({ account, name, sequence }) => `validation-set/${series}/${account}/${name}/${sequence}`),
  );
  const pins = new Set(kept.flatMap(({ text }) => pinsIn(parseAssertion(text))));
  return (snapId, revision) => pins.has(`${snapId} ${revision}`);
}

/** Whether any set that is kept here names it. */
export async function isPinned(
  snapId: string,
  revision: number,
  { assertions }: Pick<HandlerRecords, 'assertions'>,
): Promise<boolean> {
  const kept = await assertions.setsNaming(snapId);
  return kept.some(({ text }) => pinsIn(parseAssertion(text)).includes(`${snapId} ${revision}`));
}

/** Each as its snap's id and the number. */
function pinsIn({ headers: { snaps } }: Assertion): string[] {
  if (!Array.isArray(snaps)) return [];
  return snaps.flatMap((snap) => {
    if (typeof snap !== 'object' || Array.isArray(snap)) return [];
    const { id, revision } = snap as { id?: unknown; revision?: unknown };
    return typeof id === 'string' && typeof revision === 'string' ? [`${id} ${revision}`] : [];
  });
}
