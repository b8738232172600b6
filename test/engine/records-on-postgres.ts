// The tests of the records that hold on every engine, on PostgreSQL: all but those of the file of SQLite. With them go operations
// on names and releases; with LARDER_LONG=1 all of them but those that speak to a program of somebody else.
//   LARDER_RECORDS=postgres node test/engine/records-on-postgres.ts
import { together } from '#test/fixtures/together.ts';

const long = process.env['LARDER_LONG'] === '1';
await together(
  'records/!(audit-chain|audit-seals|group-commit|migrate|new-store|pages-written|row-digests|statements).test.ts',
  ...(long
    ? ['operations/*.test.ts', 'operations/*/!(snapd-client|snap-command|juju-client).test.ts']
    : ['operations/names/*.test.ts', 'operations/releases/*.test.ts']),
);
