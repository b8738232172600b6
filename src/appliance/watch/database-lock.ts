// Watches whether changes get access to the database. While another program locks it, every change is refused with 503,
// and the health check fails for load balancers.
import type { OpenDatabase } from '#data/records.ts';
import { seconds } from '#domain/clock.ts';
import type { FactsOf } from '#platform/faults.ts';
import type { Health } from '#platform/health.ts';
import type { ApplianceParts } from '../parts.ts';

/** A change waits five seconds before it is refused; with this interval a lock shows within seven seconds. */
const intervalMs = seconds(2);

interface LockOptions {
  database: Pick<OpenDatabase, 'isFree' | 'server'>;
  health: Pick<Health, 'report'>;
}

/** Tries at an interval until it is stopped; `isFree` gives the last result. */
export async function watchLock(
  parts: ApplianceParts,
  { database, health }: LockOptions,
): Promise<{ isFree: () => boolean }> {
  let isFree = true;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const look = async (): Promise<void> => {
    isFree = await database.isFree();
    health.report('database-held', isFree ? undefined : await factsOf(database));
    next();
  };
  const next = (): void => {
    if (!isOver) timer = setTimeout(() => void look(), intervalMs).unref();
  };
  await parts.start('lock of the database', next, () => {
    isOver = true;
    clearTimeout(timer);
  });
  return { isFree: () => isFree };
}

/** A database server can name the holder of its lock; a file cannot. */
async function factsOf({ server }: Pick<OpenDatabase, 'server'>): Promise<FactsOf<'database-held'>> {
  const holder = await server?.lockHolder().catch(() => undefined);
  if (holder === undefined) return {};
  const { role, application, isOwnRole } = holder;
  return {
    holder: `the role '${role}'${application === '' ? '' : `, by '${application.slice(0, 60)}'`}`,
    remedy: isOwnRole
      ? 'End that session on the server if it does not end by itself.'
      : 'End that session on the server, and REVOKE CONNECT ON DATABASE … FROM PUBLIC there, so that no other role can do this.',
  };
}
