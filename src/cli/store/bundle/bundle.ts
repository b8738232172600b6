// Builds a support bundle: figures about a store in one tar archive, from an allow list, for helpers who may not see names.
import { readFileSync, statfsSync } from 'node:fs';
import { availableParallelism, freemem, release, totalmem, uptime } from 'node:os';

import { block, padding, tarHeader } from '#files/tar-header.ts';
import type { ExaminedStore } from '#examinations/examination.ts';
import { getFromServing } from '#data/ask-serving.ts';
import { measureDiskUse } from '#data/blobs.ts';
import { version } from '#platform/version.ts';
import { formatCount } from '#domain/quantities.ts';
import { linesForBundle } from './log.ts';
import { metricsForBundle } from './metrics.ts';
import { settingsForBundle } from './settings.ts';
import {
  faultCodes,
  flagOrNothing,
  jobNames,
  logLevels,
  momentOrNothing,
  numberOrNothing,
  oneOf,
  releaseOrNothing,
} from './values.ts';
import type { UnitState } from '../service.ts';

/** A file of the bundle. */
export interface BundleMember {
  name: string;
  /** A short description for the list shown to the administrator. */
  holds: string;
  bytes: Buffer;
}

/** The data that a bundle is built from. */
export interface BundleSources {
  data: string;
  patient: ExaminedStore;
  findings: readonly { what: string; level: string }[];
  unit: UnitState | undefined;
  log: string | undefined;
  now: Date;
}

/** Collects the files. Marks an unreadable part as such, because a store that needs help may be corrupt. */
export async function collectBundle(sources: BundleSources): Promise<BundleMember[]> {
  const { data, findings, log, now } = sources;
  const subjects = new Set(findings.map(({ what: subject }) => subject));
  const logLines = linesForBundle(log);
  return [
    json('release.json', 'the release, the runtime and the time', {
      larder: version,
      ...runtime(),
      at: now.toISOString(),
    }),
    json('system.json', 'figures of the system and of the file system', systemFigures(data)),
    json('configuration.json', 'switches, numbers and sizes of larder.toml', settingsForBundle(data)),
    json(
      'examinations.json',
      'the name and the result of each examination',
      findings.map(({ what: subject, level }) => ({ what: subject, level })),
    ),
    json('health.json', 'codes of faults, jobs and workers of the serving process', await healthOf(sources, subjects)),
    json('records.json', 'migrations, sizes and numbers of rows', await recordsOf(sources)),
    json('unit.json', 'the state of the system service', unitOf(sources.unit)),
    { name: 'metrics.txt', holds: 'figures of /metrics', bytes: Buffer.from(await metricsOf(sources)) },
    json(
      'log.json',
      `times, levels, operations and codes of ${formatCount(logLines.lines.length, 'line')} of the log`,
      logLines,
    ),
  ];
}

