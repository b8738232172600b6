// Operations on names, and on who has them.
import { together } from '#test/fixtures/together.ts';

await together(
  'operations/names/*.test.ts',
  'operations/access/*.test.ts',
  'operations/ownership/*.test.ts',
  'operations/collaborators/*.test.ts',
  'operations/libraries/*.test.ts',
);
