// larder subscription add
import { formatCount } from '#domain/quantities.ts';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { subscribe } from '#acts/sites/subscriptions.ts';
import { Refusal } from '#domain/refusal.ts';
import {
  architectures,
  setNames,
  subscriptionsOfSet,
  type Architecture,
  type SubscriptionSet,
  type PackageSubscription,
} from '#domain/sites/subscription.ts';
import { subscriptionsOfBundle, subscriptionsOfModel } from '#transfers/request/subscriptions.ts';
import { command, Failure, UsageError, type CommandCall } from '../frame/command.ts';
import { toReadFailure } from '../frame/outside-files.ts';
import { withStore } from '../frame/store.ts';
import { parseChannelArguments } from '../releases/channel-arguments.ts';
import { hostArchitecture, parseSubscription, formatSubscription } from './subscription.ts';

const options = {
  channel: {
    type: 'string',
    value: 'CHANNEL',
    summary: 'The channel of the named packages. Default: latest/stable.',
    repeated: true,
  },
  architecture: {
    type: 'string',
    value: 'ARCH',
    choices: architectures,
    summary: 'The architectures. Default: the architecture of this host.',
    repeated: true,
  },
  set: { type: 'string', value: 'NAME', choices: setNames, summary: 'All packages of a set.', repeated: true },
  bundle: { type: 'string', value: 'FILE', summary: 'The charms of a bundle, from its YAML file.', repeated: true },
  model: { type: 'string', value: 'FILE', summary: 'The snaps of a model, from its assertion.', repeated: true },
} as const;

const positionals = [
  { name: 'packages', value: 'NAMESPACE/NAME', summary: 'Packages, such as snap/hello.', repeated: true },
] as const;

type AddCall = CommandCall<typeof options, typeof positionals>;

export const subscriptionAdd = command({
  name: 'subscription add',
  summary:
    'Subscribe to packages, so that every request asks for them: by name, or all packages of a set, a model or a ' +
    'bundle.',
  description:
    'The set juju holds the packages that juju bootstrap installs, builders the tools that build packages, ' +
    'ubuntu-core the parts of an image for a PC. Existing subscriptions are extended.',
  positionals,
  options,
  examples: [
    'larder subscription add --set juju',
    'larder subscription add snap/hello charm/postgresql-k8s --channel 14/stable --architecture arm64',
    'larder subscription add --model ./device.model --bundle ./bundle.yaml',
  ],

  run(call) {
    const { subscriptions, because } = readSubscriptions(call);
    return withStore(call, async ({ acts, person }) => {
      const changed = await acts.do(subscribe, person, {
        subscriptions,
        because: because.join('; ').slice(0, 1000) || null,
      });
      return {
        text:
          changed.length === 0
            ? 'Every one of them is subscribed to already.'
            : [
                `${formatCount(changed.length, 'package is', 'packages are')} subscribed to:`,
                ...changed.map((subscription) => `  ${formatSubscription(subscription)}`),
              ].join('\n'),
        json: { subscriptions: changed },
      };
    });
  },
});

function readSubscriptions({ positionals: { packages }, options: callOptions }: AddCall): {
  subscriptions: PackageSubscription[];
  because: string[];
} {
  const chosenArchitectures =
    callOptions.architecture.length === 0
      ? [hostArchitecture()]
      : (callOptions.architecture as readonly Architecture[]);
  const channels = parseChannelArguments(callOptions.channel).map((channel) => channel.name);
  if (packages.length === 0 && channels.length > 0)
    throw new UsageError('--channel is for packages that are named; name one');
  const subscriptions: PackageSubscription[] = packages.map((text) => ({
    ...parseSubscription(text),
    channels: channels.length === 0 ? ['latest/stable'] : channels,
    architectures: chosenArchitectures,
  }));
  const because: string[] = [];
  for (const name of callOptions.set as readonly SubscriptionSet[]) {
    subscriptions.push(...subscriptionsOfSet(name, chosenArchitectures));
    because.push(`set ${name}`);
  }
  for (const file of callOptions.bundle) {
    subscriptions.push(...inFile(file, (text) => subscriptionsOfBundle(text, chosenArchitectures)));
    because.push('bundle');
  }
  for (const file of callOptions.model) {
    const fromModel = inFile(file, subscriptionsOfModel);
    subscriptions.push(...fromModel.subscriptions);
    because.push(`model ${fromModel.model}`);
  }
  if (subscriptions.length === 0)
    throw new UsageError('nothing to subscribe to: name packages, or give --set, --bundle or --model');
  return { subscriptions, because };
}

/** Maximum size of a bundle or a model in bytes. */
const maxFileBytes = 1024 * 1024;

function inFile<Read>(file: string, read: (text: string) => Read): Read {
  let bytes: Buffer;
  try {
    bytes = readFileSync(resolve(file));
  } catch (error) {
    throw toReadFailure(file, error);
  }
  if (bytes.length > maxFileBytes) throw new Failure(`${file} is too large`);
  try {
    return read(bytes.toString('utf8'));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Failure(`${file} cannot be used. ${error.message}`, { cause: error });
  }
}
