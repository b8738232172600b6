// Tests that hold on every engine, on PostgreSQL, by the folders below test/ that are named:
//   LARDER_RECORDS=postgres node test/engine/on-postgres.ts records operations
// Each folder has its patterns here, and what stays out of them its reason.
import { together } from '#test/fixtures/together.ts';

const long = process.env['LARDER_LONG'] === '1';

const folders: Readonly<Record<string, readonly string[]>> = {
  // What stays out is of the file of SQLite: its pages and log, how it is migrated, and what proves its rows.
  records: [
    'records/!(audit-chain|audit-seals|group-commit|migrate|new-store|pages-written|row-digests|statements).test.ts',
  ],
  // What stays out is dear, and goes with LARDER_LONG=1; what is of a file of records alone is left out where it stands. The last one
  // puts the blobs of whatever comes after it on S3.
  journeys: [
    'journeys/!(across-the-gap|blobs-on-s3).test.ts',
    ...(long ? ['journeys/across-the-gap.test.ts', 'journeys/blobs-on-s3.test.ts'] : []),
  ],
  operations: ['operations/names/*.test.ts', 'operations/releases/*.test.ts'],
};

const named = process.argv.slice(2);
const unknown = named.filter((folder) => !(folder in folders));
if (named.length === 0 || unknown.length > 0)
  throw new Error(`name folders of ${Object.keys(folders).join(', ')}, and not ${unknown.join(', ') || 'none'}`);
await together(...named.flatMap((folder) => folders[folder]!));
