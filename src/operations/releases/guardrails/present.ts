// Presents the guardrails of a package, in the order of their creation.
import type { GuardrailsResponse } from '#contract/wire.ts';
import type { StoreRecords } from '#records/index.ts';

export async function presentGuardrails(
  { guardrails }: Pick<StoreRecords, 'guardrails'>,
  subject: { id: string },
): Promise<GuardrailsResponse> {
  const rows = await guardrails.list(subject.id);
  return { guardrails: rows.map(({ pattern, createdAt }) => ({ pattern, 'created-at': createdAt })) };
}
