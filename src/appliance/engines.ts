// Watches the engines on other hosts, such as a database server or a bucket. If one of them does not answer, or its
// clock differs from this host's, the health check fails, and load balancers send no requests here.
import { seconds, type Now } from '#domain/clock.ts';
import type { Health } from '#src/health.ts';
import type { Parts } from './parts.ts';

export interface Engine {
  /** The name in sentences, such as 'The database'. */
  name: string;
  /** The row of 'larder doctor' for it. */
  about: string;
  /** The time of the engine; fails within a few seconds if it does not answer. */
  clock(): Promise<Date>;
  /** Why the clock could not be read, if more is known. */
  whyNot?(error: unknown): string;
  /** The problem of an engine that answers but fails some requests. */
  trouble?(): string | undefined;
}

export interface Engines {
  /** Whether all engines answer and agree with the clock of this host. */
  areWell(): boolean;
}

/** How often each engine is asked. With the timeout of a request, a failure shows within seven seconds. */
const every = seconds(1);

/** The maximum difference to the clock of an engine; two hosts then differ by at most twice that: five seconds. */
const mostApart = seconds(2.5);

/** Checks the engines now, and at an interval until it is stopped. */
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

/** The state of an engine: away, or its clock differs. */
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
  // The engine read its clock at some moment between the two.
  const apart = there < asked ? there - asked : Math.max(0, there - answered);
  if (Math.abs(apart) <= mostApart) return { well: true };
  return { apart };
}

/**
 * The offset that is shown: an engine with a clock in whole seconds gives a slightly different offset each time, and
 * all places must show the same.
 */
const steadyOffset = (shown: number | undefined, found: number): number =>
  shown !== undefined && Math.abs(found - shown) < seconds(2) ? shown : found;

const offsetText = (milliseconds: number): string =>
  `${(Math.abs(milliseconds) / seconds(1)).toFixed(1)} seconds ${milliseconds > 0 ? 'behind' : 'ahead of'}`;
