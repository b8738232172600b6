// larder site trust, larder site distrust
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { followRotation } from '#transfers/follow-rotation.ts';
import { distrustSource, trustSource } from '#acts/sites/sites.ts';
import type { SiteIdentity } from '#contract/wire.ts';
import { isPackageGlob } from '#domain/packages/package-glob.ts';
import { areFingerprintsOf, fingerprintOf, parseIdentity, parseRotation } from '#transfers/site.ts';
import { command, Failure, UsageError, type CommandResult } from '../frame/command.ts';
import { toReadFailure } from '../frame/outside-files.ts';
import { withStore } from '../frame/store.ts';
import { formatStagedTransfers, listStagedTransfers } from './staged-transfers.ts';

export const siteTrust = command({
  name: 'site trust',
  summary: 'Trust the transfers of a source: with how many signatures, and for which packages.',
  description:
    "FILE is written by 'larder site show --export' at a site or a collector, or by 'larder site rotate' of a " +
    'source that is already trusted, which needs no fingerprint. Get the fingerprint by another way than the ' +
    'file: by telephone, or on paper. For a known source the command changes its settings; its highest accepted ' +
    'number stays.',
  positionals: [{ name: 'file', summary: 'The file with the keys of the source.' }],
  options: {
    fingerprint: {
      type: 'string',
      value: 'FINGERPRINT',
      summary: 'The fingerprint of each of its keys, as its administrators give it.',
      repeated: true,
    },
    threshold: {
      type: 'integer',
      value: 'N',
      minimum: 1,
      maximum: 16,
      summary: 'How many of its keys must sign a transfer. Default: as many as the file says.',
    },
    packages: {
      type: 'string',
      value: 'GLOB',
      summary: "The packages that it may send, such as 'snap/*'. Default: all.",
      repeated: true,
    },
    scanner: {
      type: 'string',
      value: 'FILE',
      summary:
        "A scanning station that must sign too: the file that 'site show --export' wrote there. Give its fingerprint " +
        'with the others.',
      repeated: true,
    },
    scans: {
      type: 'integer',
      value: 'N',
      minimum: 1,
      maximum: 16,
      summary: 'How many of the scanning stations must sign. Default: one.',
    },
    accept: {
      type: 'string',
      value: 'HOW',
      choices: ['people', 'automatic'],
      summary:
        'Accept its transfers manually, or automatically if they contain no new name, publisher or track, no ' +
        'downgrade and nothing else that the preview marks. Default: people.',
    },
    'no-releases': { type: 'boolean', summary: 'Accept only revisions from it, and leave the channels as they are.' },
  },
  examples: [
    'larder site trust ./depot-north.json --fingerprint 9f2c-11d0-3b7a-4e55-82aa-0c61-7d2e-f390',
    "larder site trust ./depot-north.json --fingerprint 9f2c-11d0-3b7a-4e55-82aa-0c61-7d2e-f390 --packages 'snap/*'",
  ],

  run: ({ positionals: { file }, options, data, world }) => {
    const text = textOf(resolve(file));
    const rotation = parseRotation(text);
    if (rotation !== undefined) return applyRotation(rotation, { data, world });
    const identity = identityIn(resolve(file), text);
    const scanners = options.scanner.flatMap(
      (scannerFile) => identityIn(resolve(scannerFile), textOf(resolve(scannerFile))).keys,
    );
    refuseOtherKeys({ keys: [...identity.keys, ...scanners] }, options.fingerprint);
    const wrong = options.packages.find((glob) => !isPackageGlob(glob));
    if (wrong !== undefined) throw new UsageError(`'${wrong}' is not a glob of packages; write it as 'snap/*'`);
    const { site: name, keys } = identity;
    const source = {
      name,
      keys,
      threshold: options.threshold ?? identity.threshold,
      packages: options.packages.length === 0 ? ['*/*'] : [...options.packages],
      mayRelease: !options['no-releases'],
      accept: options.accept === 'automatic' ? ('automatic' as const) : ('people' as const),
      scanners,
      scans: scanners.length === 0 ? 0 : (options.scans ?? 1),
    };
    return withStore({ data, world }, async (store) => {
      await store.acts.do(trustSource, store.person, source);
      const waiting = await listStagedTransfers(name, store);
      const signatures = source.threshold === 1 ? 'one of its keys' : `${String(source.threshold)} of its keys`;
      const scans = source.scans === 0 ? '' : ` and ${String(source.scans)} of the scanning stations`;
      return {
        text: [
          `Transfers of ${name} are trusted if ${signatures}${scans} signed them. It may send ${source.packages.join(', ')}${source.accept === 'automatic' ? '; its transfers are accepted automatically' : ''}.`,
          ...formatStagedTransfers(waiting),
        ].join('\n'),
        json: { ...source, fingerprints: fingerprintOf(keys), waiting },
      };
    });
  },
});

/** Replaces the keys of a source by new keys that the old ones have signed. */
const applyRotation = (
  signed: NonNullable<ReturnType<typeof parseRotation>>,
  { data, world }: Parameters<typeof withStore>[0],
): Promise<CommandResult> =>
  withStore({ data, world }, async (store) => {
    const { site: name, keys, threshold, rotation } = signed.rotation;
    await followRotation(store, store.person, signed);
    const waiting = await listStagedTransfers(name, store);
    return {
      text: [
        `The keys of ${name} are ${fingerprintOf(keys).join(', ')} from now on; the earlier keys have signed the change.`,
        ...formatStagedTransfers(waiting),
      ].join('\n'),
      json: { name, rotation, threshold, fingerprints: fingerprintOf(keys), waiting },
    };
  });

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw toReadFailure(file, error);
  }
}

function identityIn(file: string, text: string): SiteIdentity {
  const identity = parseIdentity(text);
  if (!('problem' in identity)) return identity;
  const because = identity.problem === undefined ? '' : `: ${identity.problem}`;
  throw new Failure(`${file} is not what 'larder site show --export' writes${because}`);
}

/** Requires the typed fingerprints to be exactly the keys in the file. */
function refuseOtherKeys({ keys }: Pick<SiteIdentity, 'keys'>, typed: readonly string[]): void {
  const own = fingerprintOf(keys);
  if (typed.length === 0) {
    throw new UsageError(
      `give --fingerprint with the fingerprint that the administrators of the source told you; the file says ${own.join(' and ')}`,
    );
  }
  if (!areFingerprintsOf(keys, typed)) {
    throw new Failure(
      `the keys in the file have the fingerprints ${own.join(', ')}, which differ from the ones that you typed; ask the administrators of the source again`,
      {
        code: 'other-keys',
      },
    );
  }
}

export const siteDistrust = command({
  name: 'site distrust',
  summary: 'Stop trusting a source. Accepted transfers of it stay.',
  positionals: [{ name: 'name', summary: 'The name of the source.' }],
  examples: ['larder site distrust depot-north --yes'],
  confirm: {
    question: ({ positionals: { name } }) => `Transfers of ${name} will be refused.`,
    unattended: 'refused',
  },

  run: ({ positionals: { name }, data, world }) =>
    withStore({ data, world }, async (store) => {
      await store.acts.do(distrustSource, store.person, { name });
      const waiting = await listStagedTransfers(name, store);
      const text = [`Transfers of ${name} are no longer trusted.`, ...formatStagedTransfers(waiting)].join('\n');
      return { text, json: { name, waiting } };
    }),
});
