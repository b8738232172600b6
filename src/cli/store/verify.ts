// larder verify
import { formatCount } from '#domain/quantities.ts';
import { join } from 'node:path';

import { contentAndPusher } from '#integrity/content-name.ts';
import { restoreIntactBlobs, quarantine } from '#integrity/quarantine.ts';
import { verifyStore, type StoreVerdict } from '#integrity/verify.ts';
import { inspectDatabase, describeDatabase, type DatabasePlace } from '#engine/place.ts';
import type { DatabaseVerdict } from '#engine/sqlite/check.ts';
import { readConfig } from '#configuration/config.ts';
import { nativeBinding } from '#platform/native.ts';
import { withBlobs } from '#data/blobs.ts';
import { mendOfRecords, recordsPlace } from '#data/records-place.ts';
import { shellWord } from '#domain/shell-word.ts';
import { command, type CommandResult, type CommandCall } from '../frame/command.ts';
import { becomeOwner } from '../frame/owner.ts';
import { createProgress } from '../frame/progress.ts';
import { refuseWithoutDatabase, withStore, type OpenStore } from '../frame/store.ts';
import { maxListed, otherItems, visible } from '../frame/terminal.ts';

type VerificationOutcome = StoreVerdict & { back: string[] };

export const verify = command({
  name: 'verify',
  summary: 'Verify that no data of the store is damaged or missing.',
  description:
    'Verifies the database (its pages, its references, every row against its digest), the audit log, and every ' +
    'blob against its digest. For each error it names the page and table, the package and revision, and the ' +
    'publisher. It can run while the store is served. Exit code 1 means that something is wrong.',
  options: {
    quarantine: {
      type: 'boolean',
      summary: 'Put damaged blobs into quarantine. Uploading the same file again repairs them.',
    },
    'restore-quarantined': {
      type: 'boolean',
      summary: 'First put blobs in quarantine that match their digests into service again.',
    },
  },
  examples: ['larder verify', 'larder verify --quarantine --json', 'larder verify --restore-quarantined'],
  confirm: {
    question: ({ options: { quarantine } }) =>
      quarantine ? 'Damaged blobs are put into quarantine and can no longer be downloaded.' : undefined,
    unattended: 'goes on',
  },

  async run(call) {
    becomeOwner(call.data);
    refuseWithoutDatabase(call.data);
    const place = placeIn(call);
    try {
      return await withStore(call, (store) => verifyOpened(store, call));
    } catch (error) {
      // Corruption may be the reason why the store does not open or cannot be read to the end.
      const problems = await findCorruption(place).catch(() => []);
      if (problems.length === 0) throw error;
      return {
        text: describeProblems(
          problems.map((line) => `${describeDatabase(place)}: ${line}`),
          'the database; it is damaged so far that nothing else could be looked at',
          [mendOfRecords(place, call.data)],
        ),
        json: { good: false, database: { problems } },
        exitCode: 1,
      };
    }
  },
});

const placeIn = ({ data, world }: Pick<CommandCall, 'data' | 'world'>): DatabasePlace =>
  recordsPlace(data, readConfig(join(data, 'larder.toml')), world.env['CREDENTIALS_DIRECTORY']);

async function findCorruption(place: DatabasePlace): Promise<string[]> {
  const { pages, rows } = await inspectDatabase(place, { nativeBinding: nativeBinding() });
  return [...pages, ...rows];
}

