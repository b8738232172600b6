// A store as it is served, on a data directory that a benchmark has filled.
import { startAppliance } from '#src/appliance.ts';

const appliance = await startAppliance({ directory: process.argv[2] ?? '', listen: '127.0.0.1:0' });
process.send?.({ port: Number(new URL(appliance.url).port) });
process.on('message', () => {
  void appliance.stop().then(() => process.exit(0));
});
