// The warning before a token expires.
import { days } from '../clock.ts';

/** How long before its expiry the user of a token is warned, in milliseconds. */
export const expiryWarningMs = days(14);
