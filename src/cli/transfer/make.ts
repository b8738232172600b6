// larder transfer make
import { resolve } from 'node:path';

import { keepHeapSmall } from '#src/small-heap.ts';
import { isPackageGlob } from '#domain/package-glob.ts';
import type { Aside } from '#domain/sequence.ts';
import { withBlobs } from '#data/blobs.ts';
import { forgetGathered, gatheredLast, makePartAgain, nextSequence, type Collector } from '#transfers/collector.ts';
import { make, makeAgain, type Making } from '#transfers/make.ts';
import type { ReadRequest } from '#transfers/request/form.ts';
import { ownSite } from '#transfers/site.ts';
import { answerBeside } from '../frame/beside.ts';
import { command, UsageError, type Answer, type Call } from '../frame/command.ts';
import { interruptible } from '../frame/interruption.ts';
import { writing } from '../frame/outside.ts';
import { progressOf } from '../frame/progress.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { collectorAt } from '../site/collector.ts';
import { written, writtenOf } from './collected.ts';
import { askedIn, withRequest } from './met.ts';
import { media, mediumNamed } from './parts.ts';
import { answerOf, fileAt, intentOf, refuseUnclearWriting, writingOptions } from './writing.ts';

const options = {
  packages: {
    type: 'string',
    value: 'GLOB',
    summary: "What to carry, such as 'snap/*', charm/postgresql-k8s or assertion/model; otherwise everything.",
    repeated: true,
  },
  request: {
    type: 'string',
    value: 'FILE',
    summary: 'Carry what this request of a site wishes for, and nothing that it says is there.',
  },
  ...writingOptions,
  media,
  again: {
    type: 'integer',
    value: 'N',
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    summary: 'Make a part of transfer number N again, the same bytes.',
  },
  part: { type: 'integer', value: 'K', minimum: 1, maximum: 100_000, summary: 'With --again: which part.' },
} as const;

type MakeCall = Call<typeof options, readonly [{ readonly name: 'file'; readonly summary: string }]>;

export const transferMake = command({
  name: 'transfer make',
  summary: 'Make a transfer of what this store holds, to be carried to other sites.',
  description:
    'What the channels of the packages hold goes in, with its resources, images and assertions, under one statement that the key of ' +
    'this site signs. Nothing that is there already need be carried twice: --request goes by what the site says is there, and ' +
    'carries what it wishes for with what that stands on; --since-sent leaves out what was sent before.',
  positionals: [
    {
      name: 'file',
      summary: 'The file to write, which must not be there yet; or a folder, and its number is its name.',
    },
  ],
  options,
  examples: [
    'larder transfer make /media/stick',
    'larder transfer make ./in.tar --request /media/stick/site-a-request-3.tar',
    "larder transfer make ./in.tar --packages 'snap/*' --for site-a --since-sent",
    'larder transfer make /media/disc --part-size 4400',
    'larder transfer make ./in.2of3.tar --again 7 --part 2',
  ],

  run(call) {
    refuseUnclear(call.options);
    keepHeapSmall();
    const collector = collectorAt(call);
    return collector === undefined
      ? withStore(call, (store) => answerBeside(store.directory, (aside) => made(store, call, aside)), {
          writesOutside: true,
        })
      : madeByCollector(collector, call);
  },
});

async function made(store: OpenStore, call: MakeCall, aside: Aside): Promise<Answer> {
  const { options: given } = call;
  const { records, acts, person: by, siteKey, now, asCaller, config } = store;
  const site = await ownSite(records, siteKey);
  const sequence = given.again ?? (await records.transfers.newestMade()) + 1;
  const file = fileAt(resolve(call.positionals.file), `${site.name}-${String(sequence)}.tar`);
  const progress = progressOf(call);
  try {
    return await interruptible((signal) =>
      withBlobs(store, async ({ blobs }) => {
        const making: Making = {
          ...{ records, acts, by, blobs, site, labels: config.site, now, asCaller, signal, aside },
          progress: progress.at,
        };
        if (given.again !== undefined) {
          const again = { sequence, part: given.part ?? 1, file, media: mediumNamed(given.media) };
          return answerOf(await writing(file, () => makeAgain(again, making)), site.seed.publicKey);
        }
        const asked = given.request === undefined ? undefined : await askedIn(given.request, store);
        const found = await writing(file, () => make(wishOf(given, { file, asked: asked?.request }, store), making));
        return withRequest(answerOf(found, site.seed.publicKey), asked);
      }),
    );
  } finally {
    progress.end();
  }
}

/** Makes a transfer of the last gathered files. */
async function madeByCollector(collector: Collector, call: MakeCall): Promise<Answer> {
  const { options: given } = call;
  if (given.packages.length > 0)
    throw new UsageError('a collector carries all that it gathered; --packages is of no use');
  const sequence = given.again ?? nextSequence(collector);
  const file = fileAt(resolve(call.positionals.file), `${collector.site.name}-${String(sequence)}.tar`);
  if (given.again !== undefined) {
    const again = { sequence, part: given.part ?? 1, file };
    return written(collector, call, (writing) => makePartAgain(again, { ...writing, collector }));
  }
  if (given.request !== undefined)
    throw new UsageError(
      "a collector holds a request against what it gathers: 'larder transfer gather --request FILE'",
    );
  const { found, asked } = gatheredLast(collector);
  if (asked !== undefined) refuseUnclearWriting({ ...given, request: asked.id });
  const answer = await writtenOf(collector, found, { file, asked }, call);
  forgetGathered(collector);
  return answer;
}

function refuseUnclear({ again, part, packages, request, ...given }: MakeCall['options']): void {
  const { for: sites, 'since-sent': since } = given;
  if (part !== undefined && again === undefined) throw new UsageError('--part is of use only with --again');
  if (again !== undefined && (packages.length > 0 || sites.length > 0 || since || request !== undefined))
    throw new UsageError('--again makes what was made before; it takes --part alone');
  refuseUnclearWriting({ ...given, request });
  const wrong = packages.find((glob) => !isPackageGlob(glob));
  if (wrong !== undefined) throw new UsageError(`'${wrong}' is no glob of packages; write such as 'snap/*'`);
}

interface Whom {
  file: string;
  /** The request that the transfer meets. */
  asked: ReadRequest | undefined;
}

function wishOf(given: MakeCall['options'], { file, asked }: Whom, { records }: OpenStore): Parameters<typeof make>[0] {
  const sentTo = (site: string, contents: readonly string[]) => records.transfers.sentTo(site, contents);
  const everything = given.packages.length === 0 && asked === undefined;
  return {
    ...intentOf(given, { sentTo, asked, file }),
    packages: everything ? ['*/*'] : given.packages,
    request: asked?.statement,
    media: mediumNamed(given.media),
    file,
  };
}
