// The engines on other machines that this host works with. While one of them does not answer, or this host tells the time otherwise
// than they do, it says so where load balancers look, and they send nobody here.
import { seconds, type Now } from '#domain/clock.ts';
import type { Health } from '#src/health.ts';
import type { Parts } from './parts.ts';

export interface Engine {
  /** What people call it, as in 'The database'. */
  name: string;
  /** The row of 'larder doctor' that is about it. */
  about: string;
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

/** How often each of them is asked. With the time that it takes to give one up, a host is out within seven seconds. */
const every = seconds(1);

/** Two hosts that are so far from their engine are at most twice as far from each other: five seconds. */
const mostApart = seconds(2.5);

/** Asks them now, and again and again until it is stopped. */
export async function watchEngines(
  parts: Parts,
  engines: readonly Engine[],
  { health, clock = () => new Date() }: { health: Health; clock?: Now },
): Promise<Engines> {
  const unwell = new Set<Engine>();
  const offsets = new Map<Engine, number>();
  const look = async (engine: Engine): Promise<void> => {
    const found = await lookAt(engine, clock);
    const off = 'apart' in found ? steadyOffset(offsets.get(engine), found.apart) : undefined;
    if (off === undefined) offsets.delete(engine);
    else offsets.set(engine, off);
    if ('away' in found || 'apart' in found) unwell.add(engine);
    else unwell.delete(engine);
    const about = { engine: engine.name, about: engine.about };
    health.report('engine-away', 'away' in found ? { ...about, ...found.away } : undefined, engine.name);
    health.report(
      'engine-clock',
      off === undefined ? undefined : { ...about, off: offsetText(off), about: 'Clock' },
      engine.name,
    );
    const trouble = engine.trouble?.();
    health.report('engine-trouble', trouble === undefined ? undefined : { ...about, because: trouble }, engine.name);
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
  return { areWell: () => unwell.size === 0 };
}

/** How an engine is: away, or with another time than this host. */
type EngineState = { away: { why?: string } } | { apart: number } | { well: true };

async function lookAt(engine: Engine, clock: Now): Promise<EngineState> {
  const asked = clock().getTime();
  let there: number;
  try {
    there = (await engine.clock()).getTime();
  } catch (error) {
    return { away: engine.whyNot === undefined ? {} : { why: engine.whyNot(error) } };
  }
  const answered = clock().getTime();
  // Whenever between the two it was asked.
  const apart = there < asked ? there - asked : Math.max(0, there - answered);
  if (Math.abs(apart) <= mostApart) return { well: true };
  return { apart };
}

/** The offset that is shown: an engine that tells the time in whole seconds is a little further off each time, and no place says another. */
const steadyOffset = (shown: number | undefined, found: number): number =>
  shown !== undefined && Math.abs(found - shown) < seconds(2) ? shown : found;

const offsetText = (milliseconds: number): string =>
  `${(Math.abs(milliseconds) / seconds(1)).toFixed(1)} seconds ${milliseconds > 0 ? 'behind' : 'ahead of'}`;
