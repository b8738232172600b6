// A page of the tokens of the store, as operations and the console show it.
import type { HandlerRecords } from '#api/handler-records.ts';
import type { OwnedMacaroon } from '#records/macaroons.ts';
import { pageOf, placeOf } from '../page.ts';

export interface TokensSought {
  /** Those of this account; null for those of all. */
  accountId: string | null;
  /** The latest time that the store has seen. */
  now: string;
  /** Only good ones that end by then, in the order of their ends; without it the newest stand first. */
  endingBefore: string | undefined;
  /** Also those that have ended, where it is not asked what ends. */
  includeInactive: boolean;
  size: number;
}

export interface TokensPage {
  entries: readonly OwnedMacaroon[];
  /** The cursor of the next page; null at the end. */
  next: string | null;
}

export const tokensPage = (
  records: Pick<HandlerRecords, 'macaroons'>,
  at: { cursor?: string },
  sought: TokensSought,
): Promise<TokensPage> =>
  sought.endingBefore === undefined ? newest(records, at, sought) : ending(records, at, sought, sought.endingBefore);

async function newest(
  { macaroons }: Pick<HandlerRecords, 'macaroons'>,
  at: { cursor?: string },
  { size, accountId, now, includeInactive }: TokensSought,
): Promise<TokensPage> {
  const [since, sessionId] = placeOf(at, ['~', ''] as const);
  const found = await macaroons.page({ accountId, now, includeInactive, before: { since, sessionId } }, size + 1);
  return pageOf(found, size, (one) => [one.validSince, one.sessionId]);
}

async function ending(
  { macaroons }: Pick<HandlerRecords, 'macaroons'>,
  at: { cursor?: string },
  { size, accountId, now }: TokensSought,
  by: string,
): Promise<TokensPage> {
  const [until, sessionId] = placeOf(at, ['', ''] as const);
  const found = await macaroons.ending({ accountId, now, by, after: { until, sessionId } }, size + 1);
  return pageOf(found, size, (one) => [one.validUntil, one.sessionId]);
}
