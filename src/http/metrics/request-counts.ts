// Counts requests in plain numbers, and converts them for Prometheus at each scrape: the counters of the Prometheus client process their
// labels at every request, which costs 1.5 µs more.
import { Counter, type Metric, type Registry } from 'prom-client';

/** The counts of one operation. */
interface Tally {
  /** Requests by status. */
  statuses: Map<number, number>;
  /** Requests by the first bucket that fits; the last bucket is for all longer ones. */
  buckets: Float64Array;
  seconds: number;
}

/** Upper bounds in seconds: from a cached response to an upload of many gibibytes. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120, 600];

/** Counts one finished request of an operation. */
export type CountRequest = (operation: string, status: number, seconds: number) => void;

/** Starts counting, and publishes the counts as `larder_requests_total` and `larder_request_duration_seconds`. */
export function countRequestsIn(registry: Registry): CountRequest {
  const tallies = new Map<string, Tally>();
  showRequests(registry, tallies);
  showDurations(registry, tallies);
  return (operation, status, seconds) => {
    let tally = tallies.get(operation);
    if (tally === undefined) {
      tally = { statuses: new Map(), buckets: new Float64Array(buckets.length + 1), seconds: 0 };
      tallies.set(operation, tally);
    }
    tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
    tally.seconds += seconds;
    let bucket = 0;
    while (seconds > (buckets[bucket] ?? Infinity)) bucket++;
    (tally.buckets[bucket] as number)++;
  };
}

function showRequests(registry: Registry, tallies: Map<string, Tally>): void {
  new Counter({
    name: 'larder_requests_total',
    help: 'Answered requests.',
    labelNames: ['operation', 'status'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [operation, { statuses }] of tallies) {
        for (const [status, count] of statuses) this.inc({ operation, status }, count);
      }
    },
  });
}

function showDurations(registry: Registry, tallies: Map<string, Tally>): void {
  const name = 'larder_request_duration_seconds';
  const help = 'Time from the first header to the response.';
  const values = () =>
    [...tallies].flatMap(([operation, { buckets: counts, seconds }]) => {
      let count = 0;
      const within = [...buckets, '+Inf'].map((le, at) => ({
        metricName: `${name}_bucket`,
        labels: { le, operation },
        value: (count += counts[at] ?? 0),
      }));
      const whole = { sum: seconds, count };
      return [
        ...within,
        ...Object.entries(whole).map(([suffix, value]) => ({
          metricName: `${name}_${suffix}`,
          labels: { operation },
          value,
        })),
      ];
    });
  // A registry accepts any object with a name and `get`; its types know only its own kinds.
  const metric = {
    name,
    help,
    get: () => Promise.resolve({ name, help, type: 'histogram', aggregator: 'sum', values: values() }),
  };
  registry.registerMetric(metric as unknown as Metric);
}
