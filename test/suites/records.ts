// The records; those that look at memory, at the pages written, or at many rows, have a process of their own.
import { together } from '#test/fixtures/together.ts';

await together('records/!(memo|pages-written|row-digests|figures|audit-chain).test.ts');
