// The records: all data of the store, one module per noun.
import { randomBytes } from '#domain/cryptography.ts';
import { acceptedFindingChanges, acceptedFindings } from './vulnerabilities/accepted-findings.ts';
import { accountChanges, accounts } from './accounts/accounts.ts';
import { followUps, followUpChanges } from './uploads/follow-ups.ts';
import { agentChanges, agents } from './accounts/agents.ts';
import { appliance, applianceChanges } from './store/appliance.ts';
import { approvalPolicy, approvalPolicyChanges } from './approvals/approval-policy.ts';
import { approverKeyChanges, approverKeys } from './approvals/approver-keys.ts';
import { assertionChanges, assertions } from './assertions/assertions.ts';
import { appendAudit, audit, readAuditEnd, sealEnd, type AuditEntry } from './audit/audit.ts';
import {
  auditSeals,
  writeSeal,
  findUnknownSeal,
  writeEnd,
  settle,
  type SealOccasion,
  type Sealing,
} from './audit/audit-seals.ts';
import { billOfMaterialsChanges, billsOfMaterials } from './vulnerabilities/bills-of-materials.ts';
import { brandChanges, brands } from './brands/brands.ts';
import { buildSetChanges, buildSets } from './builds/build-sets.ts';
import { catalog, ephemeralCatalog } from './packages/catalog.ts';
import { charmLibraries, charmLibraryChanges } from './libraries/charm-libraries.ts';
import { collaboratorChanges, collaborators } from './packages/collaborators.ts';
import { commitWorkflowChanges, commitWorkflows } from './builds/commit-workflows.ts';
import { gatherContacts } from './fleets/contacts.ts';
import { counts } from './store/counts.ts';
import { damagedBlobChanges, damagedBlobs } from './store/damaged-blobs.ts';
import type { CommitState, Database, Queries, ReadQueries } from '#engine/database.ts';
import { ephemeralDeltas, deltas } from './devices/deltas.ts';
import { deviceGrantChanges, deviceGrants } from './devices/device-grants.ts';
import { ephemeralDeviceNonces } from './devices/device-nonces.ts';
import { dischargerKeyChanges, dischargerKeys } from './login/discharger-keys.ts';
import { downloads } from './packages/downloads.ts';
import { exportChanges, exports } from './store/exports.ts';
import { externalImageChanges, externalImages } from './images/external-images.ts';
import { groupRoleChanges, groupRoles } from './accounts/group-roles.ts';
import { ephemeralFailures, failures } from './login/failures.ts';
import { fleetChanges, fleetMemos, fleets } from './fleets/fleets.ts';
import { guardrailChanges, guardrails } from './releases/guardrails.ts';
import { heldRevisions } from './releases/channel-revisions.ts';
import { holdings } from './accounts/holdings.ts';
import { inventory } from './packages/inventory.ts';
import { inviteChanges, invites } from './packages/invites.ts';
import { imageCredentialChanges, imageCredentials } from './images/image-credentials.ts';
import { imageChanges, images } from './images/images.ts';
import { lastLoginChanges, lastLogins } from './accounts/last-logins.ts';
import { ephemeralLeases, leases } from './store/leases.ts';
import { openidIdentities, openidIdentityChanges } from './accounts/openid-identities.ts';
import { ephemeralCertificateSessions, certificateSessions } from './login/certificate-sessions.ts';
import { ephemeralOpenidLogins, openidLogins } from './login/openid-logins.ts';
import { ephemeralLogins, pendingLogins } from './login/pending-logins.ts';
import { macaroonChanges, macaroons } from './tokens/macaroons.ts';
import { createGenerationReader, memo, memoOfEach } from './memo.ts';
import { modelChanges, models } from './brands/models.ts';
import { neededContents } from './store/needed-contents.ts';
import { gatherCounters, counterSweeps, counters } from './store/counters.ts';
import { nounVersions, type NounVersions } from './noun-versions.ts';
import { oldRevisions } from './revisions/old-revisions.ts';
import { ephemeralPackageDays, packageDays } from './packages/package-days.ts';
import { resourceImages } from './vulnerabilities/resource-images.ts';
import { packageFindingChanges, packageFindings } from './vulnerabilities/package-findings.ts';
import { packageOfferChanges, packageOffers } from './packages/package-offers.ts';
import { packageSearch } from './packages/package-search.ts';
import { packageChanges, packages } from './packages/packages.ts';
import { pastReleaseChanges, pastReleases } from './releases/past-releases.ts';
import { proposalChanges, proposals } from './approvals/proposals.ts';
import { pending } from './store/pending.ts';
import { people } from './accounts/people.ts';
import { quotaChanges, quotas } from './packages/quotas.ts';
import { expiredRows } from './store/expired-rows.ts';
import { passwordChanges, passwords } from './accounts/passwords.ts';
import { ephemeralRegistryUploads, registryUploads } from './images/registry-uploads.ts';
import { releaseChanges, releases } from './releases/releases.ts';
import { rolloutChanges, ephemeralRollouts, rollouts } from './releases/rollouts.ts';
import { remodelAllowlist, remodelAllowlistChanges } from './brands/remodel-allowlist.ts';
import { requestChanges, requests } from './sites/requests.ts';
import { resourceRevisionChanges, resourceRevisions } from './resources/resource-revisions.ts';
import { resourceChanges, resources } from './resources/resources.ts';
import { revokedSerialChanges, revokedSerials } from './devices/revoked-serials.ts';
import { revisionChanges, revisions } from './revisions/revisions.ts';
import { rootKeyChanges, rootKeys } from './tokens/root-keys.ts';
import { ephemeralSeenDevices, seenDevices } from './fleets/seen-devices.ts';
import { setUpLinkChanges, setUpLinks } from './accounts/set-up-links.ts';
import { serialLog, serialLogChanges } from './devices/serial-log.ts';
import { serialPolicies, serialPolicyChanges } from './brands/serial-policies.ts';
import { ephemeralShares, shares } from './store/shares.ts';
import { signingKeyChanges, signingKeys } from './keys/signing-keys.ts';
import { subscriptionChanges, subscriptions } from './sites/subscriptions.ts';
import { totpSecretChanges, totpSecrets } from './accounts/totp-secrets.ts';
import { trackChanges, tracks } from './releases/tracks.ts';
import { transferSourceChanges, transferSources } from './sites/transfer-sources.ts';
import { larderReleaseChanges, larderReleases } from './store/larder-releases.ts';
import { transferChanges, ephemeralTransfers, transfers } from './transfers/transfers.ts';
import { feedIndexes, ephemeralFeedIndexes } from './vulnerabilities/feed-indexes.ts';
import { ephemeralFindings, vulnerabilityFindings } from './vulnerabilities/findings.ts';
import { vulnerabilityFeedChanges, vulnerabilityFeeds } from './vulnerabilities/feeds.ts';
import { unclaimedUploadChanges, unclaimedUploads } from './uploads/unclaimed-uploads.ts';
import { uploadChanges, uploads } from './uploads/uploads.ts';

