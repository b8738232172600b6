// Builds the preview and the receipt of a transfer for people and programs. The callers render them.
import type { PlanLine, PlanProblem } from '#acts/transfer-planning.ts';
import type { ApprovalTold, Receipt } from '#acts/transfers.ts';
import type { Report } from '#api/transfer-desk.ts';
import { labelText } from '#domain/site-label.ts';
import { fingerprintOfSshKey } from '#domain/ssh-key.ts';
import type { Seen } from './look.ts';
import { receiptTold } from './receipts.ts';
import { fingerprintOf, fingerprintOfId, shortId } from './site.ts';

/** Returns the preview for people: the transfer, its changes, and the problems that prevent acceptance. */
export function reportOf({
  transfer,
  statement,
  isLate,
  plan,
  farAhead,
  lost,
  why,
  needed,
  digest,
  disbelieved,
  signatures,
}: Seen): Report {
  const { source, sequence, created, expires, reason } = statement;
  const keys = signatures.map(
    (one) => `${one.fingerprint}${one['is-of-source'] ? '' : ` (no key of '${source}' that this site knows)`}`,
  );
  return {
    title: `Transfer ${shortId(transfer.id)}, number ${String(sequence)} of ${source}: ${transfer.status}.`,
    said: [
      `Made ${created}, good until ${expires}${reason === undefined ? '' : `, because: ${reason}`}.`,
      `It has ${labelText(statement.label)}.`,
      ...(isLate
        ? ['It has expired: it comes in when those approve whom the policy asks about unsigned folders.']
        : []),
      ...(farAhead === undefined ? [] : [farAhead]),
      ...(lost.length === 0 ? [] : [wayOutOf(lost, source)]),
      ...(why === null ? [] : [`It waits for people, and did not come in by itself: ${why}`]),
      `Its id is ${transfer.id}.`,
      transfer.unsigned === 1
        ? 'Nobody has signed it: it comes in when those approve whom the policy asks about unsigned folders.'
        : `Signed with ${keys.join(', ')}.`,
      `The digest of these changes is ${digest}.`,
    ],
    changes: [...plan.lines],
    lists: [
      {
        heading: 'Nothing comes in as long as these are in it:',
        items: plan.problems.map((one) => `${aboutProblem(one)}: ${one.why}`),
      },
      { heading: 'Left out:', items: plan.leftOut.map(({ what, why }) => `${what}: ${why}`) },
      {
        heading: 'What it needs, and neither it brings nor this site has:',
        items: needed.map(
          ({ kind, name, architecture, by }) => `${name} (${kind}, ${architecture}), for ${by.join(', ')}`,
        ),
      },
      { heading: 'Not believed:', items: disbelieved.map(({ what, why }) => `${what}: ${why}`) },
      { heading: 'Contents that are neither in it nor here, by their SHA3-384:', items: plan.missing },
    ],
  };
}

/** Returns advice about earlier transfers that were not accepted. */
function wayOutOf(lost: readonly number[], source: string): string {
  const [first = 0] = lost;
  const numbers = lost.map(String).join(', ');
  return (
    `It leaves out what earlier transfers of '${source}' carried, and number ${numbers} was not accepted here. ` +
    `If one was lost, its people make it again with 'larder transfer make FILE --again ${String(first)}': accept that one before this one. ` +
    `If this one is accepted first, they type 'larder transfer lost ${String(first)}', and their next transfer carries all of it again; ` +
    "a request of this site, 'larder transfer request FILE', asks for it too."
  );
}

/** Returns the subject of a problem: a package, or a part of it. */
const aboutProblem = ({ package: called, what }: PlanProblem): string =>
  what === called ? called : `${called}, ${what}`;

/** Returns the preview for programs. */
export const present = ({ transfer, statement, isLate, plan, why, needed, digest, disbelieved, signatures }: Seen) => ({
  id: transfer.id,
  status: transfer.status,
  ...{ source: statement.source, sequence: statement.sequence, created: statement.created, expires: statement.expires },
  expired: isLate,
  label: statement.label ?? null,
  unsigned: transfer.unsigned === 1,
  ...(why !== null && { why }),
  ...(statement.reason !== undefined && { reason: statement.reason }),
  lines: plan.lines,
  problems: plan.problems,
  missing: plan.missing,
  needed: needed.map(({ by, ...one }) => ({ ...one, 'needed-by': by })),
  'left-out': plan.leftOut,
  disbelieved,
  signatures,
  digest,
});

/** Returns the content of the signed receipt for people. */
export function receiptReport(receipt: Receipt, about: Parameters<typeof receiptTold>[1]): Report {
  const told = receiptTold(receipt, about);
  const head = told['audit-head'];
  const leftOut = told['left-out'] as PlanProblem[];
  return {
    title: `Receipt of transfer ${shortId(told.transfer)}, number ${String(told.sequence)} of ${told.source}`,
    said: [
      `${told.site} let it in at ${told['accepted-at']}, by ${told['accepted-by']}. Its id is ${told.transfer}.`,
      `The key of ${told.site} has the fingerprint ${fingerprintOf([about.site.seed.publicKey]).join(', ')}.`,
      `It had ${labelText(told.label)}.`,
      ...(told.expired === undefined ? [] : [`It was good until ${told.expired}, and was let in later than that.`]),
      ...(told.media.length === 0 ? [] : [`It came on ${told.media.join(', ')}.`]),
      ...(told.automatic === undefined ? [] : [`Nobody was asked. ${told.automatic}`]),
      told.unsigned === true
        ? 'Nobody had signed it.'
        : `It was signed with ${told.signatures.map(({ keyid }) => fingerprintOfId(keyid)).join(', ')}.`,
      ...(head === null ? [] : [`The audit log of ${told.site} ended with entry ${String(head.seq)}, ${head.hash}.`]),
      'This page is for people; what is signed is the receipt without --html.',
    ],
    changes: [...told.lines] as PlanLine[],
    lists: [
      { heading: 'Left out:', items: leftOut.map(({ what, why }) => `${what}: ${why}`) },
      {
        heading: 'Approved by:',
        items: told.approvals.map(approvalText),
      },
      {
        heading: 'Whom the policy asked then:',
        items: Object.entries(told.policy).map(([what, rule]) => `${what}: ${rule}`),
      },
      {
        heading: 'Whom this site believed then:',
        items: told.sources.map(
          ({ name, keys, threshold, packages, 'may-release': mayRelease }) =>
            `${name}: ${String(threshold)} of the keys ${fingerprintOf(keys).join(', ')}; ${packages.join(', ')}${mayRelease ? '' : ', and no releases'}`,
        ),
      },
    ],
  };
}

const approvalText = ({ displayName, username, accountId, at, key }: ApprovalTold): string =>
  `${displayName} (${username}, ${accountId}) at ${at}` +
  (key === undefined ? '' : `, signed with ${fingerprintOfSshKey(key)}`);
