// larder transfer adopt
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { trustSource } from '#acts/sites.ts';
import {
  isCollector,
  makeCollector,
  readCollector,
  scratchOf,
  signGathered,
  type Collector,
} from '#transfers/collector.ts';
import type { FoundInFolder } from '#transfers/gather/gather.ts';
import { lettingIn } from '#transfers/desk.ts';
import { letIn } from '#transfers/letting-in.ts';
import { present, reportOf } from '#transfers/report.ts';
import { fetchScript } from '#transfers/request/table.ts';
import { unwrittenIntent, unwrittenParts } from '#transfers/unwritten.ts';
import { command, UsageError, type Answer, type Call } from '../frame/command.ts';
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
      const collector = collectorOf(store);
      const found = await gathered(folder, { scratch: scratchOf(collector), release: call.options.release }, call);
      if (isDry) return dry(found, store);
      if (compare) return compared(found, store);
      return adopted(found, { store, collector, call, folder });
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

/** What signs what is adopted: a collector in the data directory, which this store believes and nobody else. */
function collectorOf({ directory }: OpenStore): Collector {
  const folder = join(directory, 'adopting');
  return isCollector(folder) ? readCollector(folder) : makeCollector(folder, 'former-store');
}

/** What devices would need, and is neither in the folder nor here. */
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

/** Where the channels here hold something else than the answers in the folder say. */
async function compared({ said }: FoundInFolder, { records, now }: OpenStore): Promise<Answer> {
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
  collector: Collector;
  call: AdoptCall;
  folder: string;
}

async function adopted(found: FoundInFolder, { store, collector, call, folder }: Adopting): Promise<Answer> {
  const { site } = collector;
  const known = await store.records.transferSources.find(site.name);
  if (known === undefined) {
    const source = { name: site.name, keys: [site.seed.publicKey], threshold: 1, packages: ['*/*'], mayRelease: true };
    await store.acts.do(trustSource, store.person, source);
  }
  const { transfer, content, remember } = await signGathered(found, unwrittenIntent, { collector, now: store.now() });
  remember();
  const { id } = await takenIn(
    store,
    { ...call, options: { media: undefined, 'last-receipt': undefined, 'floor-lost': false, unsigned: false } },
    unwrittenParts(transfer, content, folder),
  );
  const all = { only: [], without: [], 'as-channel': [] };
  return withSeen(store, id, all, async (looked) => {
    if (looked.plan.problems.length > 0) {
      return { text: `${textOf(reportOf(looked))}\nNothing came in.`, json: present(looked), exitCode: 1 };
    }
    const receipt = await letIn(await lettingIn(store), { ...looked, seen: looked.digest }, store.person);
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
  });
}
