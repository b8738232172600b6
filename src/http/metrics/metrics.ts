// The Prometheus metrics: counts, durations and results of operations, and the state of the store.
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Counter,
  Gauge,
  Registry,
  type GaugeConfiguration,
} from 'prom-client';

import type { S3Traffic } from '#blobs/s3/requests.ts';
import type { PoolFigures } from '#engine/database.ts';
import { faultKinds, type Fault, type FaultCode } from '#platform/faults.ts';
import { createRequestCounts } from './request-counts.ts';

/** One request with its response. */
export interface FinishedRequest {
  /** The operation's name; `none` if the address has no operation. */
  operation: string;
  status: number;
  refusal: string | undefined;
  seconds: number;
}

/** The state of the store, read at each scrape; the same in every process. */
export interface StoreState {
  packages: number;
  revisions: number;
  accounts: number;
  uploads: { unclaimed: number; waiting: number; approved: number; rejected: number };
  databaseBytes: number;
  /** Undefined if the database is on a server. */
  walBytes?: number;
  blobBytes: number;
  damagedBlobs: number;
  diskFreeBytes: number;
  diskSizeBytes: number;
  auditEntries: number;
  /**
   * The results of attempts to make deltas, how often a delta and a whole file were downloaded, and the number and bytes of stored deltas.
   */
  deltas: Record<'made' | 'refused' | 'failed' | 'served' | 'whole', number> & { kept: number; bytes: number };
  tokensEnding: number;
  sealed: boolean;
  /** The end of the server's certificate, and of the first authority in its chain to expire. */
  certificateEnds: Date | undefined;
  authorityEnds: Date | undefined;
  /** The present faults. */
  faults: readonly Pick<Fault, 'code'>[];
  pending: readonly { kind: string; count: number }[];
  /** RFC 3339; undefined if there was none. */
  lastBackup: string | undefined;
  lastTransfer: string | undefined;
  /** Open findings by severity. */
  findings: Readonly<Record<string, number>>;
  exploitedFindings: number;
  acceptedFindings: number;
  /** Released revisions by the coverage of their findings. */
  findingCoverage: Readonly<Record<string, number>>;
  feeds: readonly { source: string; datedAt: string }[];
}

/** The work of this process apart from responses. */
export interface ProcessState {
  scrubbedBytes: number;
  jobs: { name: string; runs: number; failures: number; lastSuccess: Date | undefined }[];
  /** The connections to the database server, if there is one. */
  pool?: PoolFigures | undefined;
  /** The requests to the S3 server, if the blobs are on one. */
  s3: S3Traffic | undefined;
}

/** The counts of one process, sent to another process that adds them to its own. */
export type MetricCounts = { type: string | number; values: unknown[] }[];

export interface Metrics {
  answered(request: FinishedRequest): void;
  /** The page in the text format of Prometheus. */
  page(): Promise<{ type: string; text: string }>;
  /** The counts of this process. */
  figures(): Promise<MetricCounts>;
}

export interface MetricsOptions {
  /** The metrics of the store; only the faults while the records are unavailable. */
  store: () => Promise<StoreState | Pick<StoreState, 'faults'>>;
  process: () => ProcessState;
  version: string;
  /** If several processes serve the store together: the counts of the others, and the number of processes. */
  team?: {
    others: (own: MetricCounts) => Promise<MetricCounts[]>;
    workers: () => { wanted: number; serving: number; ended: number };
  };
}

let ofProcess: Registry | undefined;

/** Memory, processor time and the like; one observer per process, however often a store is started in it. */
function processMetrics(): Registry {
  if (ofProcess === undefined) collectDefaultMetrics({ register: (ofProcess = new Registry()) });
  return ofProcess;
}

