// Content and its places; what is killed, and what runs on a server of others, has processes of its own.
import { together } from '#test/fixtures/together.ts';

await together('blobs/!(killed|s3).test.ts');