const reading = (db: ReadQueries) => ({
  acceptedFindings: acceptedFindings(db),
  accounts: accounts(db),
  afterReview: followUps(db),
  agents: agents(db),
  appliance: appliance(db),
  approvalPolicy: approvalPolicy(db),
  approverKeys: approverKeys(db),
  assertions: assertions(db),
  audit: audit(db),
  auditSeals: auditSeals(db),
  billsOfMaterials: billsOfMaterials(db),
  brands: brands(db),
  buildSets: buildSets(db),
  catalog: catalog(db),
  charmLibraries: charmLibraries(db),
  collaborators: collaborators(db),
  commitWorkflows: commitWorkflows(db),
  counts: counts(db),
  damagedBlobs: damagedBlobs(db),
  deltas: deltas(db),
  deviceGrants: deviceGrants(db),
  dischargerKeys: dischargerKeys(db),
  downloads: downloads(db),
  exports: exports(db),
  externalImages: externalImages(db),
  failures: failures(db),
  feedIndexes: feedIndexes(db),
  findings: vulnerabilityFindings(db),
  fleets: fleets(db),
  guardrails: guardrails(db),
  heldRevisions: heldRevisions(db),
  holdings: holdings(db),
  inventory: inventory(db),
  larderReleases: larderReleases(db),
  invites: invites(db),
  imageCredentials: imageCredentials(db),
  images: images(db),
  lastLogins: lastLogins(db),
  leases: leases(db),
  groupRoles: groupRoles(db),
  pendingLogins: pendingLogins(db),
  openidIdentities: openidIdentities(db),
  openidLogins: openidLogins(db),
  certificateSessions: certificateSessions(db),
  macaroons: macaroons(db),
  models: models(db),
  neededContents: neededContents(db),
  counters: counters(db),
  packageDays: packageDays(db),
  packageFindings: packageFindings(db),
  packageOffers: packageOffers(db),
  packageSearch: packageSearch(db),
  packages: packages(db),
  pastReleases: pastReleases(db),
  pending: pending(db),
  people: people(db),
  proposals: proposals(db),
  quotas: quotas(db),
  expiredRows: expiredRows(db),
  passwords: passwords(db),
  registryUploads: registryUploads(db),
  releases: releases(db),
  remodelAllowlist: remodelAllowlist(db),
  requests: requests(db),
  resourceImages: resourceImages(db),
  resourceRevisions: resourceRevisions(db),
  resources: resources(db),
  oldRevisions: oldRevisions(db),
  revisions: revisions(db),
  revokedSerials: revokedSerials(db),
  rollouts: rollouts(db),
  rootKeys: rootKeys(db),
  seenDevices: seenDevices(db),
  setUpLinks: setUpLinks(db),
  shares: shares(db),
  serialLog: serialLog(db),
  serialPolicies: serialPolicies(db),
  signingKeys: signingKeys(db),
  subscriptions: subscriptions(db),
  totpSecrets: totpSecrets(db),
  tracks: tracks(db),
  transferSources: transferSources(db),
  transfers: transfers(db),
  unclaimedUploads: unclaimedUploads(db),
  uploads: uploads(db),
  vulnerabilityFeeds: vulnerabilityFeeds(db),
});