/** Packs the files into one tar archive. */
export function archiveOf(members: readonly BundleMember[], modified: Date): Buffer {
  const parts = members.flatMap(({ name, bytes }) => [
    tarHeader(`larder-bundle/${name}`, bytes.length, modified),
    bytes,
    Buffer.alloc(padding(bytes.length)),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

const json = (name: string, holds: string, content: unknown): BundleMember => ({
  name,
  holds,
  bytes: Buffer.from(`${JSON.stringify(content, undefined, 2)}\n`),
});

const notAvailable = { available: false };

const runtime = () => ({ node: process.version, architecture: process.arch, platform: process.platform });

/** Names of file systems by their statfs numbers. */
const fileSystems: Readonly<Record<number, string>> = {
  0xef53: 'ext4',
  0x58465342: 'xfs',
  0x9123683e: 'btrfs',
  0x2fc12fc1: 'zfs',
  0x794c7630: 'overlay',
  0x01021994: 'tmpfs',
  0x6969: 'nfs',
  0xff534d42: 'cifs',
  0x4d44: 'vfat',
};

function systemFigures(data: string): unknown {
  const { type, bsize, blocks, bfree, bavail, files, ffree } = statfsSync(data);
  return {
    // A kernel built at a site may have the site's name after its version.
    kernel: releaseOrNothing(release()),
    distribution: distribution(),
    processors: availableParallelism(),
    memory: { total: totalmem(), free: freemem() },
    uptimeSeconds: Math.round(uptime()),
    fileSystem: {
      type: fileSystems[type] ?? type,
      blockSize: bsize,
      blocks,
      free: bfree,
      available: bavail,
      files,
      freeFiles: ffree,
    },
  };
}

const distributions: ReadonlySet<string> = new Set([
  'debian',
  'ubuntu',
  'rhel',
  'fedora',
  'centos',
  'rocky',
  'almalinux',
  'sles',
  'arch',
]);

function distribution(): unknown {
  try {
    const text = readFileSync('/etc/os-release', 'utf8');
    const of = (key: string): string | undefined => new RegExp(`^${key}="?([^"\n]*)"?$`, 'm').exec(text)?.[1];
    return { id: oneOf(distributions, of('ID')), version: releaseOrNothing(of('VERSION_ID')) };
  } catch {
    return notAvailable;
  }
}

/** The state of the serving process without its sentences, which name packages, accounts and addresses. */
async function healthOf({ patient }: BundleSources, subjects: ReadonlySet<string>): Promise<unknown> {
  const state = await patient.serving().catch(() => undefined);
  if (state === undefined) return { serving: false, fault: oneOf(faultCodes, patient.service?.()?.code) };
  const { faults = [], jobs, scrub, workers } = state;
  return {
    serving: true,
    version: releaseOrNothing(state.version),
    since: momentOrNothing(state.since),
    level: oneOf(logLevels, state.level),
    sealed: flagOrNothing(state.sealed),
    faults: faults.map(({ code, severity, about }) => ({
      code: oneOf(faultCodes, code),
      severity: oneOf(severities, severity),
      about: oneOf(subjects, about),
    })),
    jobs: jobs.map((job) => ({
      name: oneOf(jobNames, job.name),
      running: flagOrNothing(job.running),
      runs: numberOrNothing(job.runs),
      failures: numberOrNothing(job.failures),
      lastSuccess: momentOrNothing(job.lastSuccess),
      failing: job.problem !== undefined,
    })),
    scrub: {
      blobs: numberOrNothing(scrub.blobs),
      bytes: numberOrNothing(scrub.bytes),
      damaged: numberOrNothing(scrub.damaged),
      roundEnded: momentOrNothing(scrub.roundEnded),
    },
    workers: workers && {
      wanted: numberOrNothing(workers.wanted),
      serving: numberOrNothing(workers.serving),
      ended: numberOrNothing(workers.ended),
    },
  };
}

const severities: ReadonlySet<string> = new Set(['problem', 'notice']);

async function recordsOf({ patient }: BundleSources): Promise<unknown> {
  try {
    const store = await patient.store();
    const { counts } = store.records;
    const migrations = await counts.migrations();
    return {
      engine: store.database.server === undefined ? 'sqlite' : 'postgres',
      schema: migrations.at(-1),
      migrations,
      sizes: await measureDiskUse(store),
      counts: await counts.all(),
      rows: await counts.tables(),
    };
  } catch {
    return notAvailable;
  }
}

const unitWords: ReadonlySet<string> = new Set([
  ...['active', 'inactive', 'failed', 'activating', 'deactivating', 'reloading', 'maintenance'],
  ...['running', 'dead', 'exited', 'auto-restart', 'start', 'start-pre', 'stop', 'stop-sigterm'],
  ...['success', 'exit-code', 'signal', 'core-dump', 'timeout', 'watchdog', 'start-limit-hit', 'oom-kill', 'resources'],
]);

const unitOf = (unit: UnitState | undefined): unknown =>
  unit === undefined
    ? { known: false }
    : {
        known: true,
        active: oneOf(unitWords, unit.active),
        sub: oneOf(unitWords, unit.sub),
        result: oneOf(unitWords, unit.result),
      };

async function metricsOf({ patient }: BundleSources): Promise<string> {
  try {
    const state = await patient.serving();
    return state === undefined ? '' : metricsForBundle(await getFromServing(state.url, '/metrics'));
  } catch {
    return '';
  }
}
