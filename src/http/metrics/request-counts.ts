// Counts requests in plain numbers, and writes their part of the metrics: the counters of the Prometheus client process their labels at
// every request, which costs 1.5 µs more, and write the two thousand lines of a busy store in 3 ms (`npm run bench -- reads`).

/** The counts of one operation. */
interface Tally {
  /** Requests by status. */
  statuses: Map<number, number>;
  /** Requests by the first bucket that fits; the last bucket is for all longer ones. */
  buckets: Float64Array;
  seconds: number;
  /** The lines of the durations up to their numbers, because these texts stay the same. */
  lineStarts: readonly string[];
}

/** Upper bounds in seconds: from a cached response to an upload of many gibibytes. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120, 600];
const bounds = [...buckets, '+Inf'];

const requests = { name: 'larder_requests_total', help: 'Answered requests.', type: 'counter' };
const durations = {
  name: 'larder_request_duration_seconds',
  help: 'Time from the first header to the response.',
  type: 'histogram',
};

/** A metric as the Prometheus client adds up those of several processes. */
interface SummableMetric {
  name: string;
  help: string;
  type: string;
  aggregator: 'sum';
  values: { metricName?: string; labels: Record<string, string | number>; value: number }[];
}

export interface RequestCounts {
  /** Counts one finished request of an operation. */
  count(operation: string, status: number, seconds: number): void;
  /** `larder_requests_total` and `larder_request_duration_seconds` in the text format of Prometheus. */
  text(): string;
  /** The same, to be added to the counts of other processes. */
  figures(): SummableMetric[];
}

export function createRequestCounts(): RequestCounts {
  const tallies = new Map<string, Tally>();
  return {
    count(operation, status, seconds) {
      let tally = tallies.get(operation);
      if (tally === undefined) tallies.set(operation, (tally = newTally(operation)));
      tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
      tally.seconds += seconds;
      let bucket = 0;
      while (seconds > (buckets[bucket] ?? Infinity)) bucket++;
      (tally.buckets[bucket] as number)++;
    },
    text: () => `${writeRequests(tallies)}\n${writeDurations(tallies)}`,
    figures: () => [
      { ...requests, aggregator: 'sum', values: [...tallies].flatMap(requestValues) },
      { ...durations, aggregator: 'sum', values: [...tallies].flatMap(durationValues) },
    ],
  };
}

/** Names of operations need no escapes. */
const newTally = (operation: string): Tally => ({
  statuses: new Map(),
  buckets: new Float64Array(bounds.length),
  seconds: 0,
  lineStarts: [
    ...bounds.map((bound) => `${durations.name}_bucket{le="${bound}",operation="${operation}"} `),
    ...['sum', 'count'].map((suffix) => `${durations.name}_${suffix}{operation="${operation}"} `),
  ],
});

/** The numbers of the durations: requests within each bound, and so within the larger ones; seconds; requests. */
function durationNumbers({ buckets: counts, seconds }: Tally): number[] {
  let count = 0;
  const within = Array.from(counts, (more) => (count += more));
  return [...within, seconds, count];
}

const header = ({ name, help, type }: typeof requests): string => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;

function writeRequests(tallies: ReadonlyMap<string, Tally>): string {
  let text = header(requests);
  for (const [operation, { statuses }] of tallies)
    for (const [status, count] of statuses)
      text += `${requests.name}{operation="${operation}",status="${status}"} ${count}\n`;
  return text;
}

function writeDurations(tallies: ReadonlyMap<string, Tally>): string {
  let text = header(durations);
  for (const tally of tallies.values()) {
    const numbers = durationNumbers(tally);
    for (const [at, start] of tally.lineStarts.entries()) text += `${start}${numbers[at]!}\n`;
  }
  return text;
}

const requestValues = ([operation, { statuses }]: [string, Tally]): SummableMetric['values'] =>
  Array.from(statuses, ([status, value]) => ({ labels: { operation, status }, value }));

const durationValues = ([operation, tally]: [string, Tally]): SummableMetric['values'] =>
  durationNumbers(tally).map((value, at) => {
    const bound = bounds[at];
    if (bound !== undefined) return { metricName: `${durations.name}_bucket`, labels: { le: bound, operation }, value };
    return { metricName: `${durations.name}_${at === bounds.length ? 'sum' : 'count'}`, labels: { operation }, value };
  });
