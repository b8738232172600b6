// The counters of all connections of this process to PostgreSQL.
import type { PoolFigures } from '../database.ts';

export type PostgresCounts = Pick<PoolFigures, 'queries' | 'retries' | 'lost'>;

export const newCounts = (): PostgresCounts => ({ queries: 0, retries: 0, lost: 0 });