/**
 * Creates each noun on first use. A change uses a few of about fifty nouns, and creating all of them took a twentieth of its time (`npm run
 * bench -- writes`).
 */
function createLazily<Makers extends Record<string, (db: Queries, commit: CommitState) => unknown>>(
  makers: Makers,
): (db: Queries, commit: CommitState) => { readonly [Noun in keyof Makers]: ReturnType<Makers[Noun]> } {
  const database = Symbol('database');
  const state = Symbol('state');
  const nouns = Object.create(null) as { [database]: Queries; [state]: CommitState };
  for (const [noun, make] of Object.entries(makers)) {
    Object.defineProperty(nouns, noun, {
      get(this: typeof nouns) {
        const value = make(this[database], this[state]);
        Object.defineProperty(this, noun, { value });
        return value;
      },
    });
  }
  return (db, commit) => Object.create(nouns, { [database]: { value: db }, [state]: { value: commit } }) as never;
}

const changing = createLazily({
  acceptedFindings: acceptedFindingChanges,
  accounts: accountChanges,
  afterReview: followUpChanges,
  agents: agentChanges,
  groupRoles: groupRoleChanges,
  openidIdentities: openidIdentityChanges,
  appliance: applianceChanges,
  approvalPolicy: approvalPolicyChanges,
  approverKeys: approverKeyChanges,
  assertions: assertionChanges,
  billsOfMaterials: billOfMaterialsChanges,
  brands: brandChanges,
  buildSets: buildSetChanges,
  charmLibraries: charmLibraryChanges,
  collaborators: collaboratorChanges,
  commitWorkflows: commitWorkflowChanges,
  damagedBlobs: damagedBlobChanges,
  deviceGrants: deviceGrantChanges,
  dischargerKeys: dischargerKeyChanges,
  exports: exportChanges,
  externalImages: externalImageChanges,
  feedIndexes,
  findings: vulnerabilityFindings,
  fleets: fleetChanges,
  guardrails: guardrailChanges,
  invites: inviteChanges,
  imageCredentials: imageCredentialChanges,
  images: imageChanges,
  larderReleases: larderReleaseChanges,
  lastLogins: lastLoginChanges,
  macaroons: macaroonChanges,
  models: modelChanges,
  neededContents,
  packageFindings: packageFindingChanges,
  packageOffers: packageOfferChanges,
  packages: packageChanges,
  pastReleases: pastReleaseChanges,
  proposals: proposalChanges,
  quotas: quotaChanges,
  passwords: passwordChanges,
  releases: releaseChanges,
  remodelAllowlist: remodelAllowlistChanges,
  requests: requestChanges,
  resourceImages,
  resourceRevisions: resourceRevisionChanges,
  resources: resourceChanges,
  heldRevisions,
  oldRevisions,
  revisions: revisionChanges,
  revokedSerials: revokedSerialChanges,
  rollouts: rolloutChanges,
  rootKeys: rootKeyChanges,
  setUpLinks: setUpLinkChanges,
  serialLog: serialLogChanges,
  serialPolicies: serialPolicyChanges,
  signingKeys: signingKeyChanges,
  subscriptions: subscriptionChanges,
  totpSecrets: totpSecretChanges,
  tracks: trackChanges,
  transferSources: transferSourceChanges,
  transfers: transferChanges,
  uploads: uploadChanges,
  vulnerabilityFeeds: vulnerabilityFeedChanges,
});

