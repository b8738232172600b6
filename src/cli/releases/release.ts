// larder release
import { pushReleases } from '#acts/releases/releases.ts';
import { everyDevice, readProgress } from '#domain/releases/channel-map.ts';
import { command, UsageError } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';
import { revisionArgument, revisionNumber } from '../revisions/revision-argument.ts';
import { parseChannelArguments } from './channel-arguments.ts';
import { planIn, rolloutOptions, stepsIn } from './rollout-options.ts';

export const release = command({
  name: 'release',
  summary: 'Release a revision of a package to channels: to all of them, or to none.',
  description:
    'The resources of a charm stay the same as before in the channel. At the first release, name them with ' +
    "--resource. 'larder status PACKAGE' shows the channels. " +
    'With --steps, the store raises the percentage of devices step by step, and pauses when too many fail.',
  positionals: [
    packageArgument,
    revisionArgument,
    {
      name: 'channels',
      value: 'CHANNEL',
      summary: 'Channels to release to, separated by spaces or commas, such as edge, 2.0/stable or latest/edge/fix.',
      repeated: true,
    },
  ],
  options: {
    progressive: {
      type: 'integer',
      value: 'PERCENT',
      minimum: 1,
      maximum: 100,
      summary: 'The percentage of devices that get the revision. The other devices keep their revision.',
    },
    steps: {
      type: 'string',
      value: 'STEPS',
      summary: "Roll out in steps: a percentage to add each time, such as 10%, or a list such as '1%, 10%, 50%, 100%'.",
    },
    ...rolloutOptions,
    resource: {
      type: 'string',
      value: 'NAME:REVISION',
      summary: 'A resource to release with it; revision 0 means no resource.',
      repeated: true,
    },
  },
  examples: [
    'larder release snap/hello 7 stable',
    'larder release snap/hello 7 candidate,beta --progressive 20',
    'larder release snap/hello 7 stable --steps 10% --every 6h',
  ],

  run({ positionals, options, data, world }) {
    const revision = revisionNumber(positionals.revision);
    const channels = parseChannelArguments(positionals.channels);
    if (channels.length === 0) throw new UsageError('a channel is needed, such as edge');
    const resources = options.resource.map(resourceNamed);
    const { progressive: percentage, steps } = options;
    const progressive = readProgress({ percentage: percentage ?? null });
    const plan = planIn(steps === undefined ? undefined : stepsIn(steps, '--steps'), options, '--steps');
    if (plan !== undefined && percentage !== undefined)
      throw new UsageError('--progressive and --steps exclude each other');
    const rollout = plan ?? (percentage === undefined ? undefined : null);
    return withStore({ data, world }, async ({ records, acts, actor }) => {
      const subject = await findPackage(records, positionals.package);
      const releases = channels.map((channel) => ({ channel, revision, progressive, rollout, resources }));
      const released = await acts.do(pushReleases, { actor }, { package: subject, releases });
      const object = `${subject.namespace}/${subject.name}`;
      const share = progressive.percentage === null ? '' : ` for ${String(progressive.percentage)} % of the devices`;
      const started = released.flatMap(({ rollout }) => rollout ?? []);
      const steps = started.length === 0 ? '' : ` It reaches more devices in steps: rollout ${started.join(', ')}.`;
      return {
        text: `Revision ${String(revision)} of ${object} is released to ${released.map(({ channel }) => channel).join(', ')}${share}.${steps}`,
        json: { package: object, progressive, released },
      };
    });
  },
});

function resourceNamed(text: string): { name: string; revision: number } {
  const [, name, revision] = /^([^:]+):(0|[1-9]\d{0,8})$/.exec(text) ?? [];
  if (name !== undefined) return { name, revision: Number(revision) };
  throw new UsageError(`'${text}' is not a resource and its revision; write it as config:2`);
}

export const close = command({
  name: 'close',
  summary: 'Close channels of a package. Devices that follow one get the revision of the next safer channel.',
  positionals: [
    packageArgument,
    { name: 'channels', value: 'CHANNEL', summary: 'Channels to close, such as edge or 2.0/beta.', repeated: true },
  ],
  examples: ['larder close snap/hello edge', 'larder close snap/hello 2.0/beta 2.0/edge --yes'],
  confirm: {
    question: ({ positionals }) =>
      `Close ${parseChannelArguments(positionals.channels)
        .map(({ name }) => name)
        .join(', ')} of ${positionals.package}? Devices on them continue with the next safer channel.`,
    unattended: 'goes on',
  },

  run({ positionals, data, world }) {
    const channels = parseChannelArguments(positionals.channels);
    if (channels.length === 0) throw new UsageError('a channel is needed, such as edge');
    return withStore({ data, world }, async ({ records, acts, actor }) => {
      const subject = await findPackage(records, positionals.package);
      const releases = channels.map((channel) => ({
        channel,
        revision: null,
        progressive: everyDevice,
        resources: [],
      }));
      const closed = await acts.do(pushReleases, { actor }, { package: subject, releases });
      const object = `${subject.namespace}/${subject.name}`;
      const names = closed.map(({ channel }) => channel);
      return { text: `Closed ${names.join(', ')} of ${object}.`, json: { package: object, closed: names } };
    });
  },
});