async function verifyOpened(
  store: OpenStore,
  call: CommandCall<{ quarantine: VerifyFlag; 'restore-quarantined': VerifyFlag }>,
): Promise<CommandResult> {
  call.world.yieldToOthers?.();
  const progress = createProgress(call);
  const { records, siteKey, sealing, database } = store;
  const { place } = database;
  const outcome: VerificationOutcome = await withBlobs(
    store,
    async ({ blobs, digests, nativeBinding: native }) => {
      const context = { records, acts: store.acts, blobs, actor: store.person };
      const back = call.options['restore-quarantined'] ? await restoreIntactBlobs(context, digests) : [];
      const seals = { siteKey, sealFile: sealing.file };
      const inspect = (): Promise<DatabaseVerdict> => inspectDatabase(place, { nativeBinding: native });
      const verdict = await verifyStore({ ...seals, inspect, records, blobs, digests, progress: progress.at });
      if (call.options.quarantine) for (const blob of verdict.blobs.damaged) await quarantine(blob, context);
      return { ...verdict, back };
    },
    { onlyReads: true },
  ).finally(progress.end);
  const { good, audit, blobs, back } = outcome;
  const summary = `${await databaseSays(store)}, ${formatCount(blobs.checked, 'blob')} of ${String(blobs.bytes)} bytes, ${formatCount(audit.rows, 'entry', 'entries')} of the audit log`;
  const restored =
    back.length > 0
      ? `${formatCount(back.length, 'blob matches its digest and is', 'blobs match their digests and are')} in service again.\n`
      : '';
  return {
    text:
      restored +
      (good
        ? `Everything is as it was written: ${summary}.`
        : describeProblems(await problemsOf(outcome, store), summary, listRemedies(outcome, store))),
    json: asJson(outcome, call.options.quarantine),
    exitCode: good ? 0 : 1,
  };
}

interface VerifyFlag {
  readonly type: 'boolean';
  readonly summary: string;
}

/** Names the checked database; on a server, page checksums are checked only if the server keeps them. */
async function databaseSays({ database: { server } }: OpenStore): Promise<string> {
  if (server === undefined) return 'the database';
  const { checksums } = await server.state();
  return `${server.place} (${checksums ? 'each page against the checksum of its server' : 'without checksums, because the server keeps none'})`;
}

/** The problems, one line each: with the file, or with the revision and the account that pushed it. */
async function problemsOf(
  { database, audit, blobs }: VerificationOutcome,
  { records, database: { place } }: OpenStore,
): Promise<string[]> {
  const lines = [
    ...database.map((line) => `${describeDatabase(place)}: ${line}`),
    ...audit.problems.map((line) => `audit log: ${line}`),
  ];
  for (const [contents, condition] of [
    [blobs.damaged.map(({ sha3_384 }) => sha3_384), 'is damaged'],
    [blobs.unreadable, 'cannot be read; the disk may be failing'],
    [blobs.missing, 'is missing'],
  ] as const) {
    for (const sha3_384 of contents)
      lines.push(`${await contentAndPusher(records, sha3_384)}: its content ${condition} (blob ${sha3_384})`);
  }
  return lines;
}

/** The remedies for the problems. */
function listRemedies(
  { database, audit, blobs }: VerificationOutcome,
  { directory, database: { place } }: OpenStore,
): string[] {
  return [
    ...(database.length > 0 ? [mendOfRecords(place, directory)] : []),
    ...(audit.problems.length > 0
      ? ["What to do about the audit log is in the guide 'recovery', which the store serves at /docs/."]
      : []),
    ...(blobs.damaged.length + blobs.missing.length > 0
      ? [
          'A damaged or missing content comes back when the same file is uploaded again, or from a backup: ' +
            `larder restore FILE --missing --data ${shellWord(directory)}`,
        ]
      : []),
  ];
}

const describeProblems = (problems: string[], looked: string, mends: string[]): string =>
  [
    `${problems.length === 1 ? 'One thing is' : `${String(problems.length)} things are`} wrong (looked at: ${looked}):`,
    ...problems.slice(0, maxListed).map((line) => `  ${visible(line)}`),
    ...otherItems(problems.length),
    ...mends,
  ].join('\n');

const asJson = ({ good, database, audit, blobs, back }: VerificationOutcome, quarantined: boolean): object => ({
  good,
  database: { problems: database },
  audit,
  blobs: {
    checked: blobs.checked,
    bytes: blobs.bytes,
    damaged: blobs.damaged.map(({ sha3_384 }) => sha3_384),
    unreadable: blobs.unreadable,
    missing: blobs.missing,
    'put-back': back,
    quarantined,
  },
});
