// All acts of the store, for the documents and the tests. A generated list names them.
import type { Act } from './act.ts';
import { declared } from './declared.ts';

/** By subject, as the documents show them. */
export const actsBySubject: Readonly<Record<string, readonly Act<never, unknown>[]>> = declared;

export const everyAct: readonly Act<never, unknown>[] = Object.values(actsBySubject).flat();
