// Builds the preview and the receipt of a transfer for people and programs. The callers render them.
import type { PlanLine, PlanProblem, TransferPlan } from '#acts/transfers/plan-types.ts';
import type { ReceiptApproval, Receipt } from '#acts/transfers/receipt.ts';
import type { TransferReport } from '#http/transfer-desk.ts';
import { labelText } from '#domain/sites/site-label.ts';
import { fingerprintOfSshKey } from '#domain/approvals/ssh-key.ts';
import type { TransferInspection } from './inspect.ts';
import { presentTransferVulnerabilities, reportVulnerabilities } from './transfer-vulnerabilities.ts';
import { toPublicReceipt } from './receipts.ts';
import type { CarriedRelease } from '../larder-release/carried-release.ts';
import type { ReleaseComparison } from '../larder-release/compare-release.ts';
import { fingerprintOf, fingerprintOfId, shortId } from '../site.ts';

/** Returns the preview for people: the transfer, its changes, and the problems that prevent acceptance. */
export function buildPreviewReport({
  transfer,
  statement,
  isLate,
  plan,
  farAheadWarning,
  lost,
  waitReason,
  needed,
  vulnerabilities,
  digest,
  disbelieved,
  signatures,
  carriedReleases,
}: TransferInspection): TransferReport {
  const reported = reportVulnerabilities(vulnerabilities);
  const { source, sequence, created, expires, reason } = statement;
  const keys = signatures.map(
    (signature) => `${signature.fingerprint}${signature['is-of-source'] ? '' : ` (not a trusted key of '${source}')`}`,
  );
  return {
    title: `Transfer ${shortId(transfer.id)}, number ${String(sequence)} of ${source}: ${transfer.status}.`,
    sentences: [
      `Made ${created}, valid until ${expires}${reason === undefined ? '' : `, because: ${reason}`}.`,
      `It has ${labelText(statement.label)}.`,
      ...(isLate
        ? ['It has expired: it can be accepted only with the approvals that the policy requires for unsigned folders.']
        : []),
      ...(farAheadWarning === undefined ? [] : [farAheadWarning]),
      ...(lost.length === 0 ? [] : [wayOutOf(lost, source)]),
      ...(waitReason === null ? [] : [`It was not accepted automatically and waits for a person: ${waitReason}`]),
      `Its id is ${transfer.id}.`,
      transfer.unsigned === 1
        ? 'It is not signed: it can be accepted only with the approvals that the policy requires for unsigned folders.'
        : `Signed with ${keys.join(', ')}.`,
      ...reported.sentences,
      `The digest of these changes is ${digest}.`,
    ],
    changes: [...plan.lines],
    lists: [
      {
        heading: 'The transfer cannot be accepted with these problems:',
        items: plan.problems.map((problem) => `${aboutProblem(problem)}: ${problem.why}`),
      },
      ...reported.lists,
      ...plannedReleases(plan, carriedReleases).flatMap(describeRelease),
      { heading: 'Left out:', items: plan.leftOut.map(({ what: subject, why: cause }) => `${subject}: ${cause}`) },
      {
        heading: 'Needed, but neither in the transfer nor here:',
        items: needed.map(
          ({ kind, name, architecture, neededBy: dependents }) =>
            `${name} (${kind}, ${architecture}), for ${dependents.join(', ')}`,
        ),
      },
      { heading: 'Not trusted:', items: disbelieved.map(({ what: subject, why: cause }) => `${subject}: ${cause}`) },
      { heading: 'Contents that are neither in the transfer nor here, by their SHA3-384:', items: plan.missing },
    ],
  };
}

/** The releases of larder that the transfer would keep, and their comparison with the installed one. */
const plannedReleases = (
  { larderReleases }: Pick<TransferPlan, 'larderReleases'>,
  carried: readonly CarriedRelease[],
): PlannedRelease[] =>
  carried.flatMap(({ comparison, ...release }) =>
    comparison !== undefined && larderReleases.some((planned) => planned.release.version === release.version)
      ? [{ ...release, comparison }]
      : [],
  );

interface PlannedRelease extends CarriedRelease {
  comparison: ReleaseComparison;
}

function describeRelease({ version, installed, comparison }: PlannedRelease): TransferReport['lists'] {
  const { changelog, components, fixed } = comparison;
  const unknown = 'Unknown: the installed program or the release has no readable bill of materials.';
  const or = (items: readonly string[], none: string) => (items.length === 0 ? [none] : items);
  return [
    {
      heading: `Changes of larder from ${installed} to ${version}:`,
      items: or(changelog, 'Its changelog has no lines between these versions.'),
    },
    {
      heading: `Components that differ between larder ${installed} and ${version}:`,
      items: components === null ? [unknown] : or(components, 'none'),
    },
    {
      heading: `Vulnerabilities that larder ${version} fixes, as its OpenVEX statements say:`,
      items: or(fixed, 'none'),
    },
  ];
}

