// The kinds of faults: the severity, sentence and remedy of each. faults.ts makes faults from them.
import { formatBytes } from '#domain/byte-size.ts';
import { formatCount } from '#domain/quantities.ts';

/** A problem needs action. A notice is worth knowing, and the store can be well with it. */
export type Severity = 'problem' | 'notice';

export interface FaultKind<Facts> {
  severity: Severity;
  about: string;
  says: (facts: Facts) => string;
  remedy: (facts: Facts) => string;
}

const fault =
  (severity: Severity) =>
  <Facts = object>(
    about: string,
    says: FaultKind<Facts>['says'],
    remedy: FaultKind<Facts>['remedy'] | string,
  ): FaultKind<Facts> => ({ severity, about, says, remedy: typeof remedy === 'string' ? () => remedy : remedy });
const problem = fault('problem');
const notice = fault('notice');

const restore =
  "Stop the server, move the data directory aside, and restore the last good backup with 'larder restore'.";
const makeRoom = "Make room on the disk, or move the store to a larger one with 'larder backup' and 'larder restore'.";
const renewals = {
  site: "Put a new certificate into the site's files and send the server SIGHUP.",
  own: "Restart the server: it renews its own certificate. 'larder doctor' then shows the new date.",
  authority:
    'Stop the server, move the folder tls of the data directory aside, and start it: it makes a new authority, which every ' +
    'client and device then needs.',
};

const serviceKinds = {
  'service-down': problem<{ unit: string; state: string; lastLine?: string | undefined; remedy?: string | undefined }>(
    'Server',
    ({ unit, state, lastLine }) =>
      `The service ${unit} is not running (${state})${lastLine === undefined ? '' : `; its last line: ${lastLine}`}`,
    ({ unit, remedy }) =>
      `${remedy === undefined ? '' : `${remedy} `}Look with 'systemctl status ${unit}' and 'journalctl -u ${unit} -n 20', ` +
      `then run 'systemctl start ${unit}'.`,
  ),
  'start-failed': problem<{ at: string; because: string; data: string; remedy?: string | undefined }>(
    'Server',
    ({ at, because }) => `The store is not served: its last start at ${at} failed: ${because}`,
    ({ data, remedy }) =>
      remedy === undefined
        ? `Correct that, then start it again, by hand with 'larder serve --data ${data}'.`
        : `${remedy} By hand, 'larder serve --data ${data}' starts it again.`,
  ),
  'ended-unexpectedly': problem<{ pid: number; data: string }>(
    'Server',
    ({ pid }) => `The store is not served: process ${String(pid)} served it and ended without a stop`,
    ({ data }) => `Look at the system's log, then start it again, by hand with 'larder serve --data ${data}'.`,
  ),
  'not-answering': problem<{ pid: number; because: string }>(
    'Server',
    ({ pid, because }) => `Process ${String(pid)} holds the store and does not answer: ${because}`,
    'Look at its log, and restart it if it does not recover.',
  ),
  'not-served': notice<{ data: string }>(
    'Server',
    () => 'The store is not being served at the moment',
    ({ data }) => `'larder serve --data ${data}' serves it.`,
  ),
  'few-workers': notice<{ serving: number; wanted: number }>(
    'Server',
    ({ serving, wanted: expected }) =>
      `${String(serving)} of ${String(expected)} workers serve; the others are being started`,
    'Wait a few seconds.',
  ),
  'workers-end': problem<{ serving: number; wanted: number }>(
    'Server',
    ({ serving, wanted: expected }) =>
      `${String(serving)} of ${String(expected)} workers serve: the others end again and again`,
    'The log says why.',
  ),
  'configuration-invalid': problem<{ because: string }>(
    'Configuration',
    ({ because }) => because,
    'Correct larder.toml, then start the store, or reload it if it is served.',
  ),
  'foreign-owner': problem<{ owner: string; files: string; fileOwner: string; command: string }>(
    'Owner',
    ({ owner, files, fileOwner }) => `the directory belongs to ${owner}, and ${files} to ${fileOwner}`,
    ({ command }) => `Run as root: '${command}'.`,
  ),
  'configuration-refused': problem<{ because: string }>(
    'Configuration',
    ({ because }) => `The last reload was refused, and the store continues with the configuration before: ${because}`,
    "Correct larder.toml, then reload it: 'systemctl reload larder', or SIGHUP.",
  ),
  'jobs-fail': problem<{ jobs: readonly { name: string; problem: string }[] }>(
    'Jobs',
    ({ jobs }) => jobsThatFail(jobs),
    'Each is tried again by itself. The log of the server says more.',
  ),
  'unknown-proxy': notice<{ addresses: readonly string[] }>(
    'Server',
    ({ addresses }) =>
      `Requests come with X-Forwarded-For from ${addresses.join(', ')}, which http.trusted_proxies does not name, so all of ` +
      'them count as one client, and the log names no other',
    'If that is a proxy of this site, add its address to http.trusted_proxies in larder.toml and send the server SIGHUP; if ' +
      'not, nothing needs to be done.',
  ),
  'administrator-credential': problem<{ missing: readonly string[] }>(
    'Administrator',
    ({ missing }) =>
      `store.offline_mode is on and ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing, so the store ` +
      "administrator's credential is not exchanged",
    "'larder admin-macaroon' makes one and sets both.",
  ),
  'openid-away': notice<{ because: string }>(
    'Server',
    ({ because }) => `Logins with the OpenID provider fail: ${because.replace(/\.$/, '')}`,
    'Check the provider, and [identity.oidc] in larder.toml. Local accounts log in with their password. The notice ends with the ' +
      'next login that succeeds.',
  ),
  'approvals-not-in-force': problem<{ because: string }>(
    'Approvals',
    ({ because }) => `What [approvals] in larder.toml says is not in force: ${because.replace(/\.$/, '')}`,
    "'larder approval policy' shows the policy in force.",
  ),
  'approvals-unmet': problem<{ because: string }>(
    'Approvals',
    ({ because }) => `The approval policy in force cannot be met. ${because.replace(/\.$/, '')}`,
    "Enable its approvers, or give more accounts the role with 'larder account role ID transfer-approver'.",
  ),
  'approvals-without-feed': problem<{ missing: readonly string[] }>(
    'Approvals',
    ({ missing }) =>
      `The approval policy asks about vulnerabilities, and ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not in ` +
      'force, so releases do not wait for them',
    "Import the feed with 'larder feed import FILE'.",
  ),
  'cannot-look': problem<{ subject: string; because: string }>(
    'Server',
    ({ subject, because }) => `The store cannot check its own state ('${subject}'): ${because.replace(/\.$/, '')}`,
    'The log of the server says more.',
  ),
};

