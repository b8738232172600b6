// The records: everything the store knows, one noun a module.
import { accountChanges, accounts } from './accounts.ts';
import { appliance, applianceChanges } from './appliance.ts';
import { appendAudit, audit, type AuditEntry } from './audit.ts';
import { brandChanges, brands } from './brands.ts';
import { collaboratorChanges, collaborators } from './collaborators.ts';
import type { Database, Queries } from './database.ts';
import { macaroonChanges, macaroons } from './macaroons.ts';
import { packageChanges, packages } from './packages.ts';
import { releaseChanges, releases } from './releases.ts';
import { revisionChanges, revisions } from './revisions.ts';
import { rootKeyChanges, rootKeys } from './root-keys.ts';
import { signingKeyChanges, signingKeys } from './signing-keys.ts';
import { trackChanges, tracks } from './tracks.ts';
import { uploadChanges, uploads } from './uploads.ts';

const reading = (db: Pick<Queries, 'get' | 'all'>) => ({
  accounts: accounts(db),
  appliance: appliance(db),
  audit: audit(db),
  brands: brands(db),
  collaborators: collaborators(db),
  macaroons: macaroons(db),
  packages: packages(db),
  releases: releases(db),
  revisions: revisions(db),
  rootKeys: rootKeys(db),
  signingKeys: signingKeys(db),
  tracks: tracks(db),
  uploads: uploads(db),
});

const changing = (db: Queries) => ({
  accounts: accountChanges(db),
  appliance: applianceChanges(db),
  audit: audit(db),
  brands: brandChanges(db),
  collaborators: collaboratorChanges(db),
  macaroons: macaroonChanges(db),
  packages: packageChanges(db),
  releases: releaseChanges(db),
  revisions: revisionChanges(db),
  rootKeys: rootKeyChanges(db),
  signingKeys: signingKeyChanges(db),
  tracks: trackChanges(db),
  uploads: uploadChanges(db),
});

/** The records inside a transaction. */
export type Changes = ReturnType<typeof changing>;

export type Records = ReturnType<typeof records>;

/** The records of a database: nouns to read, and `change` to alter them. */
export const records = (db: Database) => ({
  ...reading(db),

  /**
   * One change: all of it and its audit entry, or nothing. `work` may return the entry's details by `note`.
   * There is no way to change records without an entry.
   */
  change: <Result>(entry: AuditEntry, work: (tx: Changes, note: (details: Record<string, unknown>) => void) => Promise<Result>) =>
    db.transaction(async (queries) => {
      let details = entry.details ?? {};
      const result = await work(changing(queries), (more) => (details = { ...details, ...more }));
      await appendAudit(queries, { ...entry, details });
      return result;
    }),
});
