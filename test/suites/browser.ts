// Pages in a browser, which is started once for all of them.
import { together } from '#test/fixtures/together.ts';

await together('console/@(pages|journey).test.ts', 'pages.test.ts');
