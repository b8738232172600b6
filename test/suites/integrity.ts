// What is proved, and kept twice, of a store.
import { together } from '#test/fixtures/together.ts';

await together('integrity/*.test.ts', 'backup/@(complete|guide|make|move-blobs|restore).test.ts');