interface ExpiryFacts {
  whose: string;
  /** A day, as 2026-05-01. */
  ends: string;
  /** Whole days until the end; negative after it. */
  days: number;
  renewal: keyof typeof renewals;
}

const keyKinds = {
  sealed: problem(
    'Signing key',
    () => 'The store is sealed: without the signing master key it signs nothing',
    'Put master.key back into the data directory, or set keys.master_key_file or keys.passphrase_file, then reload.',
  ),
  'wrong-master-key': problem<{ keys: number; all: number }>(
    'Signing key',
    ({ keys, all }) =>
      `The signing master key cannot open ${String(keys)} of ${formatCount(all, 'signing key')}: ` +
      `${keys === 1 ? 'it was' : 'they were'} sealed under another master key`,
    "Put the copy of this store's own master.key in its place, then reload; it is kept with the backups. If there is no copy, " +
      "delete the signing keys with 'larder key delete' and make new ones.",
  ),
  'keys-unavailable': problem<{ because: string; isPinRefused: boolean }>(
    'Signing key',
    ({ because }) => `The keys in the key manager are not available: ${because.replace(/\.$/, '')}`,
    ({ isPinRefused }) =>
      isPinRefused
        ? 'Correct the PIN, then reload the server. Until then it is not tried again, so that the device does not lock.'
        : 'Check the device, and keys.manager in larder.toml. Signing works again as soon as the device answers.',
  ),
  'wrong-site-key': problem<{ given: string; expected: string | undefined }>(
    'Site key',
    ({ given: fingerprint, expected }) =>
      `this site.key is of another store: its fingerprint is ${fingerprint}` +
      (expected === undefined ? '' : `, and that of this store's ${expected}`),
    "Put the copy of this store's own site.key in its place; it is kept with the backups.",
  ),
  'certificate-file': problem<{ file: string; because: string }>(
    'Certificate',
    ({ file, because }) =>
      `Logins with client certificates cannot use ${file}: ${because.replace(/\.$/, '')}; logins that need it are refused`,
    'Put the right file there; it is read again by itself. [identity.certificates] in larder.toml names the files.',
  ),
  'crl-expired': problem<{ file: string; ends: string; isRefused: boolean }>(
    'Certificate',
    ({ file, ends, isRefused }) =>
      `The revocation list ${file} expired at ${ends}: logins with certificates of its authority are ` +
      (isRefused ? 'refused' : 'accepted by the expired list (identity.certificates.expired_crl)'),
    'Get the current list of the authority into that file; it is read again by itself.',
  ),
  'certificate-expires': notice<ExpiryFacts>(
    'Certificate',
    ({ whose, ends, days }) => `${whose} expires on ${ends}, in ${formatCount(days, 'day')}`,
    ({ renewal }) => renewals[renewal],
  ),
  'certificate-unsigned': problem<{ because: string }>(
    'Certificate',
    ({ because }) =>
      `The server needs a new certificate, and goes on with the present one. ${because.replace(/\.$/, '')}`,
    'Check the device. The store asks it again every hour, and at a reload.',
  ),
  'certificate-expired': problem<ExpiryFacts>(
    'Certificate',
    ({ whose, ends, days }) =>
      days < 0
        ? `${whose} expired on ${ends}: clients refuse it`
        : `${whose} expires on ${ends}, in ${formatCount(days, 'day')}: clients then refuse it`,
    ({ renewal }) => renewals[renewal],
  ),
};

