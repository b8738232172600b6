// Runs the tests that hold on every engine of the records on PostgreSQL, by folders below test/:
//   LARDER_RECORDS=postgres node test/engine/on-postgres.ts records acts
import { findTestFiles, runFiles } from '../runner/run-files.ts';

const folders: Readonly<Record<string, readonly string[]>> = {
  // The others are about SQLite's file: its pages and log, its migration, and the proof of its rows.
  records: [
    'records/**/!(audit-chain|audit-commits|audit-seals|group-commit|migrate|new-store|older-stores|pages-written|row-digests|statements).test.ts',
  ],
  // These hold every row that a gated act changes against the lines that were approved.
  acts: ['acts/doors.test.ts', 'transfers/accept/lines.test.ts'],
  journeys: [
    'journeys/{crash.long,every-type,publish-a-snap,publish-an-image,twice-and-killed.long,work-together}.test.ts',
  ],
  'all-journeys': ['journeys/*.test.ts'],
  // A container with an installed snapd is tried on one engine.
  operations: ['operations/**/!(snapd-installs.long).test.ts'],
};

const folderNames = process.argv.slice(2);
const unknown = folderNames.filter((folder) => !(folder in folders));
if (folderNames.length === 0 || unknown.length > 0)
  throw new Error(`Name folders of ${Object.keys(folders).join(', ')}, and not ${unknown.join(', ') || 'none'}.`);
const patterns = folderNames.flatMap((folder) => folders[folder]!);
process.exitCode = runFiles(findTestFiles(patterns));
