// The table of operations: one row per operation, written by hand, and independent of the code that it is held against.
import type { Operation } from '#http/operation.ts';
import { accountsRows } from './accounts.ts';
import { approvalsRows } from './approvals.ts';
import { assertionsRows } from './assertions.ts';
import { auditRows } from './audit.ts';
import { brandsRows } from './brands.ts';
import { buildsRows } from './builds.ts';
import { charmsRows } from './charms.ts';
import { dashboardRows } from './dashboard.ts';
import { devicesRows } from './devices.ts';
import { fleetsRows } from './fleets.ts';
import { keysRows } from './keys.ts';
import { librariesRows } from './libraries.ts';
import { loginRows } from './login.ts';
import { packagesRows } from './packages.ts';
import { registryRows } from './registry.ts';
import { releasesRows } from './releases.ts';
import { resourcesRows } from './resources.ts';
import { revisionsRows } from './revisions.ts';
import { storeRows } from './store.ts';
import { tokensRows } from './tokens.ts';
import { transfersRows } from './transfers.ts';
import { uploadsRows } from './uploads.ts';
import { vulnerabilitiesRows } from './vulnerabilities.ts';
import { missingRow } from './missing-row.ts';
import type { OperationRow, OperationRows } from './row.ts';

/** The rows of each subject. The token and the credentials of the image registry expire soon, so it is measured first. */
export const rowsBySubject: Record<string, OperationRows> = {
  registry: registryRows,
  accounts: accountsRows,
  approvals: approvalsRows,
  assertions: assertionsRows,
  audit: auditRows,
  brands: brandsRows,
  builds: buildsRows,
  charms: charmsRows,
  dashboard: dashboardRows,
  devices: devicesRows,
  fleets: fleetsRows,
  keys: keysRows,
  libraries: librariesRows,
  login: loginRows,
  packages: packagesRows,
  releases: releasesRows,
  resources: resourcesRows,
  revisions: revisionsRows,
  store: storeRows,
  tokens: tokensRows,
  transfers: transfersRows,
  uploads: uploadsRows,
  vulnerabilities: vulnerabilitiesRows,
};

export const operationTable: ReadonlyMap<string, OperationRow> = new Map(
  Object.values(rowsBySubject).flatMap((rows) => Object.entries(rows)),
);

/** Returns the row of an operation; the error for a missing row names its place. */
export function rowOf(op: Operation): OperationRow {
  const row = operationTable.get(op.name);
  if (row === undefined) throw new Error(missingRow(op));
  return row;
}
