// larder transfer adopt
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { distrustSource } from '#acts/sites/sites.ts';
import { refuseAdoption } from '#acts/sites/source-trust.ts';
import { withBlobs } from '#data/blobs.ts';
import { Refusal } from '#domain/refusal.ts';
import { formatCount } from '#domain/quantities.ts';
import type { GatheredFolder } from '#transfers/gather/gather.ts';
import { acceptanceContextOf } from '#transfers/accept/desk.ts';
import { formerStoreFolder, formerStoreName } from '#transfers/former-store.ts';
import { wholeTransfer } from '#acts/transfers/plan-types.ts';
import { acceptReceivedTransfer } from '#transfers/accept/acceptance.ts';
import type { TransferInspection } from '#transfers/accept/inspect.ts';
import { presentPreview, buildPreviewReport } from '#transfers/accept/report.ts';
import { fetchScript } from '#transfers/request/fetch-table.ts';
import { beginUnsigned, unsignedParts, type UnsignedStart } from '#transfers/receive/unsigned.ts';
import { command, extendAnswer, Failure, UsageError, type CommandResult, type CommandCall } from '../frame/command.ts';
import { withWriteErrors } from '../frame/outside-files.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { visible } from '../frame/terminal.ts';
import { formatGathered, requireFolder, gatherFolder } from './make/gather.ts';
import { withTransferPreview } from './staged-transfer.ts';
import { receiveParts } from './receive.ts';
import { renderReportText } from './report.ts';

const options = {
  script: {
    type: 'boolean',
    summary:
      'Write the script fetch.sh to the folder, and do nothing else. It fills the folder from the running store.',
  },
  'dry-run': {
    type: 'boolean',
    summary:
      'List the packages that would be adopted, that are missing, and that must be fetched online; change nothing.',
  },
  compare: {
    type: 'boolean',
    summary: 'List the channels that differ from the former store; change nothing.',
  },
  release: {
    type: 'string',
    value: 'CHANNEL',
    summary: 'The channel for snaps if no file in the folder names one. Separate several with commas.',
    repeated: true,
  },
} as const;

type AdoptCall = CommandCall<typeof options, readonly [{ readonly name: 'folder'; readonly summary: string }]>;

export const transferAdopt = command({
  name: 'transfer adopt',
  summary:
    "Adopt a site's former store: its content in a folder becomes part of this store, with the same releases in " +
    'the channels.',
  description:
    'The former store, or official tools, have filled the folder with packages, their assertions and answers, ' +
    'images and exports. --script writes a script that fills it from a running store. The content is handled ' +
    'like a transfer: it is reviewed, accepted completely or not at all, with a receipt, and can be withdrawn. ' +
    "Import the signing key with 'larder key import'. Exit code 1 of --compare means that a channel differs.",
  positionals: [
    { name: 'folder', summary: 'The folder with the content. The user that owns the store must be able to read it.' },
  ],
  options,
  examples: [
    'larder transfer adopt ./former --dry-run',
    'larder transfer adopt ./former --script',
    'larder transfer adopt ./former --yes',
    'larder transfer adopt ./former --compare',
  ],
  confirm: {
    question: ({ options: { script, compare, 'dry-run': isDry } }) =>
      script || compare || isDry
        ? undefined
        : 'The content of the folder becomes part of the store, and its releases reach devices.',
    unattended: 'refused',
  },

  async run(call) {
    const { script, compare, 'dry-run': isDry } = call.options;
    if ([script, compare, isDry].filter(Boolean).length > 1)
      throw new UsageError('--script, --dry-run and --compare exclude each other; give one at a time');
    const folder = requireFolder(resolve(call.positionals.folder));
    if (script) return scriptIn(folder);
    return withStore(call, async (store) => {
      if (!isDry && !compare) {
        await forgetFormerStore(store);
        // Refuse before hours of reading.
        await refuseAdoption(store.records);
      }
      const scratch = join(store.directory, 'transfers', 'unpacked');
      try {
        const beginning = await withBlobs(store, ({ blobs }) => beginUnsigned({ ...store, blobs }));
        const now = isDry || compare ? store.now() : beginning.at;
        const folderContent = await gatherFolder(folder, { scratch, release: call.options.release, now }, call);
        if (isDry) return await previewAdoption(folderContent, store);
        if (compare) return await compareChannels(folderContent, { store, folder });
        return await adoptFolder(folderContent, { store, call, folder, beginning });
      } finally {
        rmSync(scratch, { recursive: true, force: true });
      }
    });
  },
});

async function scriptIn(folder: string): Promise<CommandResult> {
  const file = join(folder, 'fetch.sh');
  await withWriteErrors(file, () => {
    writeFileSync(file, fetchScript(), { flag: 'wx', mode: 0o755 });
  });
  return {
    text: `Type now, where the store that runs can be reached:\n  EVERYTHING=yes STORE=URL CHARMHUB=URL sh ${visible(file)} ${visible(folder)}`,
    json: { script: file },
  };
}

