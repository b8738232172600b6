// larder closure
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import type { UnmetNeed } from '#domain/transfers/closure.ts';
import { setNames, subscriptionsOfSet, type SubscriptionSet } from '#domain/sites/subscription.ts';
import type { StoreRecords } from '#records/index.ts';
import { missingHere, type RequiredPackage } from '#transfers/dependencies.ts';
import { subscriptionsOfModel } from '#transfers/request/subscriptions.ts';
import { command, type CommandCall } from '../frame/command.ts';
import { toReadFailure } from '../frame/outside-files.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { hostArchitecture } from './subscription.ts';

const options = {
  model: { type: 'string', value: 'FILE', summary: 'Check also the needs of devices of this model.', repeated: true },
  set: {
    type: 'string',
    value: 'NAME',
    choices: setNames,
    summary: 'Check also the packages of a set.',
    repeated: true,
  },
} as const;

export const closure = command({
  name: 'closure',
  summary:
    'List packages that releases or subscriptions need and that are missing here: bases, snapd, providers, ' +
    'resources.',
  description:
    'For snaps it checks the base, snapd and the content providers, for each architecture; for models the ' +
    'gadget, the kernel and all other snaps; for charms resources without a revision; for bundles their charms; ' +
    'for subscriptions each track. Each missing package is listed with the subscription that requests it. Exit ' +
    'code 1 means that something is missing.',
  options,
  examples: ['larder closure', 'larder closure --set juju --json', 'larder closure --model ./device.model'],

  run: (call) => {
    const requested = readRequested(call);
    return withStore(call, async ({ records }) => {
      const subscribed = await subscriptionsIn(records);
      const required = [...requested, ...subscribed];
      const missing = await missingHere(records, { snaps: true, charms: true, required });
      const mends = new Map(missing.map((item) => [item, remedyFor(item, subscribed)]));
      return {
        text: inText(missing, mends),
        json: { missing: missing.map((item) => inJson(item, mends.get(item) ?? null)) },
        exitCode: missing.length === 0 ? 0 : 1,
      };
    });
  },
});

function readRequested({ options: callOptions }: CommandCall<typeof options>): RequiredPackage[] {
  const sets = (callOptions.set as readonly SubscriptionSet[]).flatMap((name) =>
    subscriptionsOfSet(name, [hostArchitecture()]).map((subscription) => ({ ...subscription, origin: `set ${name}` })),
  );
  const models = callOptions.model.flatMap((file) => {
    let text: string;
    try {
      text = readFileSync(resolve(file), 'utf8');
    } catch (error) {
      throw toReadFailure(file, error);
    }
    const { model, subscriptions } = subscriptionsOfModel(text);
    return subscriptions.map((subscription) => ({ ...subscription, origin: `model ${model}` }));
  });
  return [...sets, ...models];
}

const pageSize = 500;

async function subscriptionsIn({ subscriptions }: Pick<StoreRecords, 'subscriptions'>): Promise<RequiredPackage[]> {
  const all: RequiredPackage[] = [];
  for (let [namespace, name] = ['', '']; ;) {
    const page = await subscriptions.after(namespace, name, pageSize);
    all.push(...page.map((subscription) => ({ ...subscription, origin: subscription.because ?? 'a subscription' })));
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return all;
    ({ namespace, name } = last);
  }
}

/** A subscription that makes the next request ask for the missing package. */
interface ProposedSubscription {
  namespace: 'charm' | 'snap';
  name: string;
  channel: string;
  architecture: string;
}

function proposedFor({ kind, name, architecture, track = 'latest' }: UnmetNeed): ProposedSubscription {
  const namespace = kind === 'resource' || kind === 'charm of a bundle' ? 'charm' : 'snap';
  return { namespace, name: name.split(':')[0] ?? '', channel: `${track}/stable`, architecture };
}

const commandFor = ({ namespace, name, channel, architecture }: ProposedSubscription): string =>
  `larder subscription add ${namespace}/${name}${channel === 'latest/stable' ? '' : ` --channel ${channel}`}` +
  (architecture === 'all' ? '' : ` --architecture ${architecture}`);

/** Whether a subscription already asks for it. */
const isAskedFor = (
  { namespace, name, channel, architecture }: ProposedSubscription,
  subscribed: readonly RequiredPackage[],
): boolean =>
  subscribed.some(
    (subscription) =>
      subscription.namespace === namespace &&
      subscription.name === name &&
      subscription.channels.includes(channel) &&
      (architecture === 'all' || subscription.architectures.some((some) => some === architecture)),
  );

/** The command that adds the subscription; null if the next request already asks for the package. */
function remedyFor(missing: UnmetNeed, subscribed: readonly RequiredPackage[]): string | null {
  const proposed = proposedFor(missing);
  return missing.kind === 'wish' || isAskedFor(proposed, subscribed) ? null : commandFor(proposed);
}

const inJson = ({ neededBy: dependents, ...rest }: UnmetNeed, remedy: string | null) => ({
  ...rest,
  'needed-by': dependents,
  wish: remedy,
});

/** Maximum number of dependents that a row lists. */
const maxDependents = 3;

function inText(missing: readonly UnmetNeed[], mended: ReadonlyMap<UnmetNeed, string | null>): string {
  if (missing.length === 0) return 'Releases and subscriptions have everything that they need.';
  const rows = missing.map(({ kind, name, architecture, track, neededBy: dependents }) => [
    ...[name, kind, track ?? '-', architecture],
    dependents.length > maxDependents
      ? `${dependents.slice(0, maxDependents).join(', ')} and ${dependents.length - maxDependents} more`
      : dependents.join(', '),
  ]);
  const mends = [...new Set(mended.values())].filter((remedy) => remedy !== null);
  return [
    table(['MISSING', 'KIND', 'TRACK', 'ARCHITECTURE', 'NEEDED BY'], rows),
    '',
    ...(mends.length === 0 ? [] : ['To subscribe to the missing packages:', ...mends.map((remedy) => `  ${remedy}`)]),
    "'larder transfer request' requests all of them; 'larder package import' imports snaps.",
  ].join('\n');
}