const diskKinds = {
  'disk-full': problem(
    'Disk',
    () =>
      'The disk that holds this store was full, and the reserved ballast was released: logins and deletions work ' +
      'for a while, uploads do not',
    makeRoom,
  ),
  'disk-reserve': problem(
    'Disk',
    () => 'The disk that holds this store has only the space left that uploads.reserve keeps free: uploads are refused',
    makeRoom,
  ),
  'disk-low': problem<{ free: number; size: number; reserve: number }>(
    'Disk',
    ({ free, size, reserve }) =>
      `${formatBytes(free)} of ${formatBytes(size)} are free; uploads stop at ${formatBytes(reserve)} (uploads.reserve)`,
    'Make room on the disk, or move the store to a larger one.',
  ),
  'reserve-too-large': problem<{ size: number; reserve: number }>(
    'Disk',
    ({ size, reserve }) =>
      `The whole disk has ${mebibytes(size)}, and uploads.reserve keeps ${mebibytes(reserve)} of it free, so nothing can be uploaded`,
    'Use a larger disk, or set uploads.reserve in larder.toml lower and restart the server.',
  ),
  'write-failed': problem('Disk', () => 'The disk failed under a write', 'Restart the store on a good disk.'),
  'unreadable-uploads': problem<{ uploads: number }>(
    'Blobs',
    ({ uploads }) =>
      `${formatCount(uploads, 'upload waits for its', 'uploads wait for their')} review because the store cannot read the file`,
    "The disk may be failing: make a backup, and look at the system's log. It is tried again every few minutes.",
  ),
  'unreadable-blobs': problem<{ names: readonly string[]; all: number }>(
    'Blobs',
    ({ names, all }) =>
      `Files of this store cannot be read: ${someOf(names, all)}. Nothing was taken out of service for that`,
    "The disk may be failing: make a backup, and look at the system's log.",
  ),
  'damaged-blobs': problem<{ names: readonly string[]; all: number }>(
    'Blobs',
    ({ names, all }) => `Files of this store are corrupt and out of service: ${someOf(names, all)}`,
    "Upload the same files again, or restore them from a backup; 'larder verify' names all.",
  ),
  'scrub-stuck': problem(
    'Scrub',
    () => 'The files of this store cannot all be found, so they are not held against their digests',
    "The disk may be failing: make a backup, and look at the system's log.",
  ),
};

