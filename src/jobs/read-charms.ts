// Job that reads charms pushed before the store supported juju, to store the digests and texts that juju requests.
import type { Logger } from 'pino';

import { itself, type Acts } from '#acts/act.ts';
import { readCharm } from '#acts/charm-texts.ts';
import { withFile, type Blobs } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import { hours } from '#domain/clock.ts';
import type { Records } from '#records/index.ts';
import type { Reviewer } from '#review/reviewer.ts';
import { findingsOf, kindOf } from './findings.ts';
import { overPages } from './rounds.ts';
import type { Job } from './runner.ts';

interface Options {
  records: Records;
  acts: Acts;
  blobs: Blobs;
  reviewer: Pick<Reviewer, 'review'>;
  digests: Pick<DigestPool, 'ofFile'>;
  log: Logger;
}

type Unread = Awaited<ReturnType<Records['revisions']['toReadForJuju']>>[number];

const pageSize = 100;

export const readCharms = (options: Options): Job => ({
  name: 'read-charms',
  inDoubt: 'runs',
  every: hours(1),

  async run() {
    const { records, log } = options;
    let read = 0;
    const page = (after?: Unread) => records.revisions.toReadForJuju(after ?? { packageId: '', revision: 0 }, pageSize);
    await overPages(page, pageSize, async (one) => {
      try {
        await readOne(one, options);
        read++;
      } catch (error) {
        // A corrupt charm does not stop the others. It is tried again in the next run.
        log.warn({ err: error, charm: one.name, revision: one.revision }, 'a charm could not be read for juju');
      }
    });
    return read === 0 ? {} : { read };
  },
});

async function readOne(
  { packageId, revision, sha3_384, name, type }: Unread,
  { records, acts, blobs, reviewer, digests }: Options,
): Promise<void> {
  if (await records.revisions.isDamaged(packageId, revision)) throw new Error('its record is damaged');
  if (!(await blobs.prove(sha3_384))) throw new Error('its file is damaged or missing');
  const [verdict, { sha384 }] = await withFile(blobs, sha3_384, (path) =>
    Promise.all([reviewer.review({ kind: kindOf({ type }), path, name }), digests.ofFile(path, ['sha384'])]),
  );
  const found = verdict.approved ? findingsOf(verdict, null, sha384) : undefined;
  const read = found?.kind === 'revision' ? found : undefined;
  await acts.do(readCharm, itself, {
    packageId,
    revision,
    texts: read?.charm ?? { sha384, configYaml: null, actionsYaml: null },
    said: read?.details.said,
  });
}