/** Returns advice about earlier transfers that were not accepted. */
function wayOutOf(lost: readonly number[], source: string): string {
  const [first = 0] = lost;
  const numbers = lost.map(String).join(', ');
  return (
    `It leaves out what earlier transfers of '${source}' carried, and number ${numbers} was not accepted here. ` +
    `If one was lost, ask '${source}' to run 'larder transfer make FILE --again ${String(first)}', and accept that transfer before this one. ` +
    `If you accept this one first, ask '${source}' to run 'larder transfer lost ${String(first)}'; its next transfer then contains everything again. ` +
    "A request of this site ('larder transfer request FILE') asks for it too."
  );
}

/** Returns the subject of a problem: a package, or a part of it. */
const aboutProblem = ({ package: called, what: subject }: PlanProblem): string =>
  subject === called ? called : `${called}, ${subject}`;

/** Returns the preview for programs. */
export const presentPreview = ({
  transfer,
  statement,
  isLate,
  plan,
  waitReason,
  needed,
  vulnerabilities,
  digest,
  disbelieved,
  signatures,
  carriedReleases,
}: TransferInspection) => ({
  id: transfer.id,
  status: transfer.status,
  source: statement.source,
  sequence: statement.sequence,
  created: statement.created,
  expires: statement.expires,
  expired: isLate,
  label: statement.label ?? null,
  unsigned: transfer.unsigned === 1,
  ...(waitReason !== null && { why: waitReason }),
  ...(statement.reason !== undefined && { reason: statement.reason }),
  lines: plan.lines,
  problems: plan.problems,
  missing: plan.missing,
  needed: needed.map(({ neededBy: dependents, ...need }) => ({ ...need, 'needed-by': dependents })),
  ...(vulnerabilities.feeds !== undefined && {
    vulnerabilities: presentTransferVulnerabilities(vulnerabilities),
  }),
  ...(plan.larderReleases.length > 0 && {
    'larder-releases': plannedReleases(plan, carriedReleases).map(
      ({ version, commit = null, released, installed, comparison }) => ({
        version,
        commit,
        released,
        installed,
        ...comparison,
      }),
    ),
  }),
  'left-out': plan.leftOut,
  disbelieved,
  signatures,
  digest,
});

/** Returns the content of the signed receipt for people. */
export function buildReceiptReport(receipt: Receipt, about: Parameters<typeof toPublicReceipt>[1]): TransferReport {
  const publicReceipt = toPublicReceipt(receipt, about);
  const head = publicReceipt['audit-head'];
  const leftOut = publicReceipt['left-out'] as PlanProblem[];
  return {
    title: `Receipt of transfer ${shortId(publicReceipt.transfer)}, number ${String(publicReceipt.sequence)} of ${publicReceipt.source}`,
    sentences: [
      `${publicReceipt.site} accepted it at ${publicReceipt['accepted-at']}, by ${publicReceipt['accepted-by']}. Its id is ${publicReceipt.transfer}.`,
      `The key of ${publicReceipt.site} has the fingerprint ${fingerprintOf([about.site.key.publicKey]).join(', ')}.`,
      `It had ${labelText(publicReceipt.label)}.`,
      ...(publicReceipt.expired === undefined
        ? []
        : [`It expired at ${publicReceipt.expired} and was accepted after that.`]),
      ...(publicReceipt.media.length === 0 ? [] : [`It came on ${publicReceipt.media.join(', ')}.`]),
      ...(publicReceipt.automatic === undefined ? [] : [`It was accepted automatically. ${publicReceipt.automatic}`]),
      publicReceipt.unsigned === true
        ? 'It was not signed.'
        : `It was signed with ${publicReceipt.signatures.map(({ keyid }) => fingerprintOfId(keyid)).join(', ')}.`,
      ...(head === null
        ? []
        : [`The audit log of ${publicReceipt.site} ended with entry ${String(head.seq)}, ${head.hash}.`]),
      'This page is for people. The signature covers the receipt without --html.',
    ],
    changes: [...publicReceipt.lines] as PlanLine[],
    lists: [
      { heading: 'Left out:', items: leftOut.map(({ what: subject, why: cause }) => `${subject}: ${cause}`) },
      {
        heading: 'Approved by:',
        items: publicReceipt.approvals.map(approvalText),
      },
      {
        heading: 'Approval policy at that time:',
        items: Object.entries(publicReceipt.policy).map(([kind, rule]) => `${kind}: ${rule}`),
      },
      {
        heading: 'Trusted sources at that time:',
        items: publicReceipt.sources.map(
          ({ name, keys, threshold, packages, 'may-release': mayRelease }) =>
            `${name}: ${String(threshold)} of the keys ${fingerprintOf(keys).join(', ')}; ${packages.join(', ')}${mayRelease ? '' : ', and no releases'}`,
        ),
      },
    ],
  };
}

const approvalText = ({ displayName, username, accountId, at, key }: ReceiptApproval): string =>
  `${displayName} (${username}, ${accountId}) at ${at}` +
  (key === undefined ? '' : `, signed with ${fingerprintOfSshKey(key)}`);
