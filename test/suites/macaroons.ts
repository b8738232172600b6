// Tokens and their codec.
import { together } from '#test/fixtures/together.ts';

await together('macaroons/*.test.ts', 'macaroons/codec/*.test.ts');
