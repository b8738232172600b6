// Commands that run within the process of the test.
import { together } from '#test/fixtures/together.ts';

await together(
  'cli/!(words|terminal|main|serve|init|core-dumps|outside|owner|beside|completion|run|*guide*|tool-environment|package-import|key-seal|postgres*).test.ts',
);
