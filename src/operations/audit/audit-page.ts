// Reads one page of the audit log, for operations and the console; filters by act.
import { retiredWords, toActName, wordsOfAct } from '#acts/audit-words.ts';
import { everyAct } from '#acts/index.ts';
import { nearest } from '#domain/nearest.ts';
import { Refusal } from '#domain/refusal.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import type { AuditRow, AuditFilter } from '#records/audit/audit.ts';

export interface AuditPageFilter extends Omit<AuditFilter, 'actions'> {
  /** The name of an act, or a former word for it. */
  action?: string | undefined;
  /** RFC 3339: only entries from then on. */
  from?: string | undefined;
  /** RFC 3339: only entries before then. */
  to?: string | undefined;
}

interface AuditLogPage {
  entries: AuditRow[];
  /** The number that the next page starts before, or after in ascending order; undefined at the end. */
  next: number | undefined;
}

/**
 * Maximum number of entries that are searched for one page. A filtered page contains the matches among them; the next page
 * continues from there. A program requests the next page by itself, and delays other requests by at most 2 ms; a person does not
 * have to click through empty pages.
 */
export const maxSearchedEntries = { byPrograms: 10_000, byPeople: 100_000 };

export async function readAuditPage(
  { audit }: Pick<HandlerRecords, 'audit'>,
  { from, to, action, ...fields }: AuditPageFilter,
  { before, size, look }: { before: number; size: number; look: number },
): Promise<AuditLogPage> {
  const filter = { ...fields, actions: action === undefined ? undefined : auditWordsFor(action) };
  const head = (await audit.head())?.seq ?? 0;
  const end = Math.min(before, head + 1, to === undefined ? Infinity : await firstSince(audit, to, head));
  const first = from === undefined ? 1 : await firstSince(audit, from, head);
  const after = Math.max(first, end - look) - 1;
  const rows = await audit.search(filter, { after, before: end }, size + 1);
  const entries = rows.slice(0, size);
  const last = entries.at(-1);
  if (rows.length > size && last !== undefined) return { entries, next: last.seq };
  return { entries, next: after >= first ? after + 1 : undefined };
}

/** Like `readAuditPage`, oldest entry first; `next` is the number that the next page starts after. */
export async function readOldestAuditPage(
  { audit }: Pick<HandlerRecords, 'audit'>,
  { from, to, action, ...fields }: AuditPageFilter,
  { after, size, look }: { after: number; size: number; look: number },
): Promise<AuditLogPage> {
  const filter = { ...fields, actions: action === undefined ? undefined : auditWordsFor(action) };
  const head = (await audit.head())?.seq ?? 0;
  const end = to === undefined ? head + 1 : await firstSince(audit, to, head);
  const begin = Math.max(after, (from === undefined ? 1 : await firstSince(audit, from, head)) - 1);
  const before = Math.min(end, begin + look + 1);
  const rows = await audit.searchOldest(filter, { after: begin, before }, size + 1);
  const entries = rows.slice(0, size);
  const last = entries.at(-1);
  if (rows.length > size && last !== undefined) return { entries, next: last.seq };
  return { entries, next: before < end ? before - 1 : undefined };
}

/** The names that entries can be filtered by. */
export const auditNames: readonly string[] = [
  ...new Set([...everyAct.map(({ name }) => name), ...retiredWords]),
].sort();

/** All words that the log may have for an act, by its name or a former word. Throws for another text, with the nearest name. */
export function auditWordsFor(
  text: string,
  toError: (problem: string) => Error = (problem) => new Refusal('api-error', problem),
): readonly string[] {
  const name = toActName(text);
  if (auditNames.includes(name)) return wordsOfAct(name);
  const near = nearest(text, auditNames.flatMap(wordsOfAct));
  const hint = near === undefined ? '/docs/audit lists the acts.' : `Did you mean '${toActName(near)}'?`;
  throw toError(`There is no act '${text.slice(0, 64)}' in the audit log. ${hint}`);
}

/** The number of the first entry in the log from a moment on. The clock can have been set back, so entries need not be sorted by time. */
async function firstSince(audit: HandlerRecords['audit'], moment: string, head: number): Promise<number> {
  let [low, high] = [1, head + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const at = await audit.writtenAt(middle);
    if (at !== undefined && at < moment) low = middle + 1;
    else high = middle;
  }
  return low;
}