/** Records without the audit log: ephemeral rows, which no backup contains; unclaimed uploads; and data derived from other records. */
const ephemeralRecords = (db: Queries) => ({
  catalog: ephemeralCatalog(db),
  deltas: ephemeralDeltas(db),
  deviceNonces: ephemeralDeviceNonces(db),
  failures: ephemeralFailures(db),
  feedIndexes: ephemeralFeedIndexes(db),
  findings: ephemeralFindings(db),
  leases: ephemeralLeases(db),
  pendingLogins: ephemeralLogins(db),
  openidLogins: ephemeralOpenidLogins(db),
  certificateSessions: ephemeralCertificateSessions(db),
  neededContents: neededContents(db),
  counters: counterSweeps(db),
  packageDays: ephemeralPackageDays(db),
  registryUploads: ephemeralRegistryUploads(db),
  rollouts: ephemeralRollouts(db),
  seenDevices: ephemeralSeenDevices(db),
  shares: ephemeralShares(db),
  transfers: ephemeralTransfers(db),
  unclaimedUploads: unclaimedUploadChanges(db),
});

/** The tables behind each cached result. Each table has a version in `noun_versions`, and triggers that raise it. */
export const cachedTables = {
  approvalPolicy: ['approval_policy'],
  catalog: ['catalog'],
  channels: ['accounts', 'packages', 'releases', 'revisions'],
  counts: ['accounts', 'audit', 'damaged_blobs', 'packages', 'revisions', 'uploads'],
  deltas: ['deltas'],
  findingCoverage: ['matched_revisions', 'releases'],
  fleets: ['fleets', 'fleet_channels', 'fleet_hidden_snaps', 'fleet_selectors'],
  held: ['releases'],
  openFindings: ['package_findings'],
  proposals: ['proposals'],
  packageForDevices: ['accounts', 'packages'],
  revisionForDevices: ['revisions'],
  deviceGrants: ['device_grants'],
  revokedSerials: ['revoked_serials'],
  session: ['accounts', 'macaroons', 'root_keys', 'store_administrators', 'totp_secrets'],
  snapsFor: ['collaborators', 'device_grants', 'packages'],
  uploadsToReview: ['uploads'],
} as const;

