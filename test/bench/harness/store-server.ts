// A store as it is served, on a data directory that a benchmark has filled.
import { hours } from '#domain/clock.ts';
import { startAppliance } from '#appliance/appliance.ts';

// Periodic tasks, such as the weekly proof of the records, are no part of the cost of a request.
const jobsAfter = hours(1);
const appliance = await startAppliance({ directory: process.argv[2] ?? '', listen: '127.0.0.1:0', jobsAfter });
process.send?.({ port: Number(new URL(appliance.url).port) });
process.on('message', (message) => {
  if (message === 'memory') process.send?.(process.memoryUsage());
  else void appliance.stop().then(() => process.exit(0));
});
