// larder transfer gather
import { resolve } from 'node:path';
import { statSync } from 'node:fs';

import { createDigestPool } from '#blobs/digests.ts';
import { startWorker } from '#platform/embedded.ts';
import { saveGathered, scratchOf } from '#transfers/make/collector.ts';
import { gather, type GatheredFolder } from '#transfers/gather/gather.ts';
import type { ParsedRequest } from '#transfers/request/request-file.ts';
import type { Failure } from '../../frame/command.ts';
import { command, extendAnswer, UsageError, type CommandResult, type CommandCall } from '../../frame/command.ts';
import { interruptible } from '../../frame/interruption.ts';
import { toReadFailure } from '../../frame/outside-files.ts';
import { createProgress } from '../../frame/progress.ts';
import { visible } from '../../frame/terminal.ts';
import { withReviewer } from '../../uploads/reviewer.ts';
import { parseChannelArguments } from '../../releases/channel-arguments.ts';
import { requireCollector } from '../../sites/collector.ts';
import { formatBytes } from '#domain/byte-size.ts';
import { formatCount } from '#domain/quantities.ts';
import { newTransferFile, writeGatheredTransfer } from './collector-transfer.ts';
import { readRequestFile } from '../../sites/incoming-request.ts';
import { media } from '../parts.ts';
import { formatPackages } from '../report.ts';
import { refuseUnclearWriting, writingOptions } from './writing-options.ts';

const options = {
  request: {
    type: 'string',
    value: 'FILE',
    summary: 'The request of the site. Contents that it lists as stored there are left out.',
  },
  ...writingOptions,
  media,
  release: {
    type: 'string',
    value: 'CHANNEL',
    summary: 'The channel for snaps if no answer in the folder names one. Separate several with commas.',
    repeated: true,
  },
} as const;

const positionals = [
  { name: 'folder', summary: 'The folder that official tools have filled.' },
  {
    name: 'file',
    summary: "The transfer to write, or a folder for it. Without it, 'larder transfer make' writes the transfer.",
    optional: true,
  },
] as const;

export const transferGather = command({
  name: 'transfer gather',
  summary:
    'Gather files that official tools have downloaded to a folder, for sites that are not online. Needs no store ' +
    'and no network.',
  description:
    'The folder can hold snaps and their components with the assertions beside them; charms, bundles, resources ' +
    'and libraries with the answers of the charm store to info, refresh and libraries beside them as JSON; ' +
    'images that skopeo copied to oci: or dir:, by the digest that the resource names; other transfers; and ' +
    'archives of any of these. The content of a file decides its kind, not its name. Files that cannot be ' +
    'transferred are listed with the reason. Credentials in the folder are never included.',
  positionals,
  options,
  examples: [
    'larder transfer gather ./fetched /media/stick',
    'larder transfer gather ./fetched ./in.tar --request ./site-a-request-3.tar',
    'larder transfer gather ./fetched --release stable',
    'larder transfer gather ./fetched ./in.tar --for site-a --since-sent --part-size 4400',
  ],

  async run(call) {
    refuseUnclearWriting(call.options);
    const collector = requireCollector(call);
    const folder = requireFolder(resolve(call.positionals.folder));
    const { file } = call.positionals;
    // Check the target before hours of reading.
    const target = file === undefined ? undefined : newTransferFile(collector, file);
    const siteRequest = call.options.request === undefined ? undefined : await readRequestFile(call.options.request);
    const folderContent = await gatherFolder(
      folder,
      { scratch: scratchOf(collector), release: call.options.release, siteRequest },
      call,
    );
    if (target === undefined) {
      saveGathered(collector, folderContent, siteRequest);
      return formatGathered(folderContent);
    }
    const made = await writeGatheredTransfer(collector, folderContent, { file: target, siteRequest }, call);
    return extendAnswer(formatGathered(folderContent), made.text, made.json);
  },
});

export function requireFolder(path: string): string {
  let isFolder: boolean;
  try {
    isFolder = statSync(path).isDirectory();
  } catch (error) {
    throw toReadFailure(path, error);
  }
  if (!isFolder) throw new UsageError(`${path} is not a folder; name the folder that the tools have filled`);
  return path;
}

interface GatherOptions {
  /** A private folder for unpacked files. */
  scratch: string;
  release: readonly string[];
  siteRequest?: ParsedRequest | undefined;
  /** The time of gathering; default: now. */
  now?: Date;
}

/** Reads a folder and reviews its content as a store does, but without a store. */
export async function gatherFolder(
  folder: string,
  { scratch, release, siteRequest, now = new Date() }: GatherOptions,
  call: Pick<CommandCall, 'json' | 'quiet' | 'world'>,
): Promise<GatheredFolder> {
  const progress = createProgress(call);
  const releaseTo = parseChannelArguments(release);
  const digests = createDigestPool((worker) => startWorker('src/blobs/digest-worker.ts', worker));
  try {
    return await interruptible((signal) =>
      withReviewer((reviewer) =>
        gather(folder, {
          reviewer,
          digests,
          scratch,
          releaseTo,
          now,
          request: siteRequest?.statement,
          progress(step, done, total) {
            if (signal.aborted) throw signal.reason as Failure;
            progress.at(step, done, total);
          },
        }),
      ),
    );
  } finally {
    progress.end();
    await digests.close();
  }
}

/** Reports the gathered packages and the files that were left out. */
export function formatGathered({ packages, contents, leftOut }: GatheredFolder): CommandResult {
  const size = [...contents.values()].reduce((sum, { content }) => sum + content.size, 0);
  const left = leftOut.map(({ what: subject, why: reason }) => `  ${visible(subject)}: ${visible(reason)}`);
  return {
    text: [
      `Gathered ${formatCount(packages.length, 'package')}: ${formatCount(contents.size, 'content')} with ${formatBytes(size)}.`,
      ...(packages.length === 0 ? [] : [formatPackages(packages)]),
      ...(left.length === 0 ? [] : ['Left out:', ...left]),
    ].join('\n'),
    json: {
      gathered: packages.map(({ namespace, name, id, revisions, resources, channels }) => ({
        name: `${namespace}/${name}`,
        id,
        revisions: revisions.map(({ revision }) => revision),
        resources: resources.map((resource) => ({
          name: resource.name,
          revisions: resource.revisions.map(({ revision }) => revision),
        })),
        channels: channels.map(({ channel, slot, revision }) => ({ channel, slot, revision })),
      })),
      'left-out': leftOut,
    },
  };
}
