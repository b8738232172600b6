// larder closure
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import type { Missing } from '#domain/closure.ts';
import { setNames, wishesOfSet, type SubscriptionSet } from '#domain/subscription.ts';
import type { Records } from '#records/index.ts';
import { missingHere, type WishedFor } from '#transfers/closure.ts';
import { wishesOfModel } from '#transfers/request/wishes.ts';
import { command, type Call } from '../frame/command.ts';
import { cannotRead } from '../frame/outside.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { architectureHere } from '../subscription/wish.ts';

const options = {
  model: { type: 'string', value: 'FILE', summary: 'Look also for what devices of this model need.', repeated: true },
  set: {
    type: 'string',
    value: 'NAME',
    choices: setNames,
    summary: 'Look also for the packages of a set.',
    repeated: true,
  },
} as const;

export const closure = command({
  name: 'closure',
  summary: 'Name what is missing here for what is released or wished for: bases, snapd, providers, resources.',
  description:
    'Of snaps it looks for their base, snapd and the snaps that share content with them, for each architecture; of models ' +
    'for gadget, kernel and what else they name; of charms for resources without a revision, of bundles for their charms; of ' +
    'subscriptions for each track. Beside each stands the wish that mends it. Exit code 1 means that something is missing.',
  options,
  examples: ['larder closure', 'larder closure --set juju --json', 'larder closure --model ./device.model'],

  run: (call) => {
    const named = wishesNamed(call);
    return withStore(call, async ({ records }) => {
      const subscribed = await subscriptionsIn(records);
      const wishes = [...named, ...subscribed];
      const missing = await missingHere(records, { snaps: true, charms: true, wishes });
      const mends = new Map(missing.map((one) => [one, mendOf(one, subscribed)]));
      return {
        text: inText(missing, mends),
        json: { missing: missing.map((one) => inJson(one, mends.get(one) ?? null)) },
        exitCode: missing.length === 0 ? 0 : 1,
      };
    });
  },
});

function wishesNamed({ options: given }: Call<typeof options>): WishedFor[] {
  const sets = (given.set as readonly SubscriptionSet[]).flatMap((name) =>
    wishesOfSet(name, [architectureHere()]).map((one) => ({ ...one, by: `set ${name}` })),
  );
  const models = given.model.flatMap((file) => {
    let text: string;
    try {
      text = readFileSync(resolve(file), 'utf8');
    } catch (error) {
      throw cannotRead(file, error);
    }
    const { model, wishes } = wishesOfModel(text);
    return wishes.map((one) => ({ ...one, by: `model ${model}` }));
  });
  return [...sets, ...models];
}

const pageSize = 500;

async function subscriptionsIn({ subscriptions }: Pick<Records, 'subscriptions'>): Promise<WishedFor[]> {
  const all: WishedFor[] = [];
  for (let [namespace, name] = ['', '']; ;) {
    const page = await subscriptions.after(namespace, name, pageSize);
    all.push(...page.map((one) => ({ ...one, by: one.because ?? 'a subscription' })));
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return all;
    ({ namespace, name } = last);
  }
}

/** A subscription that makes the next request ask for the missing package. */
interface Proposed {
  namespace: 'charm' | 'snap';
  name: string;
  channel: string;
  architecture: string;
}

function proposedFor({ kind, name, architecture, track = 'latest' }: Missing): Proposed {
  const namespace = kind === 'resource' || kind === 'charm of a bundle' ? 'charm' : 'snap';
  return { namespace, name: name.split(':')[0] ?? '', channel: `${track}/stable`, architecture };
}

const commandFor = ({ namespace, name, channel, architecture }: Proposed): string =>
  `larder subscription add ${namespace}/${name}${channel === 'latest/stable' ? '' : ` --channel ${channel}`}` +
  (architecture === 'all' ? '' : ` --architecture ${architecture}`);

/** Whether a subscription already asks for it. */
const isAskedFor = ({ namespace, name, channel, architecture }: Proposed, subscribed: readonly WishedFor[]): boolean =>
  subscribed.some(
    (one) =>
      one.namespace === namespace &&
      one.name === name &&
      one.channels.includes(channel) &&
      (architecture === 'all' || one.architectures.some((some) => some === architecture)),
  );

/** The command that adds the subscription; null if the next request already asks for the package. */
function mendOf(missing: Missing, subscribed: readonly WishedFor[]): string | null {
  const proposed = proposedFor(missing);
  return missing.kind === 'wish' || isAskedFor(proposed, subscribed) ? null : commandFor(proposed);
}

const inJson = ({ by, ...what }: Missing, wish: string | null) => ({ ...what, 'needed-by': by, wish });

/** Maximum number of dependents that a row lists. */
const most = 3;

function inText(missing: readonly Missing[], mended: ReadonlyMap<Missing, string | null>): string {
  if (missing.length === 0) return 'Nothing is missing for what is released or wished for here.';
  const rows = missing.map(({ kind, name, architecture, track, by }) => [
    ...[name, kind, track ?? '-', architecture],
    by.length > most ? `${by.slice(0, most).join(', ')} and ${by.length - most} more` : by.join(', '),
  ]);
  const mends = [...new Set(mended.values())].filter((one) => one !== null);
  return [
    table(['MISSING', 'KIND', 'TRACK', 'ARCHITECTURE', 'NEEDED BY'], rows),
    '',
    ...(mends.length === 0 ? [] : ['To wish for it until it is here:', ...mends.map((one) => `  ${one}`)]),
    "'larder transfer request' asks for all of it; 'larder package import' carries snaps in.",
  ].join('\n');
}
