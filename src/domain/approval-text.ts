// What somebody signs who approves of a proposal: a text that names the store, the proposal and each change, so that what is
// signed is what was read, and counts for nothing else.
import type { Line } from './approvals.ts';

/** What signatures of approvals are made for, as `ssh-keygen -Y sign -n` is told. */
export const approvalNamespace = 'larder-approval';

export interface Proposed {
  number: number;
  act: string;
  object: string;
  actor: string;
  proposedAt: string;
  digest: string;
  lines: readonly Line[];
}

/** `store` is what the site is called. Whatever differs in any part makes another text. */
export function approvalText(
  store: string,
  { number, act, object, actor, proposedAt, digest, lines }: Proposed,
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

const lineText = ({ kind, on, part, from, to }: Line): string =>
  `${quoted(kind)} ${quoted(on)} ${quoted(part)}: ${quoted(from)} -> ${quoted(to)}`;

/** In quotes as JSON has them, with whatever hides or moves what is shown written out; nothing where there is nothing. */
const quoted = (text: string | null): string =>
  text === null
    ? 'nothing'
    : JSON.stringify(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (sign) =>
        Array.from({ length: sign.length }, (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
          '',
        ),
      );
