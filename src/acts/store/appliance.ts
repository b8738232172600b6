// Acts of the appliance itself and of the administrator of its host on the store as a whole.
import type { ChangeRecords } from '#records/index.ts';
import { keepSiteKeyCheck } from '../keys/site-key.ts';
import { act } from '../act.ts';
import { recordExport } from '../audit/exports.ts';

/** The administrator account of a new store. */
export const administratorId = 'larder-admin';

export const init = act({
  name: 'create_store',
  summary: 'Create the store with its administrator.',
  on: 'account/ID',
  object: () => `account/${administratorId}`,
  gate: { never: 'there is no account yet that can approve' },

  /**
   * `siteKeyCheck` identifies the site key. The approvals of `approvers` count from the first day: this act makes
   * accounts without recording a change of them. No other act may do so, and this one fails in a store that has
   * accounts.
   */
  async perform(tx, { email, siteKeyCheck, approvers }: NewStoreAccounts, { at, note }): Promise<void> {
    const administrator = {
      id: administratorId,
      username: 'admin',
      displayName: 'Store administrator',
      email,
      validation: 'unproven',
      createdAt: at,
    };
    await tx.accounts.add(administrator, { idMadeHere: true });
    await tx.accounts.makeStoreAdministrator(administratorId, at);
    await keepSiteKeyCheck(tx, siteKeyCheck);
    if (approvers.length > 0) note({ approvers: approvers.map(({ username }) => username) });
    for (const approver of approvers) await addApprover(tx, approver, at);
  },
});

interface NewStoreAccounts {
  /** The address of the store administrator. */
  email: string;
  siteKeyCheck: string;
  approvers: readonly FirstApprover[];
}

/** An approver created with the store. */
export interface FirstApprover {
  id: string;
  username: string;
  /** The digest of the secret of their set-up link, and the link's expiry. */
  linkDigest: string;
  linkUntil: string;
  /** Sealed. */
  totpSecret: string;
  /** Digests of recovery codes. */
  recovery: readonly string[];
}

async function addApprover(tx: ChangeRecords, approver: FirstApprover, at: string): Promise<void> {
  const { id, username, linkDigest, linkUntil, totpSecret, recovery } = approver;
  const account = { id, username, displayName: username, email: `${username}@larder.invalid` };
  await tx.accounts.add({ ...account, validation: 'unproven', createdAt: at }, { idMadeHere: true });
  await tx.accounts.assign(id, 'transfer-approver', at);
  await tx.totpSecrets.set(id, totpSecret, at);
  await tx.totpSecrets.setRecovery(id, recovery);
  await tx.setUpLinks.set(id, linkDigest, linkUntil, { fromInit: true });
}

/** For acts that change no record and are only written to the audit log. */
const noteDetails = async (
  _tx: unknown,
  details: Readonly<Record<string, unknown>>,
  { note }: { note: (details: Record<string, unknown>) => void },
): Promise<void> => {
  note(details);
};

export const upgrade = act({
  name: 'upgrade_store',
  summary: 'Upgrade the records of an older release.',
  on: 'store',
  object: () => 'store',
  gate: { never: 'it follows from the release that is installed' },

  /** The migrations that ran, the release that ran them, and the number of problems in the database before. */
  perform: (tx, ran: { migrations: string[]; version: string; problems: number }, doing) =>
    noteDetails(tx, { ...ran }, doing),
});

export const rollBackUpgrade = act({
  name: 'roll_back_upgrade',
  summary: 'Roll back the records to their state before an upgrade.',
  on: 'store',
  object: () => 'store',
  gate: { never: 'the store is not served during the rollback, which restores a state before any approval' },

  async perform(tx, _: undefined, doing) {
    await tx.transferSources.doubtFloors();
    await noteDetails(tx, {}, doing);
  },
});

export const acceptAudit = act({
  name: 'accept_audit_log',
  summary: 'Continue the audit log as it is, after an investigation of its problems.',
  on: 'audit',
  object: () => 'audit',
  gate: { never: 'it only adds a permanent note about the log' },

  async perform(tx, { problems }: { problems: readonly string[] }, doing) {
    // The audit log may belong to records that were restored by hand.
    if (problems.length > 0) await tx.transferSources.doubtFloors();
    await noteDetails(tx, { problems: problems.length, first: problems.slice(0, 3) }, doing);
  },
});

export const acceptBucket = act({
  name: 'accept_bucket',
  summary: 'Accept a bucket that has lost its marker as the bucket of this store again.',
  on: 'bucket',
  object: () => 'bucket',
  gate: { never: 'until then the store accepts no uploads' },

  /**
   * The number of blobs that the records need, how many of them are in the bucket, and the number of other blobs in it.
   */
  perform: (tx, findings: { place: string; needed: number; there: number; others: number }, doing) =>
    noteDetails(tx, { ...findings }, doing),
});

