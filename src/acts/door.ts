// Performs acts, or holds them for approval.
import { noPolicy, type ApprovalPolicy } from '#domain/approvals.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import type { AuditEntry } from '#records/audit.ts';
import type { WritableRecords } from '#records/index.ts';
import { DoneAlready, type Act, type Acts, type By, type Do } from './act.ts';
import { approvedOrHeld, isWaiting, refusalOf, settleApproved, type Waiting } from './gate.ts';
import { propose } from './proposals.ts';

type Change = WritableRecords['change'];

/**
 * Creates the interface to change the records of a store. `configured` returns the approval policy of the
 * configuration.
 */
export function createActs(
  records: Pick<WritableRecords, 'change' | 'beginAnew'>,
  now: Now,
  configured: () => ApprovalPolicy = () => noPolicy,
): Acts {
  const through =
    (change: Change): Do =>
    async <Input, Result>(what: Act<Input, Result>, by: By, input: NoInfer<Input>): Promise<Result> => {
      try {
        if ('kinds' in what.gate) {
          return await doOrPropose(change, { what, by, input, configured: configured(), at: timestamp(now()) });
        }
        const { entry, doing } = entryOf(what, by, input, timestamp(now()));
        return await change(entry, (tx, note) => what.perform(tx, input, { ...doing, note }));
      } catch (error) {
        if (error instanceof DoneAlready) return error.given as Result;
        throw error;
      }
    };
  return { do: through(records.change), beginAnew: through(records.beginAnew) };
}

interface Wanted<Input, Result> {
  what: Act<Input, Result>;
  by: By;
  input: Input;
  configured: ApprovalPolicy;
  at: string;
}

function entryOf<Input, Result>(
  what: Act<Input, Result>,
  { actor, sessionId = null, requestId = null }: By,
  input: Input,
  at: string,
): { entry: AuditEntry; doing: By & { at: string } } {
  const doing = { at, actor, sessionId, requestId };
  return { doing, entry: { ...doing, action: what.name, object: what.object(input), outcome: what.outcome ?? 'done' } };
}

/**
 * Performs an act that is approved or needs no approval. An act that needs approval is tried at the first request, so
 * that an impossible one is refused at once; then it is rolled back and proposed.
 */
async function doOrPropose<Input, Result>(change: Change, wanted: Wanted<Input, Result>): Promise<Result> {
  const { what, by, input, at } = wanted;
  const { entry, doing } = entryOf(what, by, input, at);
  let waiting: Waiting;
  try {
    return await change(entry, async (tx, note) => {
      const asked = await approvedOrHeld(tx, { ...wanted, object: entry.object });
      const approved = asked?.approved;
      const result = await what.perform(tx, input, { ...doing, note, ...(approved && { approved }) });
      if (asked !== undefined) await settleApproved(tx, asked, { ...doing, note });
      return result;
    });
  } catch (error) {
    if (!isWaiting(error)) throw error;
    waiting = error;
  }
  const proposal = waiting.proposal ?? (await proposed(change, wanted, waiting));
  throw refusalOf(proposal, waiting);
}

async function proposed<Input, Result>(change: Change, { by, at }: Wanted<Input, Result>, waiting: Waiting) {
  const { entry, doing } = entryOf(propose, by, waiting.asked, at);
  try {
    return await change(entry, (tx, note) => propose.perform(tx, waiting.asked, { ...doing, note }));
  } catch (error) {
    // The same request was proposed a moment earlier.
    if (error instanceof DoneAlready) return error.given as Awaited<ReturnType<typeof propose.perform>>;
    throw error;
  }
}
