// Reads which snap revisions and components validation sets name. A device may fetch such a revision by number, even if no channel
// holds it.
import { parseAssertion, type Assertion } from '#assertions/format/assertion.ts';
import { series } from '#assertions/format/types.ts';
import type { HandlerRecords } from '#http/handler-records.ts';

/** Whether one of the given validation sets names this revision of a snap. Sets that are not stored here are ignored. */
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

/** Whether any validation set stored here names this revision. */
export const isPinned = async (
  snapId: string,
  revision: number,
  { assertions }: Pick<HandlerRecords, 'assertions'>,
): Promise<boolean> => anyNames(await assertions.setsNaming(snapId), snapId, revision);

const anyNames = (sets: readonly { text: string }[], snapId: string, revision: number): boolean =>
  sets.some(({ text }) => pinsIn(parseAssertion(text)).includes(`${snapId} ${revision}`));

/** The snaps that a set pins, each as "SNAP-ID REVISION". */
const pinsIn = (set: Assertion): string[] =>
  snapsIn(set).flatMap(({ id, revision }) =>
    typeof id === 'string' && typeof revision === 'string' ? [`${id} ${revision}`] : [],
  );

/** The components that stored validation sets name for a revision of a snap, with the required revision of each. */
export async function pinnedComponents(
  snapId: string,
  revision: number,
  { assertions }: Pick<HandlerRecords, 'assertions'>,
): Promise<{ name: string; revision: number }[]> {
  return (await componentPins(snapId, assertions)).filter(({ ofSnap }) => ofSnap === String(revision));
}

/** Whether a stored validation set names this revision of a component. */
export const isPinnedComponent = async (
  snapId: string,
  name: string,
  revision: number,
  { assertions }: Pick<HandlerRecords, 'assertions'>,
): Promise<boolean> =>
  (await componentPins(snapId, assertions)).some((pin) => pin.name === name && pin.revision === revision);

interface ComponentPin {
  name: string;
  revision: number;
  /** The revision of the snap. */
  ofSnap: string;
}

async function componentPins(snapId: string, assertions: HandlerRecords['assertions']): Promise<ComponentPin[]> {
  const sets = await assertions.setsNaming(snapId);
  return sets.flatMap(({ text }) =>
    snapsIn(parseAssertion(text)).flatMap(({ id, revision: ofSnap, components }) => {
      if (id !== snapId || typeof ofSnap !== 'string' || typeof components !== 'object') return [];
      return Object.entries(components as object).flatMap(([name, component]: [string, unknown]) => {
        const { revision } = (component ?? {}) as { revision?: unknown };
        return typeof revision === 'string' ? [{ name, revision: Number(revision), ofSnap }] : [];
      });
    }),
  );
}

function snapsIn({ headers: { snaps } }: Assertion): Record<string, unknown>[] {
  if (!Array.isArray(snaps)) return [];
  return snaps.filter((snap) => typeof snap === 'object' && !Array.isArray(snap)) as Record<string, unknown>[];
}
