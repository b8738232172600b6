// Writes the transfers of a collector.
import { makeOf, sentTo, type Asked, type Collector } from '#transfers/collector.ts';
import type { LetOut } from '#transfers/collector-exports.ts';
import type { Made } from '#transfers/composing.ts';
import type { FoundInFolder } from '#transfers/gather/gather.ts';
import type { Writing } from '#transfers/part-files.ts';
import type { Answer, Call } from '../frame/command.ts';
import { interruptible } from '../frame/interruption.ts';
import { writing } from '../frame/outside.ts';
import { progressOf } from '../frame/progress.ts';
import { actorOf } from '../frame/store.ts';
import { mediumNamed } from './parts.ts';
import { answerOf, intentOf, type WritingOptions } from './writing.ts';

type Calling = Pick<Call, 'json' | 'quiet' | 'world'>;

/** Writes a transfer, and reports its content. */
export async function written(
  collector: Collector,
  call: Calling & { positionals: { file?: string | undefined }; options: { media: string | undefined } },
  work: (how: Omit<Writing, 'content'> & { leaving: LetOut }) => Promise<Made>,
): Promise<Answer> {
  const progress = progressOf(call);
  const leaving = { by: actorOf(call.world), media: mediumNamed(call.options.media), now: new Date() };
  try {
    const made = await interruptible((signal) =>
      writing(call.positionals.file ?? '', () =>
        // A collector belongs to the caller, so the rights need no change.
        work({ asCaller: async (some) => some(), signal, progress: progress.at, leaving }),
      ),
    );
    return answerOf(made, collector.site.seed.publicKey);
  } finally {
    progress.end();
  }
}

/** Writes a transfer of the gathered files, and reports its content. */
export function writtenOf(
  collector: Collector,
  found: FoundInFolder,
  { file, asked }: { file: string; asked: Asked | undefined },
  call: Calling & { options: WritingOptions & { media: string | undefined } },
): Promise<Answer> {
  const intent = intentOf(call.options, {
    sentTo: async (site, contents) => sentTo(collector, site, contents),
    asked,
    file,
  });
  return written(collector, { ...call, positionals: { file } }, (how) =>
    makeOf(found, { ...intent, file }, { ...how, collector }),
  );
}
