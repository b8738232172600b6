// What devices ask; snapd itself, and what counts or gives many revisions the same content, has processes of its own.
import { together } from '#test/fixtures/together.ts';

await together('operations/devices/!(snapd-*|snap-command|drained|limits|refresh-snaps|history|told-again).test.ts');
