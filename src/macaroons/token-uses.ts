// Records when each token was last used, to the minute. At most once per minute and token, because each note is
// written.
import { after, minutes, timestamp } from '#domain/clock.ts';
import { BoundedMap } from '#domain/bounded-map.ts';
import { expiryWarningMs } from '#domain/tokens/token-expiry.ts';
import type { StoreRecords } from '#records/index.ts';
import type { LatestTime } from './latest-time.ts';

export interface TokenUses {
  /** Notes a use of a token; costs the caller nothing. */
  used(sessionId: string): void;
}

/** How many tokens are remembered with the minute of their last use; for a forgotten one an extra note is written. */
const maxTokens = 10_000;

export function createUses({
  records,
  latestTime,
}: {
  records: Pick<StoreRecords, 'countEvent'>;
  latestTime: LatestTime;
}): TokenUses {
  const noted = new BoundedMap<string, number>(maxTokens);
  return {
    used(sessionId) {
      const minute = Math.floor(latestTime.now().getTime() / minutes(1));
      if (noted.get(sessionId) === minute) return;
      noted.set(sessionId, minute);
      records.countEvent('token', sessionId, timestamp(new Date(minute * minutes(1))));
    },
  };
}

/** How many tokens expire soon, without tokens that were issued recently. */
export function tokensEnding({ macaroons }: Pick<StoreRecords, 'macaroons'>, latestTime: LatestTime): Promise<number> {
  const now = latestTime.now();
  const [endsBefore, begunBefore] = [after(now, expiryWarningMs), after(now, -expiryWarningMs)];
  return macaroons.countEnding({
    now: timestamp(now),
    endsBy: timestamp(endsBefore),
    begunBefore: timestamp(begunBefore),
  });
}
