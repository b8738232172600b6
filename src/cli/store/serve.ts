// larder serve
import { join } from 'node:path';

import { startAppliance, type Appliance } from '#appliance/appliance.ts';
import { describeConfigurationError } from '#appliance/reload.ts';
import { DataDirectoryInUse } from '#data/lock.ts';
import { forgetStartFailure, keepStartFailure } from '#data/start-failure.ts';
import { openingFault } from '#examinations/opening-fault.ts';
import { ConfigError, readConfig } from '#configuration/config.ts';
import { isListenAddress } from '#configuration/check.ts';
import { textOf } from '#platform/faults.ts';
import type { LogFormat } from '#platform/log.ts';
import { workerVariable } from '#workers/messages.ts';
import type { SupervisorOptions } from '#workers/supervisor.ts';
import { command, dataInUse, Failure, UsageError, type World } from '../frame/command.ts';
import { becomeOwner } from '../frame/owner.ts';
import { refuseWithoutDatabase } from '../frame/store.ts';

/** Milliseconds. A program that forwards signals, such as npm, delivers one Ctrl-C twice; a person takes longer between two. */
const sameKeystroke = 500;

export const serve = command({
  name: 'serve',
  summary: 'Serve the store of a data directory.',
  description:
    'Serves until SIGTERM or SIGINT (Ctrl-C), then finishes the requests under way; a second signal ends it at once. ' +
    'SIGHUP makes it read its configuration again. The log goes to the standard error, a line for each request: as text at a terminal, as JSON elsewhere. ' +
    'GET /readyz is answered with 200 as soon as the store is ready.',
  options: {
    listen: {
      type: 'string',
      value: 'HOST:PORT',
      summary: 'The address to listen on. Default: http.listen of the configuration.',
    },
    'log-format': {
      type: 'string',
      value: 'FORMAT',
      choices: ['auto', 'json', 'text'],
      summary: 'The format of the log. Default: log.format of the configuration.',
    },
  },
  examples: [
    'larder serve --data /var/lib/larder',
    'larder serve --data ./data --listen 127.0.0.1:9090 --log-format json',
  ],

  async run({ options, data, world }) {
    if (options.listen !== undefined && !isListenAddress(options.listen)) {
      throw new UsageError(`--listen is HOST:PORT, such as 127.0.0.1:8080 or [::]:443, not '${options.listen}'`);
    }
    becomeOwner(data);
    const how = {
      directory: data,
      credentials: world.env['CREDENTIALS_DIRECTORY'],
      env: world.env,
      listen: options.listen,
      logFormat: options['log-format'] as LogFormat | undefined,
    };
    if (isWorker(world.env)) {
      refuseWithoutDatabase(data);
      const { serveAsWorker } = await import('#workers/process.ts');
      return { text: '', json: {}, exitCode: await serveAsWorker(how) };
    }
    const life = lifeOfProcess();
    try {
      refuseWithoutDatabase(data);
      const appliance = await Promise.race([start(how, life), life.cutShort]);
      forgetStartFailure(data);
      life.begin(appliance);
      const signal = await life.ended;
      await Promise.race([appliance.stop(), life.cutShort]);
      return { text: '', json: { data, signal } };
    } catch (error) {
      throw refusedStart(error, how);
    } finally {
      life.forget();
    }
  },
});

/** Records why the start failed, for commands that ask later; returns the error to exit with. */
function refusedStart(error: unknown, how: Pick<SupervisorOptions, 'directory'>): unknown {
  const { directory: data } = how;
  if (error instanceof DataDirectoryInUse) return dataInUse(data);
  // A second signal that ends the process at once is not a failed start.
  if (error instanceof Failure && error.code === 'cut-short') return error;
  const fault = openingFault(error, data);
  const at = new Date().toISOString();
  if (fault === undefined) {
    keepStartFailure(data, { at, because: describeConfigurationError(error, how) });
    return error;
  }
  keepStartFailure(data, { at, because: fault.says, remedy: fault.remedy });
  const code = error instanceof ConfigError ? 'configuration' : 'failed';
  return new Failure(textOf(fault), { code, cause: error });
}

/** Whether a supervisor started this process. */
const isWorker = (env: World['env']): boolean => env[workerVariable] !== undefined && process.send !== undefined;

/** Serves in this process, or in several workers if configured. */
async function start(how: Omit<SupervisorOptions, 'fatal'>, life: Life): Promise<Served> {
  if (readConfig(join(how.directory, 'larder.toml')).http.workers === 1) {
    return startAppliance({ ...how, fatal: life.fail, watchdog: true });
  }
  const { superviseWorkers } = await import('#workers/supervisor.ts');
  return superviseWorkers({ ...how, fatal: life.fail });
}

type Served = Pick<Appliance, 'log' | 'reload' | 'stop'>;
type Life = ReturnType<typeof lifeOfProcess>;

/** Handles the signals and failures of the process while it serves. */
function lifeOfProcess() {
  const ended = Promise.withResolvers<NodeJS.Signals>();
  const cutShort = Promise.withResolvers<never>();
  // Either promise may never settle, or reject before it is awaited.
  ended.promise.catch(() => undefined);
  cutShort.promise.catch(() => undefined);
  let served: Served | undefined;
  let reloadAsked = false;
  let first: number | undefined;

  const onEnd = (signal: NodeJS.Signals): void => {
    first ??= performance.now();
    if (performance.now() - first > sameKeystroke) {
      cutShort.reject(new Failure('ended at once, without finishing the requests under way', { code: 'cut-short' }));
    }
    ended.resolve(signal);
  };
  const onReload = (): void => {
    if (served) reload(served);
    else reloadAsked = true;
  };
  const onCrash = (error: Error): void => {
    served?.log.fatal({ err: error }, 'crashed');
  };
  process.on('SIGTERM', onEnd).on('SIGINT', onEnd).on('SIGHUP', onReload).on('uncaughtExceptionMonitor', onCrash);

  return {
    /** Resolves with the signal that stops the store; rejects if the store can no longer be served. */
    ended: ended.promise,
    /** Rejects if the process has to end without finishing its requests. */
    cutShort: cutShort.promise,
    begin(appliance: Served) {
      served = appliance;
      if (reloadAsked) reload(appliance);
    },
    fail(error: Error) {
      ended.reject(error);
      cutShort.reject(error);
    },
    forget() {
      process
        .off('SIGTERM', onEnd)
        .off('SIGINT', onEnd)
        .off('SIGHUP', onReload)
        .off('uncaughtExceptionMonitor', onCrash);
    },
  };
}

function reload(appliance: Served): void {
  try {
    appliance.reload();
  } catch (error) {
    const problem = error instanceof ConfigError ? { problem: error.message } : { err: error };
    appliance.log.error(problem, 'configuration refused; the old one stays');
  }
}