export function createMetrics({ store, process, version, team }: MetricsOptions): Metrics {
  const counted = new Registry();
  const info = { name: 'larder_info', help: 'The running release.', aggregator: 'first' as const };
  new Gauge({ ...info, labelNames: ['version'], registers: [counted] }).set({ version }, 1);
  const requests = createRequestCounts();
  const refusals = refusalCounter([counted]);
  const setProcess = processGauges([counted]);
  let setTraffic: ReturnType<typeof s3Counters> | undefined;
  // Collected by one process only: the values of several processes, all of the same store, would be added up.
  const storeRegistry = new Registry();
  const registers = [storeRegistry];
  const standing = new Registry();
  const setFaults = faultGauges([standing]);
  const gauges = [
    ...[storeGauges(registers), uploadGauges(registers), deltaGauges(registers)],
    ...[pendingGauge(registers), findingGauges(registers)],
  ];
  const setWorkers = team && workerGauges([standing]);

  /** The registry of this process, with the present values. */
  const ofThisProcess = (): Registry => {
    const now = process();
    setProcess(now);
    // Without an S3 server the page has no S3 metrics.
    if (now.s3 !== undefined) (setTraffic ??= s3Counters([counted]))(now.s3);
    return Registry.merge([processMetrics(), counted]);
  };
  const figures = async (): Promise<MetricCounts> => [
    ...(await ofThisProcess().getMetricsAsJSON()),
    ...requests.figures(),
  ];
  const writeCounts = async (): Promise<string> => {
    if (team === undefined) return `${await ofThisProcess().metrics()}\n${requests.text()}`;
    const own = await figures();
    return sumOf([own, ...(await team.others(own))]).metrics();
  };
  const write = async (): Promise<string> => {
    const now = await store();
    setFaults(now);
    const isCounted = 'sealed' in now;
    if (isCounted) for (const set of gauges) set(now);
    setWorkers?.(team!.workers());
    // Leaves out metrics of the store that could not be read now, so that older values do not look current.
    const texts = [
      await writeCounts(),
      await standing.metrics(),
      ...(isCounted ? [await storeRegistry.metrics()] : []),
    ];
    return texts.join('\n');
  };
  /** The page that is being written. Writing takes a while; requests during that time share the result. */
  let writing: Promise<string> | undefined;

  return {
    answered({ operation, status, refusal, seconds }) {
      requests.count(operation, status, seconds);
      if (refusal !== undefined) refusals.inc({ code: refusal });
    },
    figures,
    async page() {
      writing ??= write().finally(() => (writing = undefined));
      return { type: counted.contentType, text: await writing };
    },
  };
}

/** Adds up the counts of several processes; takes the mean, maximum or first value of metrics that cannot be added. */
const sumOf = (all: MetricCounts[]): Registry => AggregatorRegistry.aggregate(all);

/** The counts that must remain after some processes have ended: otherwise a sum would decrease, and look like a restart. */
export async function lastCounts(all: MetricCounts[]): Promise<MetricCounts> {
  const sum = await sumOf(all).getMetricsAsJSON();
  return sum.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
}

type Registers = Registry[];

const refusalCounter = (registers: Registers): Counter<'code'> =>
  new Counter({
    name: 'larder_refusals_total',
    help: 'Refused requests by their code.',
    labelNames: ['code'],
    registers,
  });

/** Creates a gauge that is on the page only after it has a value. */
function gaugeWhenKnown(configuration: GaugeConfiguration<string>): (value: number) => void {
  let gauge: Gauge | undefined;
  return (value) => {
    gauge ??= new Gauge(configuration);
    gauge.set(value);
  };
}

/** Sets the gauges with a single value. */
function storeGauges(registers: Registers): (now: StoreState) => void {
  const gauge = (name: string, help: string) => gaugeWhenKnown({ name: `larder_${name}`, help, registers });
  const gauges: [(value: number) => void, (now: StoreState) => number | undefined][] = [
    [gauge('packages', 'Registered names.'), (now) => now.packages],
    [gauge('revisions', 'Approved revisions.'), (now) => now.revisions],
    [gauge('accounts', 'Accounts.'), (now) => now.accounts],
    [gauge('review_queue', 'Uploads waiting for their review.'), (now) => now.uploads.waiting],
    [
      gauge('database_bytes', 'Size of the database: its file, or its tables on a PostgreSQL server.'),
      (now) => now.databaseBytes,
    ],
    [gauge('database_wal_bytes', 'Size of the write-ahead log of the database file.'), (now) => now.walBytes],
    [gauge('blob_bytes', 'Bytes of all blobs in the records.'), (now) => now.blobBytes],
    [gauge('damaged_blobs', 'Corrupt blobs, which are out of service.'), (now) => now.damagedBlobs],
    [gauge('disk_free_bytes', 'Free bytes on the disk of the data directory.'), (now) => now.diskFreeBytes],
    [gauge('disk_size_bytes', 'Size of that disk.'), (now) => now.diskSizeBytes],
    [gauge('deltas', 'Deltas available to devices.'), (now) => now.deltas.kept],
    [gauge('delta_bytes', 'Bytes of these deltas.'), (now) => now.deltas.bytes],
    [gauge('audit_entries', 'Entries of the audit log.'), (now) => now.auditEntries],
    [gauge('tokens_ending', 'Tokens at least two weeks old that expire within two weeks.'), (now) => now.tokensEnding],
    [gauge('sealed', '1 while the store has no master key and cannot sign.'), (now) => Number(now.sealed)],
    [
      gauge('certificate_end_seconds', "Expiry of the server's certificate, in seconds since 1970; 0 without TLS."),
      (now) => (now.certificateEnds?.getTime() ?? 0) / 1000,
    ],
    [
      gauge(
        'authority_end_seconds',
        'First expiry of a certificate of its authorities, in seconds since 1970; 0 without TLS.',
      ),
      (now) => (now.authorityEnds?.getTime() ?? 0) / 1000,
    ],
    [
      gauge('last_backup_seconds', 'Time of the last backup, in seconds since 1970; 0 if there is none.'),
      (now) => secondsOf(now.lastBackup),
    ],
    [
      gauge('last_transfer_seconds', 'Time of the last accepted transfer, in seconds since 1970; 0 if there is none.'),
      (now) => secondsOf(now.lastTransfer),
    ],
  ];
  return (now) => {
    for (const [set, value] of gauges) {
      const reading = value(now);
      if (reading !== undefined) set(reading);
    }
  };
}

