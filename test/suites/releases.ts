// Operations on revisions, resources and what channels hold.
import { together } from '#test/fixtures/together.ts';

await together('operations/releases/*.test.ts', 'operations/revisions/*.test.ts', 'operations/resources/*.test.ts');
