// larder transfer make
import { resolve } from 'node:path';

import { keepHeapSmall } from '#platform/small-heap.ts';
import { isPackageGlob } from '#domain/packages/package-glob.ts';
import type { SpillStorage } from '#domain/sequence.ts';
import type { TransferLarderRelease } from '#contract/wire.ts';
import { withBlobs } from '#data/blobs.ts';
import { readGathered, makePartAgain, type Collector } from '#transfers/make/collector.ts';
import { isReleaseVersion, readRelease } from '#transfers/make/larder-releases.ts';
import { makeStoreTransfer, remakePart, type TransferMakeContext } from '#transfers/make/make.ts';
import type { ParsedRequest } from '#transfers/request/request-file.ts';
import { ownSite } from '#transfers/site.ts';
import { withSpillFile } from '../../frame/with-spill-file.ts';
import { command, UsageError, type CommandResult, type CommandCall } from '../../frame/command.ts';
import { interruptible } from '../../frame/interruption.ts';
import { withWriteErrors } from '../../frame/outside-files.ts';
import { createProgress } from '../../frame/progress.ts';
import { withStore, type OpenStore } from '../../frame/store.ts';
import { siteKeysOf } from '../../keys/find-keys.ts';
import { findCollector } from '../../sites/collector.ts';
import { newTransferFile, writeCollectorTransfer, writeGatheredTransfer } from './collector-transfer.ts';
import { readIncomingRequest, withRequest } from '../../sites/incoming-request.ts';
import { withReleaseErrors } from '../../store/larder-release.ts';
import { media, parseMedium } from '../parts.ts';
import { formatMade, fileAt, toIntent, refuseUnclearWriting, writingOptions } from './writing-options.ts';

const options = {
  packages: {
    type: 'string',
    value: 'GLOB',
    summary:
      "The packages and assertions to include, such as 'snap/*', charm/postgresql-k8s or assertion/model. Default: " +
      "all. Feeds of advisories and fleets are included only by name, such as 'feed/*' and 'fleet/*'.",
    repeated: true,
  },
  request: {
    type: 'string',
    value: 'FILE',
    summary:
      'Include the subscriptions and missing packages of this request of a site, and leave out contents that it ' +
      'lists as stored there.',
  },
  release: {
    type: 'string',
    value: 'FOLDER',
    summary:
      'Include the release of larder in this folder, or the kept release with this version. It is verified first, as ' +
      "by 'larder release verify'. Packages are then included only by name.",
    repeated: true,
  },
  ...writingOptions,
  media,
  again: {
    type: 'integer',
    value: 'N',
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    summary: 'Make a part of transfer number N again, with the same bytes.',
  },
  part: { type: 'integer', value: 'K', minimum: 1, maximum: 100_000, summary: 'With --again: the number of the part.' },
} as const;

type MakeCall = CommandCall<typeof options, readonly [{ readonly name: 'file'; readonly summary: string }]>;

export const transferMake = command({
  name: 'transfer make',
  summary: "Make a transfer of this store's content for other sites.",
  description:
    'A transfer holds the releases of the packages with their resources, images and assertions, under one ' +
    'statement that the key of this site signs. To leave out contents that the site already has, use --request, ' +
    'which follows the request of the site and includes its subscriptions with their dependencies, or ' +
    '--since-sent, which leaves out contents that were sent before.',
  positionals: [
    {
      name: 'file',
      summary: 'The new file to write. In a folder, the file is named by its number.',
    },
  ],
  options,
  examples: [
    'larder transfer make /media/stick',
    'larder transfer make ./in.tar --request /media/stick/site-a-request-3.tar',
    "larder transfer make ./in.tar --packages 'snap/*' --for site-a --since-sent",
    'larder transfer make /media/disc --part-size 4400',
    'larder transfer make /media/stick --release /media/disc/larder-1.2.0',
    'larder transfer make ./in.2of3.tar --again 7 --part 2',
  ],

  run(call) {
    refuseUnclear(call.options);
    keepHeapSmall();
    const collector = findCollector(call);
    return collector === undefined
      ? withStore(call, (store) => withSpillFile(store.directory, (aside) => makeFromStore(store, call, aside)), {
          writesOutside: true,
        })
      : makeFromCollector(collector, call);
  },
});

