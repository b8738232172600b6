// The records: everything the store knows, one noun a module.
import { accountChanges, accounts } from './accounts.ts';
import { agentChanges, agents } from './agents.ts';
import { appliance, applianceChanges } from './appliance.ts';
import { assertionChanges, assertions } from './assertions.ts';
import { appendAudit, audit, auditChanges, type AuditEntry } from './audit.ts';
import { brandChanges, brands } from './brands.ts';
import { buildSetChanges, buildSets } from './build-sets.ts';
import { charmLibraries, charmLibraryChanges } from './charm-libraries.ts';
import { collaboratorChanges, collaborators } from './collaborators.ts';
import { commitWorkflowChanges, commitWorkflows } from './commit-workflows.ts';
import { counts } from './counts.ts';
import { damagedBlobChanges, damagedBlobs } from './damaged-blobs.ts';
import type { Database, Queries } from './database.ts';
import { dischargerKeyChanges, dischargerKeys } from './discharger-keys.ts';
import { externalImageChanges, externalImages } from './external-images.ts';
import { guardrailChanges, guardrails } from './guardrails.ts';
import { inviteChanges, invites } from './invites.ts';
import { imageCredentialChanges, imageCredentials } from './image-credentials.ts';
import { imageChanges, images } from './images.ts';
import { macaroonChanges, macaroons } from './macaroons.ts';
import { modelChanges, models } from './models.ts';
import { neededContents } from './needed-contents.ts';
import { packageChanges, packages } from './packages.ts';
import { passwordChanges, passwords } from './passwords.ts';
import { releaseChanges, releases } from './releases.ts';
import { remodelAllowlist, remodelAllowlistChanges } from './remodel-allowlist.ts';
import { resourceRevisionChanges, resourceRevisions } from './resource-revisions.ts';
import { resourceChanges, resources } from './resources.ts';
import { revisionChanges, revisions } from './revisions.ts';
import { rootKeyChanges, rootKeys } from './root-keys.ts';
import { setUpLinkChanges, setUpLinks } from './set-up-links.ts';
import { serialLog, serialLogChanges } from './serial-log.ts';
import { serialPolicies, serialPolicyChanges } from './serial-policies.ts';
import { signingKeyChanges, signingKeys } from './signing-keys.ts';
import { totpSecretChanges, totpSecrets } from './totp-secrets.ts';
import { trackChanges, tracks } from './tracks.ts';
import { eachWhileUnchanged, whileUnchanged } from './unchanged.ts';
import { uploadChanges, uploads } from './uploads.ts';

const reading = (db: Pick<Queries, 'get' | 'all'>) => ({
  accounts: accounts(db),
  agents: agents(db),
  appliance: appliance(db),
  assertions: assertions(db),
  audit: audit(db),
  brands: brands(db),
  buildSets: buildSets(db),
  charmLibraries: charmLibraries(db),
  collaborators: collaborators(db),
  commitWorkflows: commitWorkflows(db),
  counts: counts(db),
  damagedBlobs: damagedBlobs(db),
  dischargerKeys: dischargerKeys(db),
  externalImages: externalImages(db),
  guardrails: guardrails(db),
  invites: invites(db),
  imageCredentials: imageCredentials(db),
  images: images(db),
  macaroons: macaroons(db),
  models: models(db),
  neededContents: neededContents(db),
  packages: packages(db),
  passwords: passwords(db),
  releases: releases(db),
  remodelAllowlist: remodelAllowlist(db),
  resourceRevisions: resourceRevisions(db),
  resources: resources(db),
  revisions: revisions(db),
  rootKeys: rootKeys(db),
  setUpLinks: setUpLinks(db),
  serialLog: serialLog(db),
  serialPolicies: serialPolicies(db),
  signingKeys: signingKeys(db),
  totpSecrets: totpSecrets(db),
  tracks: tracks(db),
  uploads: uploads(db),
});

const changing = (db: Queries) => ({
  accounts: accountChanges(db),
  agents: agentChanges(db),
  appliance: applianceChanges(db),
  assertions: assertionChanges(db),
  audit: auditChanges(db),
  brands: brandChanges(db),
  buildSets: buildSetChanges(db),
  charmLibraries: charmLibraryChanges(db),
  collaborators: collaboratorChanges(db),
  commitWorkflows: commitWorkflowChanges(db),
  damagedBlobs: damagedBlobChanges(db),
  dischargerKeys: dischargerKeyChanges(db),
  externalImages: externalImageChanges(db),
  guardrails: guardrailChanges(db),
  invites: inviteChanges(db),
  imageCredentials: imageCredentialChanges(db),
  images: imageChanges(db),
  macaroons: macaroonChanges(db),
  models: modelChanges(db),
  neededContents: neededContents(db),
  packages: packageChanges(db),
  passwords: passwordChanges(db),
  releases: releaseChanges(db),
  remodelAllowlist: remodelAllowlistChanges(db),
  resourceRevisions: resourceRevisionChanges(db),
  resources: resourceChanges(db),
  revisions: revisionChanges(db),
  rootKeys: rootKeyChanges(db),
  setUpLinks: setUpLinkChanges(db),
  serialLog: serialLogChanges(db),
  serialPolicies: serialPolicyChanges(db),
  signingKeys: signingKeyChanges(db),
  totpSecrets: totpSecretChanges(db),
  tracks: trackChanges(db),
  uploads: uploadChanges(db),
});

/** What every request of a gateway asks is remembered until something changes. */
const remembering = (nouns: ReturnType<typeof reading>, db: Database) => ({
  ...nouns,
  counts: { all: whileUnchanged(db.version, nouns.counts.all) },
  macaroons: { ...nouns.macaroons, session: whileUnchanged(db.version, nouns.macaroons.session) },
  packages: { ...nouns.packages, snapsFor: eachWhileUnchanged(db.version, nouns.packages.snapFor) },
});

/** The records inside a transaction. */
export type Changes = ReturnType<typeof changing>;

export type Records = ReturnType<typeof records>;

/** The records of a database: nouns to read, and `change` to alter them. */
export const records = (db: Database) => ({
  ...remembering(reading(db), db),

  /**
   * One change: all of it and its audit entry, or nothing. `work` may return the entry's details by `note`.
   * There is no way to change records without an entry.
   */
  change: <Result>(
    entry: AuditEntry,
    work: (tx: Changes, note: (details: Record<string, unknown>) => void) => Promise<Result>,
  ) =>
    db.transaction(async (queries) => {
      let details = entry.details ?? {};
      const result = await work(changing(queries), (more) => (details = { ...details, ...more }));
      await appendAudit(queries, { ...entry, details });
      return result;
    }),
});
