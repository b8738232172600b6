// When it is time to think of a token's end.
import { days } from './clock.ts';

/** So long before its end, in milliseconds, whoever uses a token is told. */
export const endsSoon = days(14);
