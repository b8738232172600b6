// larder package import
import { Refusal } from '#domain/refusal.ts';
import type { Channel } from '#domain/releases/channel.ts';
import { readTrusted } from '#assertions/trusted-roots.ts';
import { withBlobs } from '#data/blobs.ts';
import { command, UsageError, type CommandResult, type CommandCall } from '../../frame/command.ts';
import { createProgress, type ProgressReporter } from '../../frame/progress.ts';
import { withStore, type OpenStore } from '../../frame/store.ts';
import { parseChannelArguments } from '../../releases/channel-arguments.ts';
import { formatImport, type PackageImportOutcome } from './format-import.ts';
import { sortImportFiles, describeRefusal } from './files.ts';
import { inspectSnap, type SnapInspectionContext, type InspectedSnap } from './inspect-snap.ts';
import { inspectOthers, importOthers } from './other-assertions.ts';
import { releaseImported, importSnap } from './import-snaps.ts';
import { withReviewer } from '../../uploads/reviewer.ts';

export const packageImport = command({
  name: 'package import',
  summary: 'Import snaps of another store with their assertions.',
  description:
    "The files are NAME.snap and NAME.assert as 'snap download' writes them, or folders of them. The content of " +
    'a file counts, not its name. Id, name, publisher and revision number stay the same. Their assertions are ' +
    'verified up to the trusted roots that assertions.trusted in the configuration names. Other assertions are ' +
    'imported too if such a root vouches for them. A file that cannot be imported is listed with the reason and ' +
    'does not stop the others; the exit code is then 1. Run an interrupted command again to resume it.',
  positionals: [
    {
      name: 'files',
      value: 'FILE',
      summary: 'Snaps, files of assertions, and folders of them.',
      repeated: true,
    },
  ],
  options: {
    preview: { type: 'boolean', summary: 'List the files that would be imported and refused, and change nothing.' },
    release: {
      type: 'string',
      value: 'CHANNEL',
      summary:
        'Release the imported snaps to these channels, separated by commas, unless a channel holds a newer revision.',
      repeated: true,
    },
  },
  examples: [
    'larder package import ./hello_12.snap ./hello_12.assert',
    'larder package import /media/stick --preview --json',
    'larder package import /media/stick --release stable --yes',
  ],
  confirm: {
    question: ({ options: { release: channelTexts, preview: isPreview } }) =>
      channelTexts.length === 0 || isPreview
        ? undefined
        : `Imported snaps will be released to ${parseChannelArguments(channelTexts)
            .map(({ name }) => name)
            .join(', ')}.`,
    unattended: 'goes on',
  },

  run(call) {
    const { positionals, options } = call;
    const { files } = positionals;
    if (files.length === 0) throw new UsageError('no files given: name the snaps and their assertions');
    const channels = parseChannelArguments(options.release);
    return withStore(call, (store) => importFiles(store, call, { files, channels, isPreview: options.preview }), {
      writesOutside: true,
    });
  },
});

interface PackageImportOptions {
  files: readonly string[];
  channels: readonly Channel[];
  isPreview: boolean;
}

async function importFiles(
  store: OpenStore,
  call: Pick<CommandCall, 'json' | 'quiet' | 'world'>,
  { files, channels, isPreview }: PackageImportOptions,
): Promise<CommandResult> {
  const progress = createProgress(call);
  const gathered = await store.asCaller(() => sortImportFiles(files));
  const roots = readTrusted(store.config.assertions.trusted);
  return withReviewer(async (reviewer) => {
    const inspection = { ...store, roots, reviewer, pool: gathered.pool, digests: new Set<string>() };
    const preview = await inspectAll(gathered.snaps, inspection, progress);
    const others = await inspectOthers(preview.seen, inspection);
    const outcome: PackageImportOutcome = {
      ...preview,
      isPreview,
      passedOver: gathered.passedOver,
      assertions: others.valid,
      refused: [...gathered.refused, ...preview.refused, ...others.refused],
      released: [],
    };
    if (!isPreview) {
      await withBlobs(store, async ({ blobs }) => {
        const importContext = { ...inspection, blobs, reviewer, progress };
        await importAll(outcome, store, importContext);
      });
      const { stored, refused } = await importOthers(others.valid, store, inspection);
      outcome.assertions = stored;
      outcome.refused.push(...refused);
      await releaseAll(outcome, store, channels);
    }
    return formatImport(outcome);
  }).finally(() => {
    progress.end();
  });
}

/** Inspects every snap; returns them sorted by package and revision, so that older revisions are imported first. */
async function inspectAll(
  snaps: readonly string[],
  inspection: SnapInspectionContext,
  progress: ProgressReporter,
): Promise<Pick<PackageImportOutcome, 'seen' | 'refused'>> {
  const seen = new Map<string, InspectedSnap>();
  const refused: PackageImportOutcome['refused'] = [];
  for (const [at, file] of snaps.entries()) {
    progress.at('inspecting', at, snaps.length);
    try {
      const inspected = await inspectSnap(file, inspection);
      const key = `${inspected.snap.name}/${String(inspected.snap.revision)}`;
      const twin = seen.get(key);
      if (twin === undefined) seen.set(key, inspected);
      else if (twin.snap.sha3_384 !== inspected.snap.sha3_384 || twin.snap.id !== inspected.snap.id) {
        throw new Refusal(
          'conflict',
          `${twin.file} is revision ${String(inspected.snap.revision)} of '${inspected.snap.name}' as well.`,
        );
      }
    } catch (error) {
      refused.push({ file, why: describeRefusal(error) });
    }
  }
  const inOrder = [...seen.values()].sort(
    ({ snap: a }, { snap: b }) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0) || a.revision - b.revision,
  );
  return { seen: inOrder, refused };
}

async function importAll(
  outcome: PackageImportOutcome,
  store: OpenStore,
  importContext: Parameters<typeof importSnap>[2],
): Promise<void> {
  const missing = outcome.seen.filter(({ isHere }) => !isHere);
  for (const [at, inspected] of missing.entries()) {
    importContext.progress.at('importing', at, missing.length);
    try {
      await importSnap(inspected, store, importContext);
    } catch (error) {
      outcome.refused.push({ file: inspected.file, why: describeRefusal(error) });
      outcome.seen = outcome.seen.filter((other) => other !== inspected);
    }
  }
}

async function releaseAll(
  outcome: PackageImportOutcome,
  store: OpenStore,
  channels: readonly Channel[],
): Promise<void> {
  if (channels.length === 0) return;
  for (const [name, seen] of Map.groupBy(outcome.seen, ({ snap }) => snap.name)) {
    try {
      const released = await releaseImported(name, seen, channels, store);
      if (released !== undefined) outcome.released.push(released);
    } catch (error) {
      outcome.refused.push({ file: `snap/${name}`, why: `It is not released: ${describeRefusal(error)}` });
    }
  }
}