const secondsOf = (moment: string | undefined): number => (moment === undefined ? 0 : Date.parse(moment) / 1000);

/** Sets 1 for each present fault and 0 for every other kind, so that an alert ends by itself. */
function faultGauges(registers: Registers): (now: Pick<StoreState, 'faults'>) => void {
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `larder_${name}`, help, labelNames: ['code'], registers });
  const problems = gauge('problems', "Problems of the store by code; 'larder doctor' explains them.");
  const notices = gauge('notices', "Notices of the store by code; 'larder doctor' explains them.");
  return ({ faults }) => {
    const standing = new Set(faults.map(({ code }) => code));
    for (const [code, { severity }] of Object.entries(faultKinds)) {
      const isStanding = standing.has(code as FaultCode);
      (severity === 'problem' ? problems : notices).set({ code }, Number(isStanding));
    }
  };
}

function pendingGauge(registers: Registers): (now: StoreState) => void {
  const gauge = new Gauge({
    name: 'larder_pending',
    help: 'Pending work for people, by kind.',
    labelNames: ['kind'],
    registers,
  });
  return ({ pending }) => {
    for (const { kind, count } of pending) gauge.set({ kind }, count);
  };
}

function findingGauges(registers: Registers): (now: StoreState) => void {
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `larder_${name}`, help, labelNames, registers });
  const open = gauge('findings', 'Open known vulnerabilities of packages in channels or on devices.', ['severity']);
  const exploited = gauge('findings_known_exploited', 'Open vulnerabilities that are known to be exploited.');
  const accepted = gauge('findings_accepted', 'Vulnerabilities that are accepted now.');
  const coverage = gauge('finding_coverage', 'Released revisions by the coverage of the feeds.', ['coverage']);
  const dated = gauge('feed_timestamp_seconds', 'The latest change in each feed of advisories.', ['source']);
  return (now) => {
    // A feed may have been removed.
    dated.reset();
    for (const { source, datedAt } of now.feeds) dated.set({ source }, Date.parse(datedAt) / 1000);
    for (const [severity, count] of Object.entries(now.findings)) open.set({ severity }, count);
    exploited.set(now.exploitedFindings);
    accepted.set(now.acceptedFindings);
    for (const [state, count] of Object.entries(now.findingCoverage)) coverage.set({ coverage: state }, count);
  };
}

function uploadGauges(registers: Registers): (now: StoreState) => void {
  const uploads = new Gauge({
    name: 'larder_uploads',
    help: 'Uploads by state.',
    labelNames: ['state'],
    registers,
  });
  return (now) => {
    for (const [state, count] of Object.entries(now.uploads)) uploads.set({ state }, count);
  };
}

function deltaGauges(registers: Registers): (now: StoreState) => void {
  const gauge = (name: string, help: string, labelNames: string[]) =>
    new Gauge({ name: `larder_${name}`, help, labelNames, registers });
  const tried = gauge('deltas_tried', 'Deltas made, refused because they were too large, and failed.', ['outcome']);
  const fetched = gauge('snaps_fetched', 'Downloads of snaps, as delta or full file.', ['as']);
  return ({ deltas: { made, refused, failed, served, whole } }) => {
    for (const [outcome, count] of Object.entries({ made, refused, failed })) tried.set({ outcome }, count);
    for (const [as, count] of Object.entries({ delta: served, whole })) fetched.set({ as }, count);
  };
}

