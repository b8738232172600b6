// Operations on tokens and accounts, and on the store as a whole.
import { together } from '#test/fixtures/together.ts';

await together(
  'operations/tokens/*.test.ts',
  'operations/accounts/*.test.ts',
  'operations/store/*.test.ts',
  'operations/service/*.test.ts',
  'operations/*.test.ts',
);
