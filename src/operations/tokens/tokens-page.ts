// Reads one page of the tokens of the store, for operations and the console.
import type { HandlerRecords } from '#http/handler-records.ts';
import type { OwnedMacaroon } from '#records/tokens/macaroons.ts';
import { pageOf, placeOf } from '../page.ts';

export interface TokenListFilter {
  /** Only tokens of this account; null for all accounts. */
  accountId: string | null;
  /** The latest time that the store has seen. */
  now: string;
  /** Only valid tokens that expire by then, ordered by expiry. Undefined: all tokens, newest first. */
  endingBefore: string | undefined;
  /** Also revoked and expired tokens; ignored with `endingBefore`. */
  includeInactive: boolean;
  size: number;
}

export interface TokensPage {
  entries: readonly OwnedMacaroon[];
  /** The cursor of the next page; null at the end. */
  next: string | null;
}

export const readTokensPage = (
  records: Pick<HandlerRecords, 'macaroons'>,
  at: { cursor?: string },
  sought: TokenListFilter,
): Promise<TokensPage> =>
  sought.endingBefore === undefined ? newest(records, at, sought) : ending(records, at, sought, sought.endingBefore);

async function newest(
  { macaroons }: Pick<HandlerRecords, 'macaroons'>,
  at: { cursor?: string },
  { size, accountId, now, includeInactive }: TokenListFilter,
): Promise<TokensPage> {
  const [since, sessionId] = placeOf(at, ['~', ''] as const);
  const rows = await macaroons.page({ accountId, now, includeInactive, before: { since, sessionId } }, size + 1);
  return pageOf(rows, size, (row) => [row.validSince, row.sessionId]);
}

async function ending(
  { macaroons }: Pick<HandlerRecords, 'macaroons'>,
  at: { cursor?: string },
  { size, accountId, now }: TokenListFilter,
  endingBefore: string,
): Promise<TokensPage> {
  const [until, sessionId] = placeOf(at, ['', ''] as const);
  const rows = await macaroons.ending({ accountId, now, endsBy: endingBefore, after: { until, sessionId } }, size + 1);
  return pageOf(rows, size, (row) => [row.validUntil, row.sessionId]);
}