/** Caches the queries of every request of a gateway or a device, until one of their tables changes. */
const withMemos = (nouns: ReturnType<typeof reading>, versions: NounVersions) => {
  const policy = memo({ versions, nouns: cachedTables.approvalPolicy }, nouns.approvalPolicy.inForce);
  const counted = memo({ versions, nouns: cachedTables.counts }, () => nouns.counts.all());
  // As many as a fleet uses. The limit is low because a revision includes the text of its snap.yaml.
  const maxResults = 4_000;
  const byId = memo({ versions, nouns: cachedTables.packageForDevices, maxResults }, nouns.packages.byId);
  const held = memo({ versions, nouns: cachedTables.held, maxResults }, nouns.releases.held);
  const delta = memo({ versions, nouns: cachedTables.deltas, maxResults }, (pair, packageId) => {
    const [source, target] = pair.split(' ').map(Number) as [number, number];
    return nouns.deltas.find(packageId, source, target);
  });
  const revision = memo({ versions, nouns: cachedTables.revisionForDevices, maxResults }, (number, packageId) =>
    nouns.revisions.forDevices(packageId, Number(number)),
  );
  const open = memo({ versions, nouns: cachedTables.openFindings }, () => nouns.packageFindings.countOpenOfStore());
  const coverage = memo({ versions, nouns: cachedTables.findingCoverage }, nouns.packageFindings.countCoverage);
  const toReview = memo({ versions, nouns: cachedTables.uploadsToReview }, () => nouns.pending.countUploads());
  return {
    ...nouns,
    approvalPolicy: { inForce: () => policy('', '') },
    counts: { ...nouns.counts, all: () => counted('', '') },
    deltas: {
      ...nouns.deltas,
      find: (packageId: string, source: number, target: number) => delta(`${source} ${target}`, packageId),
    },
    fleets: { ...nouns.fleets, ...fleetMemos(nouns.fleets, { versions, nouns: cachedTables.fleets }) },
    deviceGrants: {
      ...nouns.deviceGrants,
      heldBy: memo({ versions, nouns: cachedTables.deviceGrants }, nouns.deviceGrants.heldBy),
    },
    macaroons: {
      ...nouns.macaroons,
      session: memo({ versions, nouns: cachedTables.session }, nouns.macaroons.session),
    },
    packages: {
      ...nouns.packages,
      snapsFor: memoOfEach({ versions, nouns: cachedTables.snapsFor }, nouns.packages.snapFor),
      forDevices: (id: string) => byId(id, ''),
    },
    packageFindings: {
      ...nouns.packageFindings,
      countOpenOfStore: () => open('', ''),
      // The releases in force are the same until the next one ends.
      countCoverage: async (now: string) => coverage((await nouns.releases.lastEnd(now)) ?? '', ''),
    },
    pending: { ...nouns.pending, countUploads: () => toReview('', '') },
    releases: { ...nouns.releases, held: (packageId: string) => held(packageId, '') },
    revisions: {
      ...nouns.revisions,
      forDevices: (packageId: string, number: number) => revision(String(number), packageId),
    },

    revokedSerials: { find: memo({ versions, nouns: cachedTables.revokedSerials }, nouns.revokedSerials.find) },

    /** Cache generations: objects that stay the same as long as their tables do. */
    cacheGenerations: {
      catalog: createGenerationReader({ versions, nouns: cachedTables.catalog }),
      channels: createGenerationReader({ versions, nouns: cachedTables.channels }),
      proposals: createGenerationReader({ versions, nouns: cachedTables.proposals }),
      snapsFor: createGenerationReader({ versions, nouns: cachedTables.snapsFor }),
    },
  };
};

/** The records inside a transaction of a change. */
export type ChangeRecords = ReturnType<typeof changing>;

/** The records inside a transaction of ephemeral rows. */
export type EphemeralRecords = ReturnType<typeof ephemeralRecords>;

