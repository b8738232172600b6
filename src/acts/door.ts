// Performs acts, or holds them for approval.
import { ReauthenticationRequired } from '#domain/tokens/reauthentication.ts';
import { noPolicy, type ApprovalPolicy } from '#domain/approvals/approval-policy.ts';
import { minutes, timestamp, type Now } from '#domain/clock.ts';
import type { AuditEntry } from '#records/audit/audit.ts';
import type { ChangeRecords, WritableRecords } from '#records/index.ts';
import { DoneAlready, type Act, type ActContext, type Acts, type Actor, type Do } from './act.ts';
import { checkGate, isPendingAct, buildPendingRefusal, settleApproved, type PendingAct } from './gate.ts';
import { propose } from './approvals/proposals.ts';

type RecordsChange = WritableRecords['change'];

/** The rules of the configuration that acts follow. */
export interface ActRules {
  approvals: () => ApprovalPolicy;
  /** The acts of the console before which the account must have proven its credentials within the last `minutes`. */
  reauthentication: { acts: readonly string[]; minutes: number };
}

const noRules: ActRules = { approvals: () => noPolicy, reauthentication: { acts: [], minutes: 0 } };

/** Creates the interface to change the records of a store. `configured` returns the rules of the configuration. */
export function createActs(
  records: Pick<WritableRecords, 'change' | 'beginAnew'>,
  now: Now,
  configured: () => ActRules = () => noRules,
): Acts {
  const through =
    (change: RecordsChange): Do =>
    async <Input, Result>(act: Act<Input, Result>, actor: Actor, input: NoInfer<Input>): Promise<Result> => {
      try {
        const { approvals, reauthentication } = configured();
        const at = timestamp(now());
        const checked: RecordsChange = (entry, work) =>
          change(entry, async (tx, note) => {
            if (reauthentication.acts.includes(act.name)) await refuseOldProof(tx, actor, { at, reauthentication });
            return work(tx, note);
          });
        if ('kinds' in act.gate) {
          return await performOrPropose(checked, { act, actor, input, configured: approvals(), at });
        }
        const { entry, doing } = entryOf(act, actor, input, at);
        return await checked(entry, (tx, note) => act.perform(tx, input, { ...doing, note }));
      } catch (error) {
        if (error instanceof DoneAlready) return error.result as Result;
        throw error;
      }
    };
  return { do: through(records.change), beginAnew: through(records.beginAnew) };
}

/** Refuses an act in the console if the account has not proven its credentials recently. */
async function refuseOldProof(
  { macaroons }: Pick<ChangeRecords, 'macaroons'>,
  { sessionId }: Actor,
  { at, reauthentication }: { at: string } & Pick<ActRules, 'reauthentication'>,
): Promise<void> {
  const provenAt = typeof sessionId === 'string' ? await macaroons.provenAt(sessionId) : undefined;
  if (provenAt === undefined || Date.parse(at) - Date.parse(provenAt) < minutes(reauthentication.minutes)) return;
  throw new ReauthenticationRequired(reauthentication.minutes);
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
