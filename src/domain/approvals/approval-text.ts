// The text that an approver signs. It names the store, the proposal and each change, so that the signature covers
// exactly the displayed changes and nothing else.
import type { ApprovalLine } from './approval-policy.ts';

/** The namespace of approval signatures, for `ssh-keygen -Y sign -n`. */
export const approvalNamespace = 'larder-approval';

export interface ProposalToSign {
  number: number;
  act: string;
  object: string;
  actor: string;
  proposedAt: string;
  digest: string;
  lines: readonly ApprovalLine[];
}

/** `store` is the name of the site. A difference in any part gives a different text. */
export function approvalText(
  store: string,
  { number, act, object, actor, proposedAt, digest, lines }: ProposalToSign,
): string {
  return [
    'larder approval 1',
    `store: ${quoted(store)}`,
    `proposal: ${String(number)}`,
    `proposed at: ${quoted(proposedAt)}`,
    `proposed by: ${quoted(actor)}`,
    `act: ${quoted(act)}`,
    `on: ${quoted(object)}`,
    `digest: ${quoted(digest)}`,
    `changes: ${String(lines.length)}`,
    ...lines.map(lineText),
    '',
  ].join('\n');
}

const lineText = ({ kind, on, part, from, to }: ApprovalLine): string =>
  `${quoted(kind)} ${quoted(on)} ${quoted(part)}: ${quoted(from)} -> ${quoted(to)}`;

/** Quotes a text as JSON, with invisible and control characters escaped; `nothing` for null. */
const quoted = (text: string | null): string =>
  text === null
    ? 'nothing'
    : JSON.stringify(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (sign) =>
        Array.from({ length: sign.length }, (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
          '',
        ),
      );
