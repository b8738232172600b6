// Waits for the result of long work as long as a page may take.
import { seconds } from '#domain/clock.ts';

const maxWaitMs = seconds(5);

/** The result, or undefined if there is none within a few seconds. The work continues. */
export async function withinWait<Result>(whole: Promise<Result>): Promise<Result | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => {
    late.resolve(undefined);
  }, maxWaitMs);
  try {
    return await Promise.race([whole, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
