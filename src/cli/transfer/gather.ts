// larder transfer gather
import { resolve } from 'node:path';
import { statSync } from 'node:fs';

import { digestPool } from '#blobs/digests.ts';
import { startWorker } from '#src/embedded.ts';
import { forgetGathered, keepGathered, nextSequence, scratchOf } from '#transfers/collector.ts';
import { gather, type FoundInFolder } from '#transfers/gather/gather.ts';
import type { ReadRequest } from '#transfers/request/form.ts';
import type { Failure } from '../frame/command.ts';
import { command, UsageError, type Answer, type Call } from '../frame/command.ts';
import { interruptible } from '../frame/interruption.ts';
import { cannotRead } from '../frame/outside.ts';
import { progressOf } from '../frame/progress.ts';
import { visible } from '../frame/terminal.ts';
import { withReviewer } from '../package/reviewer.ts';
import { channelsNamed } from '../release/channels.ts';
import { collectorHere } from '../site/collector.ts';
import { bytes } from '#domain/byte-size.ts';
import { writtenOf } from './collected.ts';
import { requestAt } from './met.ts';
import { media } from './parts.ts';
import { fitted } from './report.ts';
import { fileAt, refuseUnclearWriting, writingOptions } from './writing.ts';

const options = {
  request: {
    type: 'string',
    value: 'FILE',
    summary: 'Hold what is found against this request of a site, and carry nothing that it says is there.',
  },
  ...writingOptions,
  media,
  release: {
    type: 'string',
    value: 'CHANNEL',
    summary:
      'Where snaps are released of which no answer in the folder names a channel; commas may stand between several.',
    repeated: true,
  },
} as const;

const positionals = [
  { name: 'folder', summary: 'The folder that official tools have filled.' },
  {
    name: 'file',
    summary: "The transfer to write, or a folder for it; otherwise 'larder transfer make' writes it.",
    optional: true,
  },
] as const;

export const transferGather = command({
  name: 'transfer gather',
  summary:
    'Gather what official tools have left in a folder, for sites that are not online: needs no store and no network.',
  description:
    'Snaps and their components are carried with the assertions beside them; charms, bundles, resources and libraries with what the charm ' +
    'store answers to info, refresh and libraries, saved beside them as JSON; images as skopeo copies them to oci: and dir:, by the digest that the resource names; other ' +
    'transfers; and archives of any of these. What a file is its content says, and not its name. What cannot be carried is listed with ' +
    'the reason; credentials in the folder stay there.',
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
    const collector = collectorHere(call);
    const folder = folderAt(resolve(call.positionals.folder));
    const { file } = call.positionals;
    // Check the target before hours of reading.
    const target =
      file === undefined
        ? undefined
        : fileAt(resolve(file), `${collector.site.name}-${String(nextSequence(collector))}.tar`);
    const asked = call.options.request === undefined ? undefined : await requestAt(call.options.request);
    const how = { scratch: scratchOf(collector), release: call.options.release, asked };
    const found = await gathered(folder, how, call);
    if (target === undefined) {
      keepGathered(collector, found, asked);
      return answerOf(found);
    }
    const made = await writtenOf(collector, found, { file: target, asked }, call);
    forgetGathered(collector);
    const said = answerOf(found);
    return { text: `${said.text}\n${made.text}`, json: { ...(said.json as object), ...(made.json as object) } };
  },
});

export function folderAt(path: string): string {
  let isFolder: boolean;
  try {
    isFolder = statSync(path).isDirectory();
  } catch (error) {
    throw cannotRead(path, error);
  }
  if (!isFolder) throw new UsageError(`${path} is no folder; name the one that the tools have filled`);
  return path;
}

interface How {
  /** A private folder for unpacked files. */
  scratch: string;
  release: readonly string[];
  asked?: ReadRequest | undefined;
  /** The time of gathering; default: now. */
  now?: Date;
}

/** Reads a folder and reviews its content as a store does, but without a store. */
export async function gathered(
  folder: string,
  { scratch, release, asked, now = new Date() }: How,
  call: Pick<Call, 'json' | 'quiet' | 'world'>,
): Promise<FoundInFolder> {
  const progress = progressOf(call);
  const releaseTo = channelsNamed(release);
  const digests = digestPool((worker) => startWorker('src/blobs/digest-worker.ts', worker));
  try {
    return await interruptible((signal) =>
      withReviewer((reviewer) =>
        gather(folder, {
          ...{ reviewer, digests, scratch, releaseTo, now, request: asked?.statement },
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
export function answerOf({ packages, contents, leftOut }: FoundInFolder): Answer {
  const rows = packages.map(({ namespace, name, revisions, channels }) => [
    `${namespace}/${name}`,
    revisions.map(({ revision }) => revision).join(', '),
    [...new Set(channels.map(({ channel }) => channel))].join(', '),
  ]);
  const size = [...contents.values()].reduce((sum, { content }) => sum + content.size, 0);
  const left = leftOut.map(({ what, why }) => `  ${visible(what)}: ${visible(why)}`);
  return {
    text: [
      `Gathered ${String(packages.length)} packages: ${String(contents.size)} contents with ${bytes(size)}.`,
      ...(packages.length === 0 ? [] : [fitted(['PACKAGE', 'REVISIONS', 'CHANNELS'], rows)]),
      ...(left.length === 0 ? [] : ['Left out:', ...left]),
    ].join('\n'),
    json: {
      gathered: packages.map(({ namespace, name, id, revisions, resources, channels }) => ({
        ...{ name: `${namespace}/${name}`, id, revisions: revisions.map(({ revision }) => revision) },
        resources: resources.map((one) => ({
          name: one.name,
          revisions: one.revisions.map(({ revision }) => revision),
        })),
        channels: channels.map(({ channel, slot, revision }) => ({ channel, slot, revision })),
      })),
      'left-out': leftOut,
    },
  };
}
