// Waits for the result of long work as long as a page may take.
import { seconds } from '#domain/clock.ts';

/** How long a page waits that says afterwards that the work continues. */
const maxWaitMs = seconds(5);

/** The result, or undefined if there is none within the wait. The work continues. */
export async function withinWait<Result>(whole: Promise<Result>, waitMs = maxWaitMs): Promise<Result | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => {
    late.resolve(undefined);
  }, waitMs);
  try {
    return await Promise.race([whole, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
