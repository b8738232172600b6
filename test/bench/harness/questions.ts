// What `reads` asks: the requests that the table of operations states for each GET.
import { operationTable } from '#test/operation-table/index.ts';
import type { Read, Visit } from '#test/operation-table/reads.ts';
import type { World } from './measured.ts';

export type Question = Omit<Read, 'as'> & { operation: string };

export const questions = (world: World, visit: Visit): Question[] =>
  Array.from(operationTable).flatMap(([operation, { reads }]) =>
    (reads?.(world, visit) ?? []).map(({ as, headers, ...read }) => ({
      operation,
      ...read,
      headers: { ...(as !== undefined && { authorization: `Macaroon ${world.tokens[as]}` }), ...headers },
    })),
  );
