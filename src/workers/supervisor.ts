// Supervises several processes of one host that serve a store together. The supervisor holds the data directory and
// starts the workers; it distributes connections to them in turn, forwards signals, and replaces workers that end. It
// serves nothing and keeps nothing outside of the records, so a worker that dies loses only the requests that it had.
import cluster from 'node:cluster';
import { randomBytes } from '#domain/cryptography.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { Logger } from 'pino';

import type { ApplianceOptions } from '#appliance/options.ts';
import { rereadSettings, describeConfigurationError } from '#appliance/reload.ts';
import { settingsOf } from '#appliance/settings.ts';
import { lockFile, lockToServe } from '#data/lock.ts';
import { watchLostFiles } from '#platform/lost-files.ts';
import { mergeServingStates, type ConfigurationState, type ServingState } from '#data/serving-state.ts';
import { removeState, writeState } from '#data/state-file.ts';
import { seconds } from '#domain/clock.ts';
import { documentsAt } from '#operations/store/documents.ts';
import { configDigest, readConfig, type Config } from '#configuration/config.ts';
import { programAgain } from '#platform/embedded.ts';
import { describeFault, textOf, type Fault } from '#platform/faults.ts';
import { changeLog } from '#platform/health.ts';
import { createLog, isForPeople } from '#platform/log.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import { version } from '#platform/version.ts';
import { startWatchdog } from '#platform/watchdog.ts';
import { createReplyCollector } from './reply-collector.ts';
import { createRestartPolicy } from './restart-policy.ts';
import { WorkerSlot } from './worker-slot.ts';

export interface SupervisorOptions extends Pick<
  ApplianceOptions,
  'directory' | 'credentials' | 'listen' | 'logFormat'
> {
  /**
   * Called with the reason when the store can no longer be served, for example when no worker can start. The process
   * must exit at once with this error.
   */
  fatal: (error: Error) => void;
  /** Limits that replace the supervisor's own; for tests. */
  hangLimits?: { intervalMs: number; maxUnanswered: number };
}

/** The running workers, with the interface of an appliance. */
export interface SupervisedWorkers {
  log: Logger;
  reload(): void;
  stop(): Promise<void>;
}

/** How often the state of the workers is collected and sent to the others. */
const interval = seconds(10);
/** A worker that leaves this many requests in succession unanswered hangs, and is replaced. */
const maxSilentRequests = 12;

/** Starts the configured number of workers; resolves when all of them serve. */
export async function superviseWorkers(options: SupervisorOptions): Promise<SupervisedWorkers> {
  if (!existsSync('/proc/self/stat')) {
    throw new Error(
      'http.workers is more than 1, and workers find out by /proc which of them live: mount it, or set 1',
    );
  }
  const lock = await lockToServe(options.directory);
  const supervisor = new Supervisor(options);
  try {
    await supervisor.start();
  } catch (error) {
    supervisor.killAll();
    lock.close();
    throw error;
  }
  const { directory, fatal } = options;
  const watch = watchLostFiles(directory, { names: [lockFile], fatal });
  const watchdog = startWatchdog(supervisor);
  return {
    log: supervisor.log,
    reload: () => supervisor.reload(),
    async stop() {
      watch.stop();
      watchdog?.stop();
      await supervisor.stop();
      removeState(directory);
      lock.close();
    },
  };
}

class Supervisor {
  readonly log: Logger;
  /** Whether the log is text for people. */
  readonly asText: boolean;
  readonly #options: SupervisorOptions;
  readonly #startedWith: Config;
  readonly #places: WorkerSlot[];
  readonly #patience: ReturnType<typeof createRestartPolicy>;
  readonly #gathering: ReturnType<typeof createReplyCollector>;
  readonly #changes: ReturnType<typeof changeLog>;
  readonly #since = new Date().toISOString();
  readonly #secret = randomBytes(24).toString('hex');
  #refused: string | undefined;
  readonly #whenEmpty = Promise.withResolvers<undefined>();
  readonly #restarts = new Set<NodeJS.Timeout>();
  #telling: NodeJS.Timeout | undefined;
  #url = '';
  #ended = 0;
  #isStopping = false;
  /** The configuration file that was read last. */
  #configuration: ConfigurationState;
  /** Pending first starts: each resolves when the worker serves, or rejects with the reason. */
  readonly #starting = new Map<WorkerSlot, PromiseWithResolvers<undefined>>();

