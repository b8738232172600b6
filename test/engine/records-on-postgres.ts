// The tests of the records that hold on every engine, on PostgreSQL: all but those of the file of SQLite.
//   LARDER_RECORDS=postgres node test/engine/records-on-postgres.ts
import { together } from '#test/fixtures/together.ts';

await together(
  'records/!(audit-chain|audit-seals|group-commit|migrate|new-store|pages-written|row-digests|statements).test.ts',
);