async function makeFromStore(store: OpenStore, call: MakeCall, aside: SpillStorage): Promise<CommandResult> {
  const { options: callOptions } = call;
  const { records, acts, person: actor, now, asCaller, config } = store;
  const site = await ownSite(records, siteKeysOf(store, call.world));
  const sequence = callOptions.again ?? (await records.transfers.newestMade()) + 1;
  const file = fileAt(resolve(call.positionals.file), `${site.name}-${String(sequence)}.tar`);
  const progress = createProgress(call);
  try {
    return await interruptible((signal) =>
      withBlobs(store, async ({ blobs, digests }) => {
        const making: TransferMakeContext = {
          records,
          acts,
          actor,
          blobs,
          site,
          labels: config.site,
          now,
          asCaller,
          signal,
          aside,
          progress: progress.at,
        };
        if (callOptions.again !== undefined) {
          const again = { sequence, part: callOptions.part ?? 1, file, media: parseMedium(callOptions.media) };
          return formatMade(await withWriteErrors(file, () => remakePart(again, making)), site.key.publicKey);
        }
        const incoming =
          callOptions.request === undefined ? undefined : await readIncomingRequest(callOptions.request, store);
        const larderReleases = await readReleases(callOptions.release, { ...making, digests });
        const makeRequest = toMakeRequest(callOptions, { file, siteRequest: incoming?.request }, store);
        const result = await withWriteErrors(file, () => makeStoreTransfer({ ...makeRequest, larderReleases }, making));
        return withRequest(formatMade(result, site.key.publicKey), incoming);
      }),
    );
  } finally {
    progress.end();
  }
}

/** Verifies the releases of larder before anything is made. */
async function readReleases(
  names: readonly string[],
  context: Parameters<typeof readRelease>[1],
): Promise<TransferLarderRelease[]> {
  const releases = [];
  for (const name of new Set(names)) {
    const path = isReleaseVersion(name) ? name : resolve(name);
    releases.push(await withReleaseErrors(name, () => readRelease(path, context)));
  }
  return releases;
}

/** Makes a transfer of the last gathered files. */
async function makeFromCollector(collector: Collector, call: MakeCall): Promise<CommandResult> {
  const { options: callOptions } = call;
  if (callOptions.packages.length > 0)
    throw new UsageError('a collector transfers everything that it gathered; leave out --packages');
  if (callOptions.release.length > 0)
    throw new UsageError('a collector carries no release of larder; leave out --release');
  const { again: sequence } = callOptions;
  const file = newTransferFile(collector, call.positionals.file, sequence);
  if (sequence !== undefined) {
    const again = { sequence, part: callOptions.part ?? 1, file };
    return writeCollectorTransfer(collector, call, (writing) => makePartAgain(again, { ...writing, collector }));
  }
  if (callOptions.request !== undefined)
    throw new UsageError("a collector uses the request when it gathers files: 'larder transfer gather --request FILE'");
  const { gathered: folderContent, request: siteRequest } = readGathered(collector);
  if (siteRequest !== undefined) refuseUnclearWriting({ ...callOptions, request: siteRequest.id });
  return writeGatheredTransfer(collector, folderContent, { file, siteRequest }, call);
}

function refuseUnclear({ again, part, packages, release, request, ...rest }: MakeCall['options']): void {
  const { for: sites, 'since-sent': since } = rest;
  if (part !== undefined && again === undefined) throw new UsageError('--part needs --again');
  if (again !== undefined && (packages.length + release.length + sites.length > 0 || since || request !== undefined))
    throw new UsageError('--again repeats an earlier transfer and can be combined with --part only');
  refuseUnclearWriting({ ...rest, request });
  const wrong = packages.find((glob) => !isPackageGlob(glob));
  if (wrong !== undefined) throw new UsageError(`'${wrong}' is not a glob of packages; write it as 'snap/*'`);
}

interface MakeTarget {
  file: string;
  /** The request that the transfer meets. */
  siteRequest: ParsedRequest | undefined;
}

function toMakeRequest(
  callOptions: MakeCall['options'],
  { file, siteRequest }: MakeTarget,
  { records }: OpenStore,
): Parameters<typeof makeStoreTransfer>[0] {
  const sentTo = (site: string, contents: readonly string[]) => records.transfers.sentTo(site, contents);
  const everything = callOptions.packages.length + callOptions.release.length === 0 && siteRequest === undefined;
  return {
    ...toIntent(callOptions, { sentTo, siteRequest, file }),
    packages: everything ? ['*/*'] : callOptions.packages,
    request: siteRequest?.statement,
    media: parseMedium(callOptions.media),
    file,
  };
}
