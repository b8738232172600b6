// Watches the engines on other hosts, such as a database server or a bucket. If one of them does not answer, or its
// clock differs from this host's, the health check fails, and load balancers send no requests here.
import { maxHostClockDifferenceMs, seconds, type Now } from '#domain/clock.ts';
import type { Health } from '#platform/health.ts';
import type { ApplianceParts } from '../parts.ts';

export interface RemoteEngine {
  /** The name in sentences, such as 'The database'. */
  name: string;
  /** The title of the row of this engine in 'larder doctor'. */
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
const checkIntervalMs = seconds(1);

/** The maximum difference to the clock of an engine. */
const maxClockOffsetMs = maxHostClockDifferenceMs / 2;

/** Checks the engines now, and at an interval until it is stopped. */
export async function watchEngines(
  parts: ApplianceParts,
  engines: readonly RemoteEngine[],
  { health, clock = () => new Date() }: { health: Health; clock?: Now },
): Promise<Engines> {
  const unwell = new Set<RemoteEngine>();
  const offsets = new Map<RemoteEngine, number>();
  const look = async (engine: RemoteEngine): Promise<void> => {
    const state = await readEngineState(engine, clock);
    const off = 'apart' in state ? steadyOffset(offsets.get(engine), state.apart) : undefined;
    if (off === undefined) offsets.delete(engine);
    else offsets.set(engine, off);
    if ('away' in state || 'apart' in state) unwell.add(engine);
    else unwell.delete(engine);
    const about = { engine: engine.name, about: engine.about };
    health.report('engine-away', 'away' in state ? { ...about, ...state.away } : undefined, engine.name);
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
  const keepLooking = (engine: RemoteEngine): void => {
    const timer = setTimeout(
      () => void look(engine).finally(() => stopped.signal.aborted || keepLooking(engine)),
      checkIntervalMs,
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

async function readEngineState(engine: RemoteEngine, clock: Now): Promise<EngineState> {
  const requestedAt = clock().getTime();
  let engineTime: number;
  try {
    engineTime = (await engine.clock()).getTime();
  } catch (error) {
    return { away: engine.whyNot === undefined ? {} : { why: engine.whyNot(error) } };
  }
  const answered = clock().getTime();
  // The engine read its clock at some moment between the two.
  const apart = engineTime < requestedAt ? engineTime - requestedAt : Math.max(0, engineTime - answered);
  if (Math.abs(apart) <= maxClockOffsetMs) return { well: true };
  return { apart };
}

/**
 * The offset that is shown: an engine with a clock in whole seconds gives a slightly different offset each time, and
 * all places must show the same.
 */
const steadyOffset = (shown: number | undefined, offset: number): number =>
  shown !== undefined && Math.abs(offset - shown) < seconds(2) ? shown : offset;

const offsetText = (milliseconds: number): string =>
  `${(Math.abs(milliseconds) / seconds(1)).toFixed(1)} seconds ${milliseconds > 0 ? 'behind' : 'ahead of'}`;
