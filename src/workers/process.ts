// One of several processes that serve a store together. It holds nothing that another process needs, and obeys the
// supervisor; signals that a terminal or the system sends to all processes are left to the supervisor.
import { startAppliance, type Appliance } from '#appliance/appliance.ts';
import type { ApplianceOptions } from '#appliance/options.ts';
import type { TeamReplies, Team } from '#appliance/team.ts';
import type { ServingState } from '#data/serving-state.ts';
import { Refusal } from '#domain/refusal.ts';
import { ConfigError } from '#configuration/config.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import { version } from '#platform/version.ts';
import type { Order, WorkerReport, WorkerRole } from './messages.ts';

export type WorkerOptions = Pick<ApplianceOptions, 'directory' | 'credentials' | 'listen' | 'logFormat'>;

/** Serves until the supervisor says stop, or is gone; returns the exit code. */
export async function serveAsWorker(options: WorkerOptions): Promise<number> {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
  const { begun, stopping, hear, teamOf } = listenToSupervisor();
  let appliance: Appliance | undefined;
  process.on('uncaughtExceptionMonitor', (error) => appliance?.log.fatal({ err: error }, 'crashed'));
  try {
    const role = await begun;
    refuseOtherRelease(role);
    const team = teamOf(role);
    const fatal = (error: Error): void => void say(failed(error, options, true));
    appliance = await startAppliance({ ...options, team, fatal, watchdog: true });
    hear(appliance);
    await say({ report: 'serves', url: appliance.url });
    await stopping;
    await appliance.stop();
    return 0;
  } catch (error) {
    await say(failed(error, options, false));
    return 1;
  }
}

/** An upgrade may replace the program while the old one serves; the new one would change the data of the old one. */
function refuseOtherRelease({ version: serving }: WorkerRole): void {
  if (serving === version) return;
  throw new Error(
    `larder ${serving} serves this store, and the program is larder ${version} by now: start the store again`,
  );
}

const failed = (error: unknown, { directory }: WorkerOptions, isFatal: boolean): WorkerReport => ({
  report: 'failed',
  problem:
    error instanceof ConfigError || error instanceof Refusal
      ? error.message
      : inOneSentence(error, { data: directory }),
  atOnce: isFatal,
});

/** Resolves when the message is sent. If the supervisor is gone, nothing is sent, and this process ends. */
const say = (report: WorkerReport): Promise<void> =>
  new Promise((resolve) => {
    if (process.send === undefined) resolve();
    else process.send(report, () => resolve());
  });

/** Listens to the messages of the supervisor from now on. */
function listenToSupervisor() {
  const begun = Promise.withResolvers<WorkerRole>();
  const stopping = Promise.withResolvers<undefined>();
  const pendingRequests = new Map<number, (answers: unknown[]) => void>();
  let appliance: Appliance | undefined;
  let others: ServingState | undefined;
  let asks = 0;

  process.on('message', (order: Order) => {
    if (order.order === 'begin') begun.resolve(order);
    else if (order.order === 'stop') stopping.resolve(undefined);
    else if (order.order === 'others') ({ others } = order);
    else if (order.order === 'answered') pendingRequests.get(order.ask)?.(order.answers);
    else if (appliance !== undefined) obey(appliance, order);
  });
  void say({ report: 'here' });

  const teamOf = ({ number, size, begins, keeps, secret, ended }: Omit<WorkerRole, 'version'>): Team => ({
    number,
    size,
    begins,
    keeps,
    secret,
    ended,
    others: () => others,
    certificateChanged: () => void say({ report: 'renewed' }),
    async ask(kind, own) {
      const ask = ++asks;
      const { promise, resolve } = Promise.withResolvers<unknown[]>();
      pendingRequests.set(ask, resolve);
      await say({ report: 'asks', ask, what: kind, own });
      const answers = await promise;
      pendingRequests.delete(ask);
      return answers as TeamReplies[typeof kind][];
    },
  });
  return {
    begun: begun.promise,
    stopping: stopping.promise,
    /** Lets the appliance receive orders while it serves. */
    hear(served: Appliance) {
      appliance = served;
    },
    teamOf,
  };
}

/** Carries out an order to a serving worker. */
function obey(appliance: Appliance, order: Exclude<Order, { order: 'begin' | 'stop' | 'others' | 'answered' }>): void {
  const { log } = appliance;
  switch (order.order) {
    case 'reload':
      try {
        appliance.reload();
      } catch (error) {
        log.error({ err: error }, 'configuration refused; the old one stays');
      }
      return;
    case 'renew':
      appliance.renewCertificate().catch((error: unknown) => {
        log.error({ err: error }, 'cannot take the new certificate; the old one stays');
      });
      return;
    case 'answer':
      void Promise.resolve(appliance.answers[order.what]()).then(
        (answer) => say({ report: 'answer', ask: order.ask, answer }),
        (error: unknown) => {
          log.error({ err: error }, 'cannot reply to the other workers');
        },
      );
  }
}