export const makeBackup = act({
  name: 'make_backup',
  summary: 'Make a backup.',
  on: 'backup/ID',
  object: ({ id }: BackupSummary) => `backup/${id}`,
  gate: { never: 'it changes nothing in the store' },

  async perform(tx, made: BackupSummary, doing) {
    await noteDetails(tx, { ...made }, doing);
    await recordExport(tx, { what: 'backup', name: made.id, sha256: made.sha256, bytes: made.bytes }, doing);
  },
});

export const failBackup = act({
  name: 'record_failed_backup',
  summary: 'Record that a backup failed, and why.',
  on: 'store',
  object: () => 'store',
  gate: { never: 'it changes only the state of backups' },

  perform: (tx, failed: { because: string }, doing) => noteDetails(tx, { ...failed }, doing),
});

export const recordDrill = act({
  name: 'record_drill',
  summary: 'Record that a backup was restored and verified in a drill.',
  on: 'backup/ID',
  object: ({ backup }: DrillResult) => `backup/${backup}`,
  gate: { never: 'it changes nothing in the store' },

  perform: (tx, { 'made-at': madeAt, bytes, seconds }: DrillResult, doing) =>
    noteDetails(tx, { 'made-at': madeAt, bytes, seconds }, doing),
});

export const failDrill = act({
  name: 'record_failed_drill',
  summary: 'Record that a drill failed, and why.',
  on: 'store',
  object: () => 'store',
  gate: { never: 'it changes nothing in the store' },

  perform: (tx, failed: { because: string }, doing) => noteDetails(tx, { ...failed }, doing),
});

interface DrillResult {
  /** The id of the backup, and when it was made. */
  backup: string;
  'made-at': string;
  /** The size of the restored data, and the time that the restore took. */
  bytes: number;
  seconds: number;
}

interface BackupSummary {
  id: string;
  /** The backup that this one builds on. */
  since: string | null;
  /** The number of blobs in it, and the number of missing blobs. */
  blobs: number;
  lacking: number;
  /** Whether it contains the keys of the store. */
  keys: boolean;
  /** The digest of the whole file. */
  sha256: string;
  bytes: number;
}

export const restore = act({
  name: 'restore_store',
  summary: 'Restore the store from a backup; uploads without content in the backup are deleted.',
  on: 'store',
  object: () => 'store',
  gate: { never: 'there is no store before it that could ask for approvals' },

  /** `gone` has the SHA3-384 digests of contents that the backup lacks. Returns the ones that records need. */
  async perform(tx, { gone }: { gone: readonly string[] }, { at, actor, note }): Promise<string[]> {
    await tx.transferSources.doubtFloors();
    // A proposal that waited or was approved may have been carried out after the backup was made.
    await tx.proposals.endAllAsFallen({ at, actor });
    let forgotten = 0;
    for (const content of gone) {
      for (const { id } of await tx.uploads.unclaimedWith(content)) forgotten += Number(await tx.uploads.forget(id));
    }
    note({ forgotten });
    const needed: string[] = [];
    for (const content of gone) if (await tx.neededContents.has(content)) needed.push(content);
    return needed;
  },
});

export const move = act({
  name: 'move_store',
  summary: 'Move the records, or the blobs, to another engine.',
  on: 'store',
  object: () => 'store',
  gate: { never: 'the store is not served during the move' },

  /** The source and target, and the number of rows, or of blobs and bytes. */
  perform: (
    tx,
    moved: { from: string; to: string; rows: number } | { from: string; to: string; blobs: number; bytes: number },
    doing,
  ) => noteDetails(tx, { ...moved }, doing),
});

export const changeSetting = act({
  name: 'change_setting',
  summary: 'Change a setting of the configuration.',
  on: 'configuration',
  object: () => 'configuration',
  gate: { never: 'the caller may write the configuration file anyway' },

  /** Values as in the file; `null` if the key is not set. */
  perform: (tx, changed: { key: string; before: unknown; after: unknown }, doing) =>
    noteDetails(tx, { ...changed }, doing),
});

export const setLogLevel = act({
  name: 'set_log_level',
  summary: 'Change how much the serving store logs.',
  on: 'log',
  object: () => 'log',
  gate: { never: 'the caller may write the configuration file anyway' },

  perform: (tx, { level }: { level: string }, doing) => noteDetails(tx, { level }, doing),
});

export const sealMasterKey = act({
  name: 'seal_master_key',
  summary: 'Protect the signing master key with a passphrase.',
  on: 'master key',
  object: () => 'master key',
  gate: { never: 'the caller has the key already' },

  perform: (tx, _: undefined, doing) => noteDetails(tx, {}, doing),
});

export const renewCertificate = act({
  name: 'renew_certificate',
  summary: 'Use another certificate for the server.',
  on: 'certificate',
  object: () => 'certificate',
  gate: { never: 'it follows from the time, or from files on the host' },

  perform: (tx, { ends, ...certificate }: { hosts: string[]; ends: Date; fingerprint: string }, doing) =>
    noteDetails(tx, { ...certificate, ends: ends.toISOString() }, doing),
});
