// The row of an operation in the table that is written by hand.
import type { CallSubject } from '#access/access-rules.ts';
import type { Permission } from '#domain/tokens/permission.ts';
import type { Reads } from './reads.ts';
import type { Writes } from './writes.ts';

export type Callers =
  | 'anyone'
  | 'any account'
  | 'publisher'
  | 'publisher, collaborator'
  | 'brand administrator'
  | 'store administrator'
  /** Credentials that belong to no account, as those of an image registry. Tests of these operations say who is admitted. */
  | 'other credentials';

export interface OperationRow {
  /** The subject of a call. It decides how far a narrowed token reaches: `test/access/token-scope.test.ts`. */
  about: CallSubject;
  /** The admitted callers: `test/access/permission-table.test.ts`. */
  callers: Callers;
  /** The token needs any one of these permissions; absent if no permission is needed. */
  needs?: Permission[];
  /** The permission that admits a store administrator who has no role in the package. */
  administrator?: 'store-view' | 'store-manage';
  /** Each GET has this: the requests that `npm run bench -- reads` measures. */
  reads?: Reads;
  /** Each writing operation outside the publisher interface has this: `test/journeys/twice-and-killed.long.test.ts`. */
  writes?: Writes;
}

export type OperationRows = Record<string, OperationRow>;
