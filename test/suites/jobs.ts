// Work that outlives a request.
import { together } from '#test/fixtures/together.ts';

await together('jobs/*.test.ts');