/**
 * Removes the source and the key that earlier releases created for an adoption: the source had unlimited trust, and its key is
 * in the data directory.
 */
async function forgetFormerStore({ directory, records, acts, person }: OpenStore): Promise<void> {
  const folder = join(directory, formerStoreFolder);
  if (!existsSync(folder)) return;
  const source = await records.transferSources.find(formerStoreName);
  if (source !== undefined) await acts.do(distrustSource, person, { name: formerStoreName });
  rmSync(folder, { recursive: true, force: true });
}

/** The snaps that devices would need and that are neither in the folder nor in this store. */
async function onlineNeeds({ needs }: GatheredFolder, { records }: OpenStore): Promise<GatheredFolder['needs']> {
  const lacking = [];
  for (const need of needs) if ((await records.packages.find('snap', need.name)) === undefined) lacking.push(need);
  return lacking;
}

async function previewAdoption(folderContent: GatheredFolder, store: OpenStore): Promise<CommandResult> {
  const answer = formatGathered(folderContent);
  const needs = await onlineNeeds(folderContent, store);
  const needLines = needs.map(
    ({ name, by: dependents }) => `  snap/${name}, which ${dependents.slice(0, 5).join(', ')} needs`,
  );
  const json = { ...(answer.json as object), 'needs-online': needs };
  return needs.length === 0
    ? { ...answer, json }
    : extendAnswer(answer, ['Needs a trip online:', ...needLines].join('\n'), json);
}

/** Reports the channels of this store that differ from the answers of the former store in the folder. */
async function compareChannels(
  { said: statedReleases }: GatheredFolder,
  { store: { records, now }, folder }: { store: OpenStore; folder: string },
): Promise<CommandResult> {
  if (statedReleases.length === 0) {
    throw new Failure(
      `nothing in ${folder} says what the channels of the former store hold, so there is nothing to compare. ` +
        'Fill the folder with the script that --script writes, or with the answers of the store to info and refresh',
    );
  }
  const differing = [];
  for (const [packageId, slots] of Map.groupBy(statedReleases, (release) => release.packageId)) {
    const held = await records.releases.current(packageId, now().toISOString());
    for (const { package: called, channel, slot, revision } of slots) {
      const current = held.find((release) => release.channel === channel && release.slot === slot)?.revision ?? null;
      if (current !== revision) differing.push({ package: called, channel, slot, there: revision, here: current });
    }
  }
  const lines = differing.map(
    (difference) =>
      `  ${difference.package} ${difference.channel} (${difference.slot}): ${String(difference.there)} there, ${String(difference.here ?? 'nothing')} here`,
  );
  return {
    text: [`Slots that differ: ${String(differing.length)} of ${String(statedReleases.length)}.`, ...lines].join('\n'),
    json: { slots: statedReleases.length, differing },
    exitCode: differing.length === 0 ? 0 : 1,
  };
}

interface AdoptionContext {
  store: OpenStore;
  call: AdoptCall;
  folder: string;
  beginning: UnsignedStart;
}

async function adoptFolder(
  folderContent: GatheredFolder,
  { store, call, folder, beginning }: AdoptionContext,
): Promise<CommandResult> {
  const parts = await unsignedParts(folderContent, folder, beginning);
  const received = { media: undefined, 'last-receipt': undefined, 'floor-lost': false, unsigned: true, adopted: true };
  const { id } = await receiveParts(store, { ...call, options: received }, parts);
  const accept = async (looked: TransferInspection): Promise<CommandResult> => {
    if (looked.plan.problems.length > 0) {
      return {
        text: `${renderReportText(buildPreviewReport(looked))}\nNothing was adopted.`,
        json: presentPreview(looked),
        exitCode: 1,
      };
    }
    const adopting = { ...looked, ...wholeTransfer, seen: looked.digest, isAdoption: true };
    const receipt = await acceptReceivedTransfer(await acceptanceContextOf(store), adopting, store.person);
    return extendAnswer(
      formatGathered(folderContent),
      `The store is adopted: ${formatCount(receipt.lines.length, 'change')}, as transfer ${id.slice(0, 12)}.`,
      { transfer: id, lines: receipt.lines, 'needs-online': await onlineNeeds(folderContent, store) },
    );
  };
  try {
    return await withTransferPreview(store, id, wholeTransfer, accept, true);
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'approval-required')) throw error;
    const next = `When it is approved, run 'larder transfer accept ${id.slice(0, 12)}'.`;
    throw new Refusal('approval-required', `${error.message} ${next}`);
  }
}
