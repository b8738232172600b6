// larder track set, larder track delete
import { deleteTrack, updateTrack } from '#acts/releases/tracks.ts';
import { presentTrack } from '#operations/packages/present.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Track } from '#records/releases/tracks.ts';
import { command, UsageError } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';
import { hasPlanOptions, planIn, rolloutOptions, stepsIn } from './rollout-options.ts';

const trackArgument = { name: 'track', summary: "The track, as 'larder track list' shows it." } as const;

export const trackSet = command({
  name: 'track set',
  summary: 'Change the version pattern of a track and its phasing, the share of devices that get a release first.',
  positionals: [packageArgument, trackArgument],
  options: {
    pattern: { type: 'string', value: 'PATTERN', summary: 'The pattern for versions of its revisions, or none.' },
    phasing: {
      type: 'string',
      value: 'STEPS',
      summary:
        "The steps of releases to the track: a percentage of devices to add each time, a list such as '1%, 10%, 50%, 100%', or none.",
    },
    ...rolloutOptions,
  },
  examples: [
    "larder track set snap/hello 2.0 --pattern '2\\.*' --phasing 10",
    'larder track set snap/hello 2.0 --phasing none',
  ],

  run({ positionals: { package: packageText, track }, options, data, world }) {
    const { pattern, phasing } = options;
    if (pattern === undefined && phasing === undefined) throw new UsageError('--pattern or --phasing is needed');
    if (pattern !== undefined && pattern.length > 256) throw new UsageError('--pattern has at most 256 characters');
    const changes = {
      ...(pattern !== undefined && { versionPattern: pattern === 'none' ? null : pattern }),
    };
    return withStore({ data, world }, async ({ records, acts, person }) => {
      const subject = await findPackage(records, packageText);
      const settings = { ...changes, ...phasingIn(subject, phasing, options) };
      const changed = await acts.do(updateTrack, person, { package: subject, track, changes: settings });
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

/** The phasing that the options state. Only snaps have steps; for other packages the percentage is a note for tools. */
function phasingIn(
  { namespace }: Pick<PublishedPackage, 'namespace'>,
  text: string | undefined,
  options: Parameters<typeof planIn>[1],
): Partial<Pick<Track, 'automaticPhasingPercentage' | 'rollout'>> {
  const steps = text === undefined || text === 'none' ? undefined : stepsIn(text, '--phasing');
  const [first = null] = steps ?? [];
  const isPercentage = steps?.length === 1 && !hasPlanOptions(options);
  const plan = isPercentage && namespace !== 'snap' ? undefined : planIn(steps, options, '--phasing');
  if (text === undefined) return {};
  return isPercentage
    ? { automaticPhasingPercentage: first, rollout: undefined }
    : { automaticPhasingPercentage: null, rollout: plan };
}
