// Presents the guardrails of a package, in the order of their creation.
import type { GuardrailsResponse } from '#api/wire.ts';
import type { Records } from '#records/index.ts';

export async function presentGuardrails(
  { guardrails }: Pick<Records, 'guardrails'>,
  subject: { id: string },
): Promise<GuardrailsResponse> {
  const found = await guardrails.list(subject.id);
  return { guardrails: found.map(({ pattern, createdAt }) => ({ pattern, 'created-at': createdAt })) };
}