/** The records with the methods for changes, which only acts get. */
export type WritableRecords = ReturnType<typeof records>;

/** The records for all other code: to read, and to write ephemeral rows and counters. */
export type StoreRecords = Omit<WritableRecords, 'change' | 'beginAnew'>;

/** The work of a change, within one transaction. */
type ChangeWork<Result> = (tx: ChangeRecords, note: (details: Record<string, unknown>) => void) => Promise<Result>;

/** Returns the records of a database: nouns to read, and `change` to write. With `sealing`, the audit log is sealed. */
export function records(db: Database, sealing?: Sealing) {
  const versions = nounVersions(db);
  const changeOn = async <Result>(
    entry: AuditEntry,
    work: ChangeWork<Result>,
    occasion: SealOccasion,
  ): Promise<Result> => {
    const { result, seal } = await db.transaction(async (queries, commit) => {
      const writer = { db: queries, commit, sealing };
      const end = readAuditEnd(writer, occasion);
      let details = entry.details ?? {};
      const done = await work(changing(queries, commit), (more) => (details = { ...details, ...more }));
      return { result: done, seal: await appendAudit(writer, { ...entry, details }, { end, occasion }) };
    });
    if (sealing && seal) await writeSeal(sealing, seal);
    return result;
  };

  let notedHash: string | undefined;
  return {
    ...withMemos(reading(db), versions),

    /** The server of the records, which processes of several hosts may use; undefined if the records are a file of this host. */
    server: db.server,

    /** Drops all caches: at a reload, an unseal, and when the clock is in doubt. */
    forgetRemembered: versions.forget,

    // Counters, which are frequent and may be lost: `countEvent` and `writeCounters`.
    ...gatherCounters(db),
    ...gatherContacts(db),

    /**
     * Performs one change with its entry in the audit log, or nothing. `work` may add details to the entry with `note`. Only ephemeral rows
     * and counters can be written without an entry.
     */
    change: <Result>(entry: AuditEntry, work: ChangeWork<Result>): Promise<Result> => changeOn(entry, work, {}),

    /** Changes ephemeral rows: durable and atomic like any change, but without an entry in the audit log. */
    ephemeral: <Result>(work: (tx: EphemeralRecords) => Promise<Result>): Promise<Result> =>
      db.transaction((queries) => work(ephemeralRecords(queries))),

    /**
     * Performs a change after which the audit log continues from another row than its end, such as the restore of a backup. Its entry and
     * its seal name the newest seal known outside the database, which is left behind. The row numbers have a new meaning from here on, so
     * the store gets a new `store-epoch`.
     */
    async beginAnew<Result>(entry: AuditEntry, work: ChangeWork<Result>): Promise<Result> {
      const left = sealing && (await findUnknownSeal(db, sealing));
      const details = { ...entry.details, ...(left && { 'left-behind': { seq: left.seq, hash: left.hash } }) };
      const withNewEpoch: ChangeWork<Result> = async (tx, note) => {
        await tx.appliance.set('store-epoch', randomBytes(16).toString('hex'));
        return work(tx, note);
      };
      return changeOn({ ...entry, details }, withNewEpoch, { restart: { act: entry.action, left } });
    },

    /** Seals the end of the audit log, unless it is sealed. */
    async seal(): Promise<void> {
      if (sealing === undefined) return;
      const seal = await db.transaction((queries, commit) => sealEnd({ db: queries, commit, sealing }));
      if (seal) await writeSeal(sealing, seal);
    },

    /** Checks the seal file against the chain, and updates it if a killed process did not. */
    async settleSeals(): Promise<void> {
      if (sealing) await settle(db, sealing);
    },

    /** Writes the end of the audit log to the seal file, if the log has grown since this process last did so. */
    async noteAuditEnd(): Promise<void> {
      if (sealing === undefined) return;
      const end = await audit(db).end();
      if (end === undefined || end.hash === notedHash) return;
      await writeEnd(db, sealing, end);
      notedHash = end.hash;
    },
  };
}