const recordKinds = {
  clock: problem<{ says: string; isBefore: boolean; expected: string; expectedBy: string }>(
    'Clock',
    ({ says, isBefore, expected, expectedBy }) =>
      `The clock says ${says}, more than a day ${isBefore ? 'before' : 'after'} ${expectedBy}, ${expected}; until that is ` +
      'settled nothing is forgotten, expired or removed',
    "Set the clock right; if it is right, run 'larder clock accept'.",
  ),
  'damaged-row': problem<{ table: string; row: string }>(
    'Records',
    ({ table, row }) => `Row ${row} of ${table} is not as it was written, and what asked for it was refused`,
    `'larder verify' names all. ${restore}`,
  ),
  'damaged-records': problem<{ at: string; count: number; first?: string | undefined; remedy: string }>(
    'Records',
    ({ at, count, first }) =>
      `When the records were looked over at ${at}, ${formatCount(count, 'thing was', 'things were')} wrong` +
      (first === undefined ? '' : `, the first: ${first.slice(0, 200)}`),
    ({ remedy }) => `'larder verify' names all. ${remedy}`,
  ),
  'audit-log': problem<{ because: string }>(
    'Records',
    ({ because }) => capital(because),
    "'larder audit verify' tells more. If the database was replaced by an older copy, restore the backup with 'larder restore', which records this.",
  ),
  'database-held': problem<{ holder?: string | undefined; remedy?: string | undefined }>(
    'Records',
    ({ holder }) =>
      `Another program holds the database of the store${holder === undefined ? '' : ` (${holder})`}: every change is refused`,
    ({ remedy }) => remedy ?? "Find the program and end it: 'fuser larder.db' in the data directory names it.",
  ),
  'database-open': notice<{ database: string }>(
    'Database server',
    ({ database }) =>
      `every role of the server may connect to the database ${database}, and any of them can hold the lock that changes need`,
    ({ database }) => `REVOKE CONNECT ON DATABASE ${database} FROM PUBLIC, as its owner.`,
  ),
  'engine-away': problem<{ engine: string; about: string; why?: string | undefined }>(
    'Database server',
    ({ engine, why: reason }) =>
      `${engine} does not work${reason === undefined ? '' : ` (${reason})`}: until it does, requests that need it are ` +
      'refused, and this host takes no requests from its load balancer',
    'Check that it runs, and read its log.',
  ),
  'engine-clock': problem<{ engine: string; off: string; about: string }>(
    'Clock',
    ({ engine, off }) =>
      `The clock of this host is ${off} that of ${engine.charAt(0).toLowerCase()}${engine.slice(1)}; until that is corrected ` +
      'this host takes no requests from its load balancer',
    'Set both by the same time server (NTP).',
  ),
  'engine-trouble': problem<{ engine: string; because: string; about: string }>(
    'Server of the files',
    ({ because }) => because.replace(/\.$/, ''),
    'Correct that on the server.',
  ),
};