  constructor(options: SupervisorOptions) {
    this.#options = options;
    const file = join(options.directory, 'larder.toml');
    this.#configuration = { sha256: configDigest(file) };
    const config = readConfig(file);
    this.#startedWith = config;
    const size = config.http.workers;
    this.asText = isForPeople(options.logFormat ?? config.log.format, process.stderr.isTTY);
    this.log = createLog(config.log.level, { asText: () => this.asText, others: true });
    this.#changes = changeLog(this.log);
    this.#patience = createRestartPolicy(size);
    this.#places = Array.from({ length: size }, (_, at) => this.#placeOf(at + 1));
    this.#gathering = createReplyCollector(this.#places, () => this.#own());
    const { directory, listen } = options;
    cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.setupPrimary({
      ...programAgain([
        ...(['serve', '--data', directory, '--log-format', this.asText ? 'text' : 'json'] as const),
        ...(listen === undefined ? [] : ['--listen', listen]),
      ]),
      serialization: 'advanced',
      // The first two streams are unused; `ignore` would need a /dev/null.
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    });
  }

  /** Starts the first worker alone, because it migrates the store and clears up leftovers; then all the others. */
  async start(): Promise<void> {
    const [first, ...others] = this.#places as [WorkerSlot, ...WorkerSlot[]];
    await this.#startIn(first, true);
    await Promise.all(others.map((place) => this.#startIn(place, false)));
    this.#telling = setInterval(() => void this.#tellState(), this.#options.hangLimits?.intervalMs ?? interval);
    await this.#tellState();
    const { directory, credentials } = this.#options;
    const sealed = settingsOf(this.#startedWith, directory, credentials).masterKey === undefined;
    const documents = documentsAt(this.#startedWith);
    const about = { url: this.#url, documents, directory, version, sealed, workers: this.#places.length };
    this.log.info(about, 'serving');
  }

  /** Tells all workers to reload after checking that the new configuration can be used. */
  reload(): void {
    const sha256 = configDigest(join(this.#options.directory, 'larder.toml'));
    try {
      this.log.level = rereadSettings(this.#options).config.log.level;
      this.#refused = undefined;
      for (const place of this.#places) place.tell({ order: 'reload' });
      this.#configuration = { sha256 };
    } catch (error) {
      this.#refused = describeConfigurationError(error, this.#options);
      this.#configuration = { sha256, problem: inOneSentence(error) };
      throw error;
    } finally {
      // Each worker carries out the reload before it answers.
      void this.#tellState();
    }
  }

  async stop(): Promise<void> {
    this.log.info('stopping');
    this.#isStopping = true;
    clearInterval(this.#telling);
    for (const restart of this.#restarts) clearTimeout(restart);
    for (const place of this.#places) place.tell({ order: 'stop' });
    this.#lookWhetherEmpty();
    await this.#whenEmpty.promise;
    this.log.info('stopped');
    this.log.flush();
  }

  killAll(): void {
    this.#isStopping = true;
    clearInterval(this.#telling);
    for (const place of this.#places) place.kill();
  }

  #placeOf(number: number): WorkerSlot {
    const place: WorkerSlot = new WorkerSlot(number, {
      serves: (url) => {
        this.#url ||= url;
        this.#starting.get(place)?.resolve(undefined);
        if (this.#isStopping) place.tell({ order: 'stop' });
        else void this.#tellState();
      },
      failed: (problem, isFatal) => this.#failed(place, problem, isFatal),
      renewed: () => {
        for (const other of this.#places) if (other !== place) other.tell({ order: 'renew' });
      },
      asks: (ask, kind, own) => {
        void this.#gathering
          .gather(place, kind, own)
          .then((answers) => place.tell({ order: 'answered', ask, answers }));
      },
      ended: (how) => this.#endedIn(place, how),
    });
    return place;
  }

  async #startIn(place: WorkerSlot, begins: boolean): Promise<void> {
    const started = Promise.withResolvers<undefined>();
    this.#starting.set(place, started);
    this.#begin(place, begins);
    await started.promise;
    this.#starting.delete(place);
  }

  /** The worker in the first place does the work that only one process does. */
  #begin(place: WorkerSlot, begins: boolean): void {
    const [size, keeps] = [this.#places.length, place === this.#places[0]];
    place.begin({ size, begins, keeps, secret: this.#secret, ended: this.#ended });
  }

  #failed({ number }: WorkerSlot, problem: string, isFatal: boolean): void {
    const starting = [...this.#starting.values()];
    if (isFatal) this.#options.fatal(new Error(problem));
    else if (starting.length > 0) for (const start of starting) start.reject(new Error(problem));
    else this.log.error({ worker: number, problem }, 'a worker cannot serve');
  }

  #endedIn(
    place: WorkerSlot,
    { code, signal, served }: { code: number | null; signal: string | null; served: number },
  ): void {
    void this.#gathering.ended(place);
    if (this.#isStopping) {
      if (code !== 0) this.log.error({ worker: place.number, code, signal }, 'a worker did not stop in order');
      this.#lookWhetherEmpty();
      return;
    }
    this.#ended++;
    const how = signal === null ? `with exit code ${String(code)}` : `by ${signal}`;
    const first = this.#starting.get(place);
    if (first !== undefined) {
      // The messages of the worker arrive before this event.
      first.reject(new Error(`a worker ended ${how} before it served; the log says why`));
      return;
    }
    const pause = this.#patience.ended(served);
    if (pause === undefined) {
      this.log.error({ worker: place.number, code, signal }, 'no worker serves for long; the store ends');
      this.#options.fatal(new Error(`no worker serves for long: the last one ended ${how}; the log says why`));
      return;
    }
    this.log.error({ worker: place.number, code, signal, pause }, 'a worker has ended; another one takes its place');
    const restart = setTimeout(() => {
      this.#restarts.delete(restart);
      this.#begin(place, false);
    }, pause);
    this.#restarts.add(restart);
    void this.#tellState();
  }

  #lookWhetherEmpty(): void {
    if (!this.#places.some(({ isTaken }) => isTaken)) this.#whenEmpty.resolve(undefined);
  }

  /**
   * Collects the state of each worker, sends each the state of the others, and writes the state of all for commands on
   * the host.
   */
  async #tellState(): Promise<void> {
    // Log the supervisor's own faults before waiting for a worker that hangs.
    this.#own();
    const states = await Promise.all(this.#places.map(async (place) => ({ place, state: await place.ask('state') })));
    if (this.#isStopping) return;
    const own = this.#own();
    const but = (left?: WorkerSlot): ServingState =>
      mergeServingStates([
        own,
        ...states.flatMap(({ place, state }) => (state === undefined || place === left ? [] : [state])),
      ]);
    for (const place of this.#places) {
      place.tell({ order: 'others', others: but(place) });
      if (place.unanswered < (this.#options.hangLimits?.maxUnanswered ?? maxSilentRequests)) continue;
      this.log.error({ worker: place.number }, 'a worker does not answer any more; it is killed');
      place.kill();
    }
    writeState(this.#options.directory, { ...but(), secret: this.#secret });
  }

  /** The faults of the workers together, and of the last reload. */
  #faults(workers: { serving: number; wanted: number }): Fault[] {
    const faults: Fault[] = [];
    if (workers.serving < workers.wanted) {
      const code = this.#patience.inSuccession() > 2 ? 'workers-end' : 'few-workers';
      faults.push(describeFault(code, workers));
    }
    if (this.#refused !== undefined) faults.push(describeFault('configuration-refused', { because: this.#refused }));
    if (!this.#isStopping && this.#telling !== undefined) this.#changes.tell('workers', faults);
    return faults;
  }

  /** The state of the supervisor itself. */
  #own(): ServingState {
    const each = this.#places.flatMap(({ serving }) => serving ?? []);
    const configured = this.#places.length;
    const faults = this.#faults({ serving: each.length, wanted: configured });
    return {
      pid: process.pid,
      url: this.#url,
      version,
      since: this.#since,
      level: this.log.level,
      sealed: false,
      certificate: undefined,
      problems: faults.filter(({ severity }) => severity === 'problem').map(textOf),
      notices: faults.filter(({ severity }) => severity === 'notice').map(textOf),
      faults,
      jobs: [],
      configuration: this.#configuration,
      scrub: { blobs: 0, bytes: 0, damaged: 0, roundEnded: undefined },
      workers: { wanted: configured, serving: each.length, ended: this.#ended, each },
    };
  }
}
