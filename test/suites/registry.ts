// Images, and what fills the disk.
import { together } from '#test/fixtures/together.ts';

await together('operations/registry/*.test.ts', 'operations/appliance/*.test.ts');
