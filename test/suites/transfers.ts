// What is carried across the gap; what is killed, hostile or large has a process of its own.
import { together } from '#test/fixtures/together.ts';

await together('transfers/!(killed|hostile|scanner|adopt|media|across).test.ts');
