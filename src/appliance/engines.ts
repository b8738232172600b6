// The engines on other machines that this host works with. While one of them does not answer, or this host tells the time otherwise
// than they do, it says so where load balancers look, and they send nobody here.
import { seconds, type Now } from '#domain/clock.ts';
import type { Health } from '#src/health.ts';
import type { Parts } from './parts.ts';

export interface Engine {
  /** What people call it, as in 'The database'. */
  name: string;
  /** What time it is there; fails within a few seconds where it does not answer. */
  clock(): Promise<Date>;
  /** Why it did not tell, where more is known than that it did not. */
  whyNot?(error: unknown): string;
  /** What is wrong while it answers: some of what it is asked for it does not do. */
  trouble?(): string | undefined;
}

export interface Engines {
  /** Whether all of them answer, and have the time of this host. */
  areWell(): boolean;
}

/** How often each of them is asked. With the time that it takes to give one up, a host is out within five seconds. */
const every = seconds(1);

/** Two hosts that are so far from their engine are at most twice as far from each other: five seconds. */
const mostApart = seconds(2.5);

/** Asks them now, and again and again until it is stopped. */
export async function watchEngines(
  parts: Parts,
  engines: readonly Engine[],
  { health, clock = () => new Date() }: { health: Health; clock?: Now },
): Promise<Engines> {
  const problems = new Map<Engine, string>();
  const look = async (engine: Engine): Promise<void> => {
    const problem = await problemOf(engine, clock);
    if (problem === undefined) problems.delete(engine);
    else problems.set(engine, problem);
    health.report(`engine: ${engine.name}`, problem);
    health.report(`trouble: ${engine.name}`, engine.trouble?.());
  };
  if (engines.length === 0) return { areWell: () => true };
  const stopped = new AbortController();
  const keepLooking = (engine: Engine): void => {
    const timer = setTimeout(
      () => void look(engine).finally(() => stopped.signal.aborted || keepLooking(engine)),
      every,
    );
    stopped.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    timer.unref();
  };
  await parts.start(
    'engines',
    async () => {
      await Promise.all(engines.map(look));
      engines.forEach(keepLooking);
    },
    () => stopped.abort(),
  );
  return { areWell: () => problems.size === 0 };
}

async function problemOf(engine: Engine, clock: Now): Promise<string | undefined> {
  const { name } = engine;
  const asked = clock().getTime();
  let there: number;
  try {
    there = (await engine.clock()).getTime();
  } catch (error) {
    const why = engine.whyNot === undefined ? '' : ` (${engine.whyNot(error)})`;
    return `${name} does not answer as it should${why}: until it does, what needs it is refused, and this host asks its load balancer for nothing. Look whether it runs, and what it says.`;
  }
  const answered = clock().getTime();
  // Whenever between the two it was asked.
  const apart = there < asked ? there - asked : Math.max(0, there - answered);
  if (Math.abs(apart) <= mostApart) return undefined;
  const off = `${(Math.abs(apart) / seconds(1)).toFixed(1)} seconds ${apart > 0 ? 'behind' : 'ahead of'}`;
  return (
    `The clock of this host is ${off} that of ${name.charAt(0).toLowerCase()}${name.slice(1)}: set both by the same time server ` +
    `(NTP); until then this host asks its load balancer for nothing.`
  );
}
