// What a review reads; what is hostile or large has a process of its own.
import { together } from '#test/fixtures/together.ts';

await together('review/!(hostile|reviewer).test.ts', 'review/squashfs/!(hostile|size).test.ts');
