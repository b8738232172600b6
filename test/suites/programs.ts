// Commands that are started as programs, one after the other.
import { together } from '#test/fixtures/together.ts';

await together('cli/@(beside|completion|core-dumps|init|main|outside|owner|run|serve|token-guides|key-seal).test.ts');
