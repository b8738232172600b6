// larder track set, larder track delete
import { deleteTrack, updateTrack } from '#acts/releases/tracks.ts';
import { presentTrack } from '#operations/packages/present.ts';
import { command, UsageError } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';

const trackArgument = { name: 'track', summary: "The track, as 'larder track list' shows it." } as const;

export const trackSet = command({
  name: 'track set',
  summary: 'Change the version pattern of a track and its phasing, the share of devices that get a release first.',
  positionals: [packageArgument, trackArgument],
  options: {
    pattern: { type: 'string', value: 'PATTERN', summary: 'The pattern for versions of its revisions, or none.' },
    phasing: {
      type: 'string',
      value: 'PERCENT',
      summary: 'The percentage of devices that get a release first, from 0 to 100, or none.',
    },
  },
  examples: [
    "larder track set snap/hello 2.0 --pattern '2\\.*' --phasing 10",
    'larder track set snap/hello 2.0 --phasing none',
  ],

  run({ positionals: { package: packageText, track }, options: { pattern, phasing }, data, world }) {
    if (pattern === undefined && phasing === undefined) throw new UsageError('--pattern or --phasing is needed');
    if (pattern !== undefined && pattern.length > 256) throw new UsageError('--pattern has at most 256 characters');
    const changes = {
      ...(pattern !== undefined && { versionPattern: pattern === 'none' ? null : pattern }),
      ...(phasing !== undefined && { automaticPhasingPercentage: percentage(phasing) }),
    };
    return withStore({ data, world }, async ({ records, acts, person }) => {
      const subject = await findPackage(records, packageText);
      const changed = await acts.do(updateTrack, person, { package: subject, track, changes });
      return { text: `The track ${track} of ${packageText} is changed.`, json: presentTrack(changed) };
    });
  },
});

export const trackDelete = command({
  name: 'track delete',
  summary: 'Delete a track without releases in its channels and branches.',
  positionals: [packageArgument, trackArgument],
  examples: ['larder track delete snap/hello 2.0'],
  confirm: {
    question: ({ positionals: { package: packageText, track } }) => `Delete the track ${track} of ${packageText}?`,
    unattended: 'goes on',
  },

  run: ({ positionals: { package: packageText, track }, data, world }) =>
    withStore({ data, world }, async ({ records, acts, person }) => {
      const subject = await findPackage(records, packageText);
      await acts.do(deleteTrack, person, { package: subject, track });
      return { text: `${packageText} has no track ${track} any more.`, json: { name: track } };
    }),
});

function percentage(text: string): number | null {
  if (text === 'none') return null;
  if (/^\d{1,3}(?:\.\d{1,3})?$/.test(text) && Number(text) <= 100) return Number(text);
  throw new UsageError(`--phasing is a number from 0 to 100, or none, not '${text}'`);
}
