// larder transfer adopt
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { distrustSource } from '#acts/sites.ts';
import { refuseAdoption } from '#acts/source-trust.ts';
import { withBlobs } from '#data/blobs.ts';
import { Refusal } from '#domain/refusal.ts';
import type { FoundInFolder } from '#transfers/gather/gather.ts';
import { lettingIn } from '#transfers/desk.ts';
import { formerStoreFolder, formerStoreName } from '#transfers/former-store.ts';
import { letIn, type Narrowing } from '#transfers/letting-in.ts';
import type { Seen } from '#transfers/look.ts';
import { present, reportOf } from '#transfers/report.ts';
import { fetchScript } from '#transfers/request/table.ts';
import { beginUnsigned, unsignedParts, type Beginning } from '#transfers/unsigned.ts';
import { command, Failure, UsageError, type Answer, type Call } from '../frame/command.ts';
import { writing } from '../frame/outside.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { visible } from '../frame/terminal.ts';
import { answerOf, folderAt, gathered } from './gather.ts';
import { withSeen } from './looking.ts';
import { takenIn } from './receive.ts';
import { textOf } from './report.ts';

const options = {
  script: {
    type: 'boolean',
    summary: 'Write fetch.sh into the folder, which fills it from the store that runs, and nothing else.',
  },
  'dry-run': {
    type: 'boolean',
    summary: 'Say what would come in, what is missing, and what needs a trip online; change nothing.',
  },
  compare: {
    type: 'boolean',
    summary: 'Say where the channels here hold something else than the store did; change nothing.',
  },
  release: {
    type: 'string',
    value: 'CHANNEL',
    summary:
      'Where snaps are released of which nothing in the folder names a channel; commas may stand between several.',
    repeated: true,
  },
} as const;

type AdoptCall = Call<typeof options, readonly [{ readonly name: 'folder'; readonly summary: string }]>;

export const transferAdopt = command({
  name: 'transfer adopt',
  summary:
    "Take over a site's former store: all that lies in a folder comes in here, and its channels hold what they held there.",
  description:
    'The folder is one that the former store, or official tools, have filled: its packages, the assertions and answers beside them, ' +
    'images, exports. --script writes what fills it from a store that still runs. Everything goes the way of a transfer: it is reviewed, ' +
    'let in as a whole or not at all, with a receipt, and can be put back. The signing key comes by key import. Exit code 1 of --compare ' +
    'says that something differs.',
  positionals: [{ name: 'folder', summary: 'The folder in which all of it lies, readable by whoever owns the store.' }],
  options,
  examples: [
    'larder transfer adopt ./former --dry-run',
    'larder transfer adopt ./former --script',
    'larder transfer adopt ./former --yes',
    'larder transfer adopt ./former --compare',
  ],
  confirm: {
    question: ({ options: { script, compare, 'dry-run': isDry } }) =>
      script || compare || isDry ? undefined : 'What lies in the folder comes in, and its releases reach devices.',
    unattended: 'refused',
  },

  async run(call) {
    const { script, compare, 'dry-run': isDry } = call.options;
    if ([script, compare, isDry].filter(Boolean).length > 1)
      throw new UsageError('--script, --dry-run and --compare are three things; type one at a time');
    const folder = folderAt(resolve(call.positionals.folder));
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
        const found = await gathered(folder, { scratch, release: call.options.release, now }, call);
        if (isDry) return await dry(found, store);
        if (compare) return await compared(found, { store, folder });
        return await adopted(found, { store, call, folder, beginning });
      } finally {
        rmSync(scratch, { recursive: true, force: true });
      }
    });
  },
});

async function scriptIn(folder: string): Promise<Answer> {
  const file = join(folder, 'fetch.sh');
  await writing(file, () => {
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
async function onlineNeeds({ needs }: FoundInFolder, { records }: OpenStore): Promise<FoundInFolder['needs']> {
  const lacking = [];
  for (const one of needs) if ((await records.packages.find('snap', one.name)) === undefined) lacking.push(one);
  return lacking;
}

async function dry(found: FoundInFolder, store: OpenStore): Promise<Answer> {
  const { text, json } = answerOf(found);
  const needs = await onlineNeeds(found, store);
  const told = needs.map(({ name, by }) => `  snap/${name}, which ${by.slice(0, 5).join(', ')} needs`);
  return {
    text: [text, ...(needs.length === 0 ? [] : ['Needs a trip online:', ...told])].join('\n'),
    json: { ...(json as object), 'needs-online': needs },
  };
}

/** Reports the channels of this store that differ from the answers of the former store in the folder. */
async function compared(
  { said }: FoundInFolder,
  { store: { records, now }, folder }: { store: OpenStore; folder: string },
): Promise<Answer> {
  if (said.length === 0) {
    throw new Failure(
      `nothing in ${folder} says what the channels of the former store hold, so there is nothing to compare. ` +
        'Fill the folder with the script that --script writes, or with the answers of the store to info and refresh',
    );
  }
  const differing = [];
  for (const [packageId, slots] of Map.groupBy(said, (one) => one.packageId)) {
    const held = await records.releases.current(packageId, now().toISOString());
    for (const { package: called, channel, slot, revision } of slots) {
      const here = held.find((one) => one.channel === channel && one.slot === slot)?.revision ?? null;
      if (here !== revision) differing.push({ package: called, channel, slot, there: revision, here });
    }
  }
  const lines = differing.map(
    (one) =>
      `  ${one.package} ${one.channel} (${one.slot}): ${String(one.there)} there, ${String(one.here ?? 'nothing')} here`,
  );
  return {
    text: [`${String(differing.length)} of ${String(said.length)} slots differ.`, ...lines].join('\n'),
    json: { slots: said.length, differing },
    exitCode: differing.length === 0 ? 0 : 1,
  };
}

interface Adopting {
  store: OpenStore;
  call: AdoptCall;
  folder: string;
  beginning: Beginning;
}

async function adopted(found: FoundInFolder, { store, call, folder, beginning }: Adopting): Promise<Answer> {
  const parts = await unsignedParts(found, folder, beginning);
  const received = { media: undefined, 'last-receipt': undefined, 'floor-lost': false, unsigned: true, adopted: true };
  const { id } = await takenIn(store, { ...call, options: received }, parts);
  const all = { only: [], without: [], 'as-channel': [] };
  const accept = async (looked: Seen & { narrowed: Narrowing }): Promise<Answer> => {
    if (looked.plan.problems.length > 0) {
      return { text: `${textOf(reportOf(looked))}\nNothing came in.`, json: present(looked), exitCode: 1 };
    }
    const adopting = { ...looked, seen: looked.digest, isAdoption: true };
    const receipt = await letIn(await lettingIn(store), adopting, store.person);
    const said = answerOf(found);
    return {
      text: `${said.text}\nAll of it is here: ${String(receipt.lines.length)} changes, as transfer ${id.slice(0, 12)}.`,
      json: {
        ...(said.json as object),
        transfer: id,
        lines: receipt.lines,
        'needs-online': await onlineNeeds(found, store),
      },
    };
  };
  try {
    return await withSeen(store, id, all, accept, true);
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'approval-required')) throw error;
    const next = `Once it is approved, type 'larder transfer accept ${id.slice(0, 12)}'.`;
    throw new Refusal('approval-required', `${error.message} ${next}`);
  }
}
