// How the program is packed, its certificates, its parts, and deltas; the executable and its package have processes of their own.
import { together } from '#test/fixtures/together.ts';

await together('packaging/!(executable|deb).test.ts', 'tls/*.test.ts', 'appliance/*.test.ts', 'deltas/*.test.ts');
