// larder verify
import { timestamp } from '#domain/clock.ts';
import { putBackGood, quarantine } from '#integrity/quarantine.ts';
import { verifyStore } from '#integrity/verify.ts';
import { withBlobs } from '#src/appliance.ts';
import { command } from './command.ts';
import { progressOf } from './progress.ts';
import { withStore } from './store.ts';

const shown = 20;

export const verify = command({
  name: 'verify',
  summary: 'Prove that nothing in the store is damaged or missing.',
  description:
    'Checks the database (its pages, its references, every row against its digest), the audit log, and every blob ' +
    'against its hash. It can run while the store is served. Exit code 1 means that something is wrong.',
  options: {
    quarantine: {
      type: 'boolean',
      summary: 'Take damaged blobs out of service; the same file, uploaded again, mends them.',
    },
    'restore-quarantined': {
      type: 'boolean',
      summary: 'First put back into service what was taken out and hashes well.',
    },
  },
  examples: ['larder verify', 'larder verify --quarantine --json', 'larder verify --restore-quarantined'],
  confirm: {
    question: ({ options: { quarantine } }) =>
      quarantine ? 'Blobs that are damaged are taken out of service, and nobody gets them any more.' : undefined,
    unattended: 'goes on',
  },

  run: (call) =>
    withStore(call, async (store) => {
      call.world.yieldToOthers?.();
      const progress = progressOf(call);
      const { records, siteKey, sealing } = store;
      const verdict = await withBlobs(store, async ({ blobs, digests, database: file, nativeBinding }) => {
        const by = { records, blobs, at: timestamp(store.now()), actor: store.actor };
        const back = call.options['restore-quarantined'] ? await putBackGood(by, digests) : [];
        const found = await verifyStore({
          file,
          records,
          blobs,
          digests,
          siteKey,
          sealFile: sealing.file,
          nativeBinding,
          progress: progress.at,
        });
        if (call.options.quarantine) for (const blob of found.blobs.damaged) await quarantine(blob, by);
        return { ...found, back };
      });
      progress.end();
      const { good, database, audit, blobs, back } = verdict;
      const problems = [
        ...database.map((line) => `database: ${line}`),
        ...audit.problems.map((line) => `audit log: ${line}`),
        ...blobs.damaged.map(({ sha3_384 }) => `blob ${sha3_384} is damaged`),
        ...blobs.unreadable.map((sha3_384) => `blob ${sha3_384} cannot be read; the disk may be failing`),
        ...blobs.missing.map((sha3_384) => `blob ${sha3_384} is missing`),
      ];
      const mend =
        blobs.damaged.length + blobs.missing.length > 0
          ? '\nA damaged or missing blob is mended by uploading the same file again, or from a backup.'
          : '';
      const counted = `${String(blobs.checked)} blobs of ${String(blobs.bytes)} bytes, ${String(audit.rows)} entries of the audit log`;
      const restored = back.length > 0 ? `${String(back.length)} blobs hash well and are in service again.\n` : '';
      return {
        text: good
          ? `${restored}Everything is as it was written: the database, ${counted}.`
          : `${restored}${String(problems.length)} things are wrong (looked at: the database, ${counted}):\n` +
            problems
              .slice(0, shown)
              .map((line) => `  ${line}\n`)
              .join('') +
            (problems.length > shown ? `  and ${String(problems.length - shown)} more; --json lists them all\n` : '') +
            mend.trimStart(),
        json: {
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
            quarantined: call.options.quarantine,
          },
        },
        exitCode: good ? 0 : 1,
      };
    }),
});