function processGauges(registers: Registers): (now: ProcessState) => void {
  const gauge = (name: string, help: string, aggregator: 'sum' | 'max') =>
    new Gauge({ name: `larder_job_${name}`, help, labelNames: ['job', 'task'], registers, aggregator });
  const scrubbed = new Gauge({
    name: 'larder_scrubbed_bytes',
    help: 'Bytes of blobs verified since the start.',
    registers,
  });
  const runs = gauge('runs', 'Runs of each job since the start.', 'sum');
  const failures = gauge('failures', 'Failed runs of each job since the start.', 'sum');
  const success = gauge('last_success_seconds', 'Time of the last successful run of each job.', 'max');
  const setPool = poolGauges(registers);
  return (now) => {
    if (now.pool !== undefined) setPool(now.pool);
    scrubbed.set(now.scrubbedBytes);
    for (const { name, ...ran } of now.jobs) {
      // Prometheus replaces our label 'job' with its own; queries use 'task'.
      const labels = { job: name, task: name };
      runs.set(labels, ran.runs);
      failures.set(labels, ran.failures);
      if (ran.lastSuccess !== undefined) success.set(labels, ran.lastSuccess.getTime() / 1000);
    }
  };
}

/** Sets the gauges of the PostgreSQL connections; absent if the database is a file. */
function poolGauges(registers: Registers): (pool: PoolFigures) => void {
  const make = (): ((pool: PoolFigures) => void) => {
    const gauge = (name: string, help: string) =>
      new Gauge({ name: `larder_database_${name}`, help, registers, aggregator: 'sum' });
    const counter = (name: string, help: string) =>
      new Counter({ name: `larder_database_${name}_total`, help, registers });
    const open = gauge('connections_open', 'Open connections to PostgreSQL.');
    const used = gauge('connections_used', 'Connections to PostgreSQL in use.');
    const waiting = gauge('waiting', 'Queries and changes waiting for a connection to PostgreSQL.');
    const queries = counter('queries', 'Statements sent to PostgreSQL.');
    const retries = counter('retries', 'Queries and changes repeated after a lost connection or a conflict.');
    const lost = counter('connections_lost', 'Lost connections to PostgreSQL.');
    return (pool) => {
      open.set(pool.open);
      used.set(pool.used);
      waiting.set(pool.waiting);
      for (const total of [queries, retries, lost]) total.reset();
      queries.inc(pool.queries);
      retries.inc(pool.retries);
      lost.inc(pool.lost);
    };
  };
  let set: ((pool: PoolFigures) => void) | undefined;
  return (pool) => {
    set ??= make();
    set(pool);
  };
}

/** The process has its own totals of S3 requests, so the counters are set to them at each scrape. */
function s3Counters(registers: Registers): (now: S3Traffic) => void {
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `larder_s3_${name}_total`, help, labelNames, registers });
  const requests = counter('requests', 'Requests to the S3 server.', ['request']);
  const errors = counter('errors', 'Failed requests to the S3 server.', ['request']);
  const retries = counter('retries', 'Requests to the S3 server repeated after a failure.');
  const bytes = counter('bytes', 'Bytes sent to and received from the S3 server.', ['direction']);
  return (now) => {
    for (const total of [requests, errors, retries, bytes]) total.reset();
    for (const [request, count] of now.requests) requests.inc({ request }, count);
    for (const [request, count] of now.errors) errors.inc({ request }, count);
    retries.inc(now.retries);
    bytes.inc({ direction: 'sent' }, now.bytesSent);
    bytes.inc({ direction: 'received' }, now.bytesReceived);
  };
}

function workerGauges(registers: Registers) {
  const gauge = (name: string, help: string) => new Gauge({ name: `larder_workers${name}`, help, registers });
  const expected = gauge('', 'Configured number of serving processes.');
  const serving = gauge('_serving', 'Processes that are serving now.');
  const ended = new Counter({
    name: 'larder_workers_ended_total',
    help: 'Processes that ended unexpectedly since the start.',
    registers,
  });
  return (now: { wanted: number; serving: number; ended: number }): void => {
    expected.set(now.wanted);
    serving.set(now.serving);
    ended.reset();
    ended.inc(now.ended);
  };
}
