// The interface; what looks at memory or descriptors, or at every operation, has a process of its own.
import { together } from '#test/fixtures/together.ts';

await together('api/!(multipart|repeats|descriptors|connections|near-misses|permission-table).test.ts');
