// Builds every part of the appliance explicitly, in order, and starts and stops them.
import { randomBytes } from '#domain/cryptography.ts';
import { join } from 'node:path';

import type { Logger } from 'pino';

import type { ConfigurationState } from '#data/serving-state.ts';
import { seconds } from '#domain/clock.ts';
import type { ScrubState } from '#integrity/scrub.ts';
import type { JobState } from '#jobs/runner.ts';
import { documentsAt } from '#operations/store/documents.ts';
import { configDigest } from '#configuration/config.ts';
import { limitNursery } from '#platform/nursery.ts';
import { disablePretenuring } from '#platform/small-heap.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import { version } from '#platform/version.ts';
import { startWatchdog } from '#platform/watchdog.ts';
import { startBackground, type Background } from './background.ts';
import { keepCertificate } from './certificate.ts';
import type { ApplianceOptions } from './options.ts';
import { ApplianceParts } from './parts.ts';
import { readOrRefuse, applyConfiguration } from './reload.ts';
import { startKeyManager } from './watch/key-custody.ts';
import { startServing } from './serving.ts';
import { settingsOf, type Current } from './settings.ts';
import { servingStateOf, startStateReports } from './state.ts';
import { openStorage, type Storage } from './storage.ts';
import type { TeamReplies } from './team.ts';
import { watchFaults, watchJobs } from './watch/faults.ts';

export interface Appliance {
  /** The actual address, such as `http://127.0.0.1:8080`. */
  url: string;
  log: Logger;
  /** Reloads the configuration; if the new one is not accepted, keeps the old one and throws. */
  reload(): void;
  /** Loads the current certificate; returns whether it has changed. */
  renewCertificate(): Promise<boolean>;
  /** The replies to the other processes that serve the store. */
  answers: { readonly [What in keyof TeamReplies]: () => TeamReplies[What] | Promise<TeamReplies[What]> };
  /** The progress of the scrub. */
  scrubbed(): ScrubState;
  /** The state of the jobs. */
  jobs(): JobState[];
  /** Resolves when no upload is waiting for its review. */
  reviewed(): Promise<void>;
  /** Finishes the requests in progress, then the jobs, then the records. */
  stop(): Promise<void>;
}

/** Starts serving a data directory; resolves when it answers requests. */
export async function startAppliance(options: ApplianceOptions): Promise<Appliance> {
  disablePretenuring();
  const parts = new ApplianceParts(options.parts);
  try {
    await parts.start('nursery', limitNursery, (limit) => limit.stop());
    return await startParts(parts, options);
  } catch (error) {
    // The failure of the start is the cause; a failure of the stop after it is a consequence.
    await parts.stop().catch(() => undefined);
    throw error;
  }
}

async function startParts(parts: ApplianceParts, options: ApplianceOptions): Promise<Appliance> {
  const { directory } = options;
  const file = join(directory, 'larder.toml');
  const storage = await openStorage(parts, options);
  const { store, log } = storage;
  const startedWith = store.config;
  let settings = settingsOf(startedWith, directory, options.credentials);
  const current: Current = () => settings;
  const keeps = options.team?.keeps !== false;
  const manager = await startKeyManager(parts, options, storage, current);
  const certificate = await parts.start('certificate', () =>
    keepCertificate(store, current, { log, renews: keeps, manager }),
  );
  watchFaults(storage, { current, certificate });
  if (keeps) certificate.onRenewal(() => options.team?.certificateChanged());
  const background = await startBackground(parts, options, storage, current, { certificate, keyManager: manager });
  const made = { storage, background, certificate, current };
  watchJobs(storage, background.runner.state);
  const policy = keeps ? background.policy : takenUpElsewhere;
  await policy.takeUp();
  let url = '';
  let configuration: ConfigurationState = { sha256: configDigest(file) };
  const serving = servingStateOf(made, { url: () => url, configuration: () => configuration });
  const secret = options.team?.secret ?? randomBytes(24).toString('hex');
  const served = await startServing(parts, options, { ...made, serving, secret });
  url = served.url;
  const tellState = await startStateReports(parts, options, { telling: serving, secret });
  background.queue.soon();
  await startBallast(parts, storage);
  await startOwnWatchdog(parts, options, storage);
  parts.serving();
  const sealed = settings.masterKey === undefined;
  if (options.team !== undefined) log.info('a worker serves');
  else log.info({ url, documents: documentsAt(startedWith), directory, version, sealed }, 'serving');

  return {
    url,
    log,
    reload() {
      const sha256 = configDigest(file);
      try {
        settings = readOrRefuse(options, storage);
        applyConfiguration(settings.config, { startedWith, listensElsewhere: options.listen !== undefined }, storage, {
          certificate,
          policy,
          keyManager: manager,
        });
        configuration = { sha256 };
      } catch (error) {
        configuration = { sha256, problem: inOneSentence(error) };
        throw error;
      } finally {
        void tellState();
      }
    },
    renewCertificate: () => certificate.renew(),
    answers: { state: serving, figures: served.figures, minutes: served.minutes },
    ...progress(background),
    stop: () => stopParts(parts, log),
  };
}

async function stopParts(parts: ApplianceParts, log: Storage['log']): Promise<void> {
  log.info('stopping');
  await parts.stop();
  log.info('stopped');
  log.flush();
}

async function startOwnWatchdog(
  parts: ApplianceParts,
  { watchdog, team }: ApplianceOptions,
  { log, isLogText }: Storage,
): Promise<void> {
  if (watchdog !== true) return;
  await parts.start(
    'watchdog',
    () => startWatchdog({ log, asText: isLogText(), worker: team?.number }),
    (started) => started?.stop(),
  );
}

/** The approval policy of the configuration is put into force by one of the processes that serve the store. */
const takenUpElsewhere = { takeUp: (): Promise<void> => Promise.resolve() };

/** Creates the ballast soon after the start, which does not wait for it. */
async function startBallast(parts: ApplianceParts, { room, blobs, log }: Storage): Promise<void> {
  const setAside = (): void => {
    room
      .job(blobs)
      .run()
      .catch((error: unknown) => {
        log.warn({ err: error }, 'cannot set the ballast aside');
      });
  };
  await parts.start('ballast', () => setTimeout(setAside, seconds(2)).unref(), clearTimeout);
}

const progress = ({
  scrub,
  runner,
  queue,
  signing,
  finishing,
}: Background): Pick<Appliance, 'scrubbed' | 'jobs' | 'reviewed'> => ({
  scrubbed: () => scrub.state(),
  jobs: () => runner.state(),
  async reviewed() {
    await queue.idle();
    await finishing.idle();
    // A finished review may have pushed components, which are reviewed in turn.
    await queue.idle();
    await finishing.idle();
    await signing.idle();
  },
});
