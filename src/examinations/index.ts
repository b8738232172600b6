// All examinations in the order of the output: an examination comes after the ones that it depends on.
import { approvals } from './approvals.ts';
import { bucket } from './bucket.ts';
import { certificate } from './certificate.ts';
import { closure, deviceTrust, storeAssertion } from './devices.ts';
import type { Examination } from './examination.ts';
import { feeds } from './feeds.ts';
import { disk, owner, permissions } from './files.ts';
import { signingKey, siteKey } from './keys.ts';
import { databaseServer } from './postgres.ts';
import { backups, blobs, clock, pending, records, registry, tokens } from './records.ts';
import { coreDumps, jobs, scrub, server } from './server.ts';
import { administrator, configuration } from './settings.ts';
import { transfers } from './transfers.ts';
import { acceptances } from './vulnerabilities.ts';

export const examinations: readonly Examination[] = [
  owner,
  permissions,
  configuration,
  disk,
  siteKey,
  records,
  databaseServer,
  signingKey,
  administrator,
  certificate,
  clock,
  blobs,
  bucket,
  registry,
  tokens,
  backups,
  pending,
  approvals,
  closure,
  storeAssertion,
  deviceTrust,
  transfers,
  acceptances,
  feeds,
  server,
  jobs,
  scrub,
  coreDumps,
];
