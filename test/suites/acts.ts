// What may be done to the store; doors and rehearsal try them all, each in a process of its own.
import { together } from '#test/fixtures/together.ts';

await together('acts/!(doors|rehearsal).test.ts');
