// Operations as the dashboard, charm clients and builders ask for them.
import { together } from '#test/fixtures/together.ts';

await together('operations/dashboard/*.test.ts', 'operations/charms/*.test.ts', 'operations/builds/*.test.ts');
