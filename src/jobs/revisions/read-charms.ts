// Job that reads charms pushed before the store supported juju, to store the digests and texts that juju requests.
import type { Logger } from 'pino';

import { itself, type Acts } from '#acts/act.ts';
import { storeCharmData } from '#acts/revisions/charm-data.ts';
import { withFile, type Blobs } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import { hours } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import type { Reviewer } from '#review/reviewer.ts';
import { findingsOf, kindOf } from '../uploads/findings.ts';
import { forEachPageItem } from '../rounds.ts';
import type { BackgroundJob } from '../runner.ts';

interface ReadCharmsOptions {
  records: StoreRecords;
  acts: Acts;
  blobs: Blobs;
  reviewer: Pick<Reviewer, 'review'>;
  digests: Pick<DigestPool, 'ofFile'>;
  log: Logger;
}

type UnreadCharm = Awaited<ReturnType<StoreRecords['revisions']['toReadForJuju']>>[number];

const pageSize = 100;

export const readCharms = (options: ReadCharmsOptions): BackgroundJob => ({
  name: 'read-charms',
  inDoubt: 'runs',
  every: hours(1),

  async run() {
    const { records, log } = options;
    let read = 0;
    const page = (after?: UnreadCharm) =>
      records.revisions.toReadForJuju(after ?? { packageId: '', revision: 0 }, pageSize);
    await forEachPageItem(page, pageSize, async (charm) => {
      try {
        await readOne(charm, options);
        read++;
      } catch (error) {
        // A corrupt charm does not stop the others. It is tried again in the next run.
        log.warn({ err: error, charm: charm.name, revision: charm.revision }, 'cannot read a charm for juju');
      }
    });
    return read === 0 ? {} : { read };
  },
});

async function readOne(
  { packageId, revision, sha3_384, name, type }: UnreadCharm,
  { records, acts, blobs, reviewer, digests }: ReadCharmsOptions,
): Promise<void> {
  if (await records.revisions.isDamaged(packageId, revision)) throw new Error('its record is corrupt');
  if (!(await blobs.prove(sha3_384))) throw new Error('its file is corrupt or missing');
  const [verdict, { sha384 }] = await withFile(blobs, sha3_384, (path) =>
    Promise.all([reviewer.review({ kind: kindOf({ type }), path, name }), digests.ofFile(path, ['sha384'])]),
  );
  const findings = verdict.approved ? findingsOf(verdict, null, sha384) : undefined;
  const read = findings?.kind === 'revision' ? findings : undefined;
  await acts.do(storeCharmData, itself, {
    packageId,
    revision,
    texts: read?.charm ?? { sha384, configYaml: null, actionsYaml: null },
    metadata: read?.details.said,
  });
}
