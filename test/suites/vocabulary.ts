// The pure rules, files, and the configuration.
import { together } from '#test/fixtures/together.ts';

await together(
  'domain/*.test.ts',
  'files/*.test.ts',
  'config/*.test.ts',
  'shared/*.test.ts',
  'data/*.test.ts',
  'registry/*.test.ts',
  'workers/patience.test.ts',
);
