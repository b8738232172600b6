// Assertions, their keys, and whom they are believed.
import { together } from '#test/fixtures/together.ts';

await together('assertions/*.test.ts');
