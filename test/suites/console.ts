// The console; what counts every page, or goes through it with a browser, has a process of its own.
import { together } from '#test/fixtures/together.ts';

await together('console/!(pages|journey).test.ts');
