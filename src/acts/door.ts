// Performs acts, or holds them for approval.
import { noPolicy, type ApprovalPolicy } from '#domain/approvals/approval-policy.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import type { AuditEntry } from '#records/audit/audit.ts';
import type { WritableRecords } from '#records/index.ts';
import { DoneAlready, type Act, type ActContext, type Acts, type Actor, type Do } from './act.ts';
import { checkGate, isPendingAct, buildPendingRefusal, settleApproved, type PendingAct } from './gate.ts';
import { propose } from './approvals/proposals.ts';

type RecordsChange = WritableRecords['change'];

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
    (change: RecordsChange): Do =>
    async <Input, Result>(act: Act<Input, Result>, actor: Actor, input: NoInfer<Input>): Promise<Result> => {
      try {
        if ('kinds' in act.gate) {
          return await performOrPropose(change, { act, actor, input, configured: configured(), at: timestamp(now()) });
        }
        const { entry, doing } = entryOf(act, actor, input, timestamp(now()));
        return await change(entry, (tx, note) => act.perform(tx, input, { ...doing, note }));
      } catch (error) {
        if (error instanceof DoneAlready) return error.result as Result;
        throw error;
      }
    };
  return { do: through(records.change), beginAnew: through(records.beginAnew) };
}

interface ActRequest<Input, Result> {
  act: Act<Input, Result>;
  actor: Actor;
  input: Input;
  configured: ApprovalPolicy;
  at: string;
}

function entryOf<Input, Result>(
  act: Act<Input, Result>,
  { actor, sessionId = null, requestId = null }: Actor,
  input: Input,
  at: string,
): { entry: AuditEntry; doing: Actor & Pick<ActContext, 'at' | 'action'> } {
  const doing = { at, actor, sessionId, requestId, action: act.name };
  return { doing, entry: { ...doing, object: act.object(input), outcome: act.outcome ?? 'done' } };
}

/**
 * Performs an act that is approved or needs no approval. An act that needs approval is tried at the first request, so
 * that an impossible one is refused at once; then it is rolled back and proposed.
 */
async function performOrPropose<Input, Result>(
  change: RecordsChange,
  request: ActRequest<Input, Result>,
): Promise<Result> {
  const { act, actor, input, at } = request;
  const { entry, doing } = entryOf(act, actor, input, at);
  let waiting: PendingAct;
  try {
    return await change(entry, async (tx, note) => {
      const decision = await checkGate(tx, { ...request, object: entry.object });
      const approved = decision?.approved;
      const result = await act.perform(tx, input, { ...doing, note, ...(approved && { approved }) });
      if (decision !== undefined) await settleApproved(tx, decision, { ...doing, note });
      return result;
    });
  } catch (error) {
    if (!isPendingAct(error)) throw error;
    waiting = error;
  }
  const proposal = waiting.proposal ?? (await proposeAct(change, request, waiting));
  throw buildPendingRefusal(proposal, waiting);
}

async function proposeAct<Input, Result>(
  change: RecordsChange,
  { actor, at }: ActRequest<Input, Result>,
  waiting: PendingAct,
) {
  const { entry, doing } = entryOf(propose, actor, waiting.newProposal, at);
  try {
    return await change(entry, (tx, note) => propose.perform(tx, waiting.newProposal, { ...doing, note }));
  } catch (error) {
    // The same request was proposed a moment earlier.
    if (error instanceof DoneAlready) return error.result as Awaited<ReturnType<typeof propose.perform>>;
    throw error;
  }
}
