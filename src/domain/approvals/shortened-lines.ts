// Shortens the lines of a proposal for people. Programs and the signed text get every line in full.
import type { ApprovalKind, ApprovalLine } from './approval-policy.ts';

/** One change, with all kinds of approval that it needs. */
export interface ShownLine extends Omit<ApprovalLine, 'kind'> {
  kinds: readonly ApprovalKind[];
}

/** The changes of a proposal without repetition, each with all its kinds and with short digests. */
export function shortenLines(lines: readonly ApprovalLine[]): ShownLine[] {
  const changes = new Map<string, ShownLine & { kinds: ApprovalKind[] }>();
  for (const { kind, on, part, from, to } of lines) {
    const key = JSON.stringify([on, part, from, to]);
    const existing = changes.get(key);
    if (existing === undefined) {
      changes.set(key, { on, part, from: withShortDigests(from), to: withShortDigests(to), kinds: [kind] });
    } else if (!existing.kinds.includes(kind)) existing.kinds.push(kind);
  }
  return [...changes.values()];
}

/** Cuts SHA-256 and SHA3-384 digests in hex to 12 digits. */
const withShortDigests = (text: string | null): string | null =>
  text?.replace(/\b([0-9a-f]{12})(?:[0-9a-f]{52}|[0-9a-f]{84})\b/g, '$1…') ?? null;