const workKinds = {
  'backup-failed': problem<{ at: string; because: string }>(
    'Backups',
    ({ at, because }) => `The last backup failed at ${at}: ${because.replace(/\.$/, '')}`,
    "Correct that, then run 'larder backup FILE', or 'systemctl start larder-backup'.",
  ),
  'backup-overdue': problem<{ last?: string | undefined }>(
    'Backups',
    ({ last }) =>
      last === undefined
        ? 'No backup was ever made of this store'
        : `The last backup was made at ${last}, more than 7 days ago`,
    "Run 'larder backup FILE', and keep copies of site.key and master.key elsewhere.",
  ),
  'backup-missing': notice(
    'Backups',
    () => 'No backup was made yet',
    "Run 'larder backup FILE', and keep copies of site.key and master.key elsewhere.",
  ),
  'drill-failed': problem<{ at: string; because: string }>(
    'Backups',
    ({ at, because }) => `The last drill failed at ${at}: ${because.replace(/\.$/, '')}`,
    "Correct that, then run 'larder backup drill FOLDER'.",
  ),
  'drill-overdue': notice<{ last: string | undefined; expected: number }>(
    'Backups',
    ({ last, expected }) =>
      last === undefined
        ? 'No backup was ever restored in a drill'
        : `The last drill was at ${last}, and one is expected every ${formatCount(expected, 'day')}`,
    "Run 'larder backup drill FOLDER'.",
  ),
  pending: notice<{ kinds: readonly { kind: string; count: number }[] }>(
    'Pending',
    ({ kinds }) =>
      `${listOf(kinds.map(({ kind, count }) => formatCount(count, kind)))} ${isSingle(kinds) ? 'waits' : 'wait'} for people`,
    "They are listed in the console under 'Pending' and 'Transfers', and by 'larder status' and 'larder rollout list'.",
  ),
  'transfer-held': notice<{ sequence: number; source: string; id: string; because: string }>(
    'Transfers',
    ({ sequence, source, because }) =>
      `Number ${String(sequence)} of ${source} waits for a decision and was not accepted automatically: ${because.replace(/\.$/, '')}`,
    ({ id }) => `'larder transfer preview ${id.slice(0, 12)}' shows its changes, 'larder transfer accept' accepts it.`,
  ),
  'transfer-overdue': notice<{ days: number | undefined; expected: number }>(
    'Transfers',
    ({ days, expected }) =>
      days === undefined
        ? 'No transfer was ever accepted here'
        : `No transfer was accepted for ${formatCount(days, 'day')}, and one is expected every ${formatCount(expected, 'day')}`,
    "'larder transfer request' asks for the subscriptions of this store; 'larder transfer list' shows what waits here.",
  ),
  'source-key-copied': problem<{ source: string }>(
    'Transfers',
    ({ source }) => `Two different rotations with one number prove that a key of '${source}' was copied`,
    ({ source }) =>
      `Ask the administrators of the source by telephone which keys are theirs; 'larder site distrust ${source} --yes' ends the trust until you know.`,
  ),
  'former-store-key': problem<{ folder: string; source: string }>(
    'Transfers',
    ({ folder }) => `An earlier release adopted a former store; the key that it used is in ${folder}`,
    ({ source }) => `'larder site distrust ${source} --yes' ends the trust in it; then remove the folder.`,
  ),
  'feed-old': notice<{ names: readonly string[]; all: number; days: number }>(
    'Feeds',
    ({ names, all, days }) =>
      `No newer feed was imported within ${formatCount(days, 'day')} (vulnerabilities.feed_days): ${someOf(names, all)}`,
    "Get the feeds again, and import them with 'larder feed import'.",
  ),
  'feed-not-in-force': problem<{ source: string }>(
    'Feeds',
    ({ source }) => `The feed '${source}' was accepted and is not in force: findings follow the previous one`,
    "'larder feed match' makes its index, or says why it cannot.",
  ),
  'watched-folder-gone': problem<{ folder: string; because: string }>(
    'Transfers',
    ({ folder, because }) =>
      `The watched folder ${folder} cannot be read, so no transfer is received from it: ${because}`,
    'Mount it or make it, and let the user of the store read it; or set transfers.watch in larder.toml to another folder.',
  ),
  'watched-folder': notice<{ because: string }>(
    'Transfers',
    ({ because }) => because.replace(/\.$/, ''),
    "'larder transfer list' lists the received transfers.",
  ),
  'tokens-ending': notice<{ tokens: number }>(
    'Tokens',
    ({ tokens }) =>
      `${formatCount(tokens, 'token')} in use for two weeks or more ${tokens === 1 ? 'ends' : 'end'} within the next two`,
    "'larder token list --ending 14d' lists them; 'larder token rotate SESSION' issues another one in its place.",
  ),
};

export const faultKinds = { ...serviceKinds, ...keyKinds, ...diskKinds, ...recordKinds, ...workKinds };

/** Capitalizes a sentence; the name of a key or file at its beginning keeps its spelling. */
export const capital = (text: string): string =>
  /^\w+\.\w/.test(text) ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
const mebibytes = (count: number): string => `${String(Math.floor(count / 1024 / 1024))} MiB`;
const someOf = (names: readonly string[], all: number): string =>
  names.join('; ') + (all > names.length ? `; and ${String(all - names.length)} more` : '');
const isSingle = (kinds: readonly { count: number }[]): boolean => kinds.length === 1 && kinds[0]!.count === 1;

function listOf(texts: readonly string[]): string {
  const last = texts.at(-1) ?? '';
  return texts.length < 2 ? last : `${texts.slice(0, -1).join(', ')} and ${last}`;
}

/** Names jobs that fail for the same reason together. */
function jobsThatFail(jobs: readonly { name: string; problem: string }[]): string {
  const byProblem = Map.groupBy(jobs, ({ problem }) => problem);
  const groups = [...byProblem].map(
    ([problem, same]) => `${namesOf(same.map(({ name }) => name))} (${problem.replace(/\.$/, '')})`,
  );
  return `${jobs.length === 1 ? 'A job fails' : `${String(jobs.length)} jobs fail`}: ${groups.join('; ')}`;
}

const namesOf = (names: readonly string[]): string =>
  names.length <= 4 ? names.join(', ') : `${names.slice(0, 3).join(', ')} and ${String(names.length - 3)} more`;
