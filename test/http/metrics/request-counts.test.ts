// Requests that are counted in plain numbers are exported like counters of the Prometheus client.
import fc from 'fast-check';
import { Counter, Histogram, Registry } from 'prom-client';
import t from 'tap';

import { countRequestsIn } from '#http/metrics/request-counts.ts';

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120, 600];

/** The same figures by the counters of the library. */
function plainly(registry: Registry) {
  const registers = [registry];
  const requests = new Counter({
    name: 'larder_requests_total',
    help: 'Answered requests.',
    labelNames: ['operation', 'status'],
    registers,
  });
  const duration = new Histogram({
    name: 'larder_request_duration_seconds',
    help: 'Time from the first header to the response.',
    labelNames: ['operation'],
    buckets,
    registers,
  });
  return (operation: string, status: number, seconds: number) => {
    requests.inc({ operation, status });
    duration.observe({ operation }, seconds);
  };
}

const lines = async (registry: Registry): Promise<string[]> => (await registry.metrics()).split('\n').sort();

t.test('any number of requests gives the same lines', async () => {
  const answered = fc.tuple(
    fc.constantFrom('register_name', 'release', 'none'),
    fc.constantFrom(200, 404, 503),
    fc.oneof(
      fc.constantFrom(0, ...buckets),
      fc.integer({ min: 0, max: 4096 }).map((parts) => parts / 4),
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(answered), { maxLength: 3 }), async (scrapes) => {
      const [ours, theirs] = [new Registry(), new Registry()];
      const [count, countPlainly] = [countRequestsIn(ours), plainly(theirs)];
      for (const requests of scrapes) {
        for (const request of requests) {
          count(...request);
          countPlainly(...request);
        }
        const [actual, expected] = [await lines(ours), await lines(theirs)];
        if (JSON.stringify(actual) !== JSON.stringify(expected)) {
          throw new Error(`${actual.join('\n')}\n\nis not\n\n${expected.join('\n')}`);
        }
      }
    }),
    { numRuns: 200 },
  );
});
