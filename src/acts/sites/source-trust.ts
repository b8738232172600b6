// Decides whether a source of transfers is trusted now: at receipt, in the preview, at each approval, and at
// acceptance.
import type { ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { TransferSource } from '#records/sites/transfer-sources.ts';
import type { LazyTransferStatement } from '../transfers/statement.ts';
import {
  unsignedSource,
  refuseDoubtfulClock,
  refuseDoubtfulFloor,
  refuseUnfit,
  refuseUnsigned,
  type ReceivingSite,
} from '../transfers/acceptance-conditions.ts';

type SignatureRequirement = Pick<TransferSource, 'name' | 'keys' | 'threshold' | 'scanners' | 'scans'>;

/**
 * Returns the keys of the source and of its scanning stations that count as signatures. Refuses a transfer with too few
 * of them. `signers` are the public keys of the valid signatures. A key that is both counts for the source.
 */
export function countSignatures(signers: readonly string[], source: SignatureRequirement): string[] {
  const { name, keys, threshold, scanners, scans } = source;
  const ofSource = signers.filter((key) => keys.includes(key));
  if (ofSource.length < threshold) {
    throw new Refusal(
      'conflict',
      `The transfer is signed with ${String(ofSource.length)} of the keys of '${name}', but this site requires ${String(threshold)}. ` +
        "If the source has rotated its keys, import the rotation with 'larder site trust FILE', " +
        "then receive a copy with the missing signatures. Else discard the transfer with 'larder transfer discard'.",
    );
  }
  const ofStations = signers.filter((key) => scanners.includes(key) && !ofSource.includes(key));
  if (ofStations.length >= scans) return [...ofSource, ...ofStations];
  throw new Refusal(
    'conflict',
    `The transfer is signed by ${String(ofStations.length)} of the scanning stations, but this site requires ${String(scans)}. ` +
      "Have a station unpack it and sign it with 'larder transfer sign', then receive the signed copy.",
  );
}

/** The properties of a waiting transfer that decide whether it can be accepted. */
export interface WaitingTransfer extends ReceivingSite {
  id: string;
  statement: LazyTransferStatement;
  /** The public keys of the source and its stations that have signed the statement, as known when it was read. */
  signers: readonly string[];
  /** Whether it is the content of a site's former store, which an empty store adopts without signatures. */
  isAdoption?: boolean;
}

type PackageCount = Pick<StoreRecords['packages'], 'isEmpty'>;
type TrustRecords = Pick<StoreRecords, 'appliance' | 'approvalPolicy' | 'transfers' | 'transferSources'> & {
  packages: PackageCount;
};

/** The source of a transfer that may be accepted now. */
export interface TrustedSource {
  /** The keys and limits that apply: those of the trusted source, or those of unsigned transfers. */
  source: Pick<TransferSource, 'name' | 'keys' | 'packages' | 'mayRelease'>;
  /** The stored source with its trust settings; undefined if the transfer is unsigned. */
  trusted: TransferSource | undefined;
}

/**
 * Returns the source of a waiting transfer. Refuses an untrusted source, and a transfer that is not for this site or
 * cannot be accepted now.
 */
export async function requireTrustedSource(
  records: TrustRecords,
  { id, statement, signers, site, labels, isAdoption = false }: WaitingTransfer,
  at: string,
): Promise<TrustedSource> {
  await refuseDoubtfulClock(records, at);
  const policy = await records.approvalPolicy.inForce();
  const isUnsigned = (await records.transfers.find(id))?.unsigned === 1;
  const trusted = isUnsigned ? undefined : await records.transferSources.find(statement.source);
  if (isUnsigned) {
    if (isAdoption) await refuseAdoption(records);
    else refuseUnsigned(policy);
  } else if (trusted === undefined) {
    throw new Refusal(
      'conflict',
      `This site does not trust '${statement.source}' any more. Trust it again with 'larder site trust', or discard the transfer with ` +
        `'larder transfer discard ${id.slice(0, 12)}'.`,
    );
  } else {
    refuseCopiedKey(trusted);
    countSignatures(signers, trusted);
    refuseDoubtfulFloor(trusted);
  }
  refuseUnfit(statement, { site, labels, at, floor: trusted?.floor ?? 0, policy });
  return { source: trusted ?? unsignedSource, trusted };
}

/** Refuses transfers of a source after proof that one of its keys was copied. */
export function refuseCopiedKey({ name, keyCopiedAt }: Pick<TransferSource, 'name' | 'keyCopiedAt'>): void {
  if (keyCopiedAt === null) return;
  throw new Refusal(
    'conflict',
    `Two different rotations with one number prove that a key of '${name}' was copied. Ask its administrators by telephone which keys are theirs: ` +
      `'larder site distrust ${name}' ends the trust, 'larder site trust FILE --fingerprint ...' trusts the keys that they name.`,
  );
}

/** Refuses an adoption by a store that has packages already, unless the policy names approvers for unsigned folders. */
export async function refuseAdoption({
  approvalPolicy,
  packages,
}: Pick<StoreRecords, 'approvalPolicy'> & { packages: PackageCount }): Promise<void> {
  if ((await approvalPolicy.inForce()).rules.unsigned_folders !== undefined || (await packages.isEmpty())) return;
  throw new Refusal(
    'conflict',
    'This store has packages already, and the folder is not signed. Adopt it into an empty store, or set ' +
      `unsigned_folders = "2" in the section [approvals] of larder.toml, for any two accounts with the role transfer-approver.`,
  );
}

/** The trust settings of a source, in words for approvers. */
export const describeTrust = ({
  keys,
  threshold,
  packages,
  mayRelease,
  scanners = [],
  scans = 0,
  accept,
}: Pick<TransferSource, 'keys' | 'threshold' | 'packages' | 'mayRelease'> &
  Partial<Pick<TransferSource, 'scanners' | 'scans' | 'accept'>>): string =>
  `${String(threshold)} of the keys ${[...keys].sort().join(', ')}; ${packages.join(', ')}${mayRelease ? '' : ', and no releases'}` +
  (scans === 0 ? '' : `; ${String(scans)} of the scanning stations ${[...scanners].sort().join(', ')}`) +
  (accept === 'automatic' ? '; what it sends is let in by itself' : '');

const trustPart = 'trust';

/** The line with the trust settings that an approval relies on. If they change, the approval no longer counts. */
export const trustLine = (source: TransferSource): ApprovalLine => ({
  kind: 'transfers',
  on: `source/${source.name}`,
  part: trustPart,
  from: null,
  to: describeTrust(source),
});

/** Whether the sources in the lines of a proposal are still trusted on the same terms as when it was proposed. */
export async function isTrustCurrent(
  { transferSources }: Pick<StoreRecords, 'transferSources'> | Pick<ChangeRecords, 'transferSources'>,
  lines: readonly ApprovalLine[],
): Promise<boolean> {
  for (const { kind, on, part, to } of lines) {
    if (kind !== 'transfers' || part !== trustPart || !on.startsWith('source/')) continue;
    const source = await transferSources.find(on.slice('source/'.length));
    if (source === undefined || describeTrust(source) !== to) return false;
  }
  return true;
}
