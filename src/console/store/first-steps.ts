// The first steps of an administrator after 'larder init', and of a publisher. Each is done when the records say so.
import { storeAdministrator } from '#access/access-rules.ts';
import { timestamp } from '#domain/clock.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import { html, type Html, type HtmlContent } from '#http/pages/html.ts';
import type { Services } from '#http/services.ts';
import { stepper } from '../parts/tiles.ts';
import { formatCount } from '../parts/values.ts';
import { screen } from '../screen.ts';

export interface FirstStep {
  words: string;
  isDone: boolean;
  /** How to do it. */
  how: HtmlContent;
}

interface FirstStepsInput extends Pick<Services, 'records' | 'config' | 'now'> {
  principal: Principal;
}

const setUpAddress = '/console/set-up';

export const consoleSetUp = screen({
  name: 'console_set_up',
  path: setUpAddress,
  summary: 'Show the first steps of a new store, and which of them are done.',
  access: storeAdministrator('store-view'),
  query: 'ConsolePageQuery',

  async show(call) {
    const steps = await readStoreSteps(call);
    return { title: 'Set up this store', lead: answer(steps), content: renderSteps(steps) };
  },
});

const answer = (steps: readonly FirstStep[]): string => {
  const left = steps.filter(({ isDone }) => !isDone).length;
  return left === 0
    ? 'All steps are done. The store is ready.'
    : `${formatCount(left, 'step')} ${left === 1 ? 'is' : 'are'} left. Each ticks itself when it is done.`;
};

async function readStoreSteps({ records, config, principal }: FirstStepsInput): Promise<FirstStep[]> {
  const people = await records.people.page('', '', 2);
  const { packages } = await records.packageSearch.page(allPackages, { namespace: '', name: '' }, 1);
  const devices = await records.seenDevices.list(['', '', ''], '9999', 1);
  return [
    { words: 'Choose a password', isDone: true, how: '' },
    {
      words: 'Turn on one-time passwords',
      isDone: (await records.totpSecrets.find(principal.accountId)) !== undefined,
      how: html`<a href="/console/myself/one-time-passwords">Scan the code</a> with the authenticator on your phone.`,
    },
    {
      words: 'Invite the first publisher',
      isDone: people.length > 1,
      how: html`Create an account under <a href="/console/people">Users and tokens</a>, and send the link to its owner.`,
    },
    {
      words: 'Get the first package',
      isDone: packages.length > 0,
      how: html`A publisher registers and pushes it, as the <a href="/docs/publisher">guide for publishers</a> says. Or
        receive a transfer, or import one with <code>larder package import</code>.`,
    },
    {
      words: 'Point a device here',
      isDone: devices.length > 0,
      how: html`The <a href="/docs/devices">guide for devices</a> has the
        lines.${config.devices.snap && config.devices.remember ? '' : html` The store counts devices if <code>snap</code> and <code>remember</code> are on under <code>[devices]</code>.`}`,
    },
  ];
}

const allPackages = { of: null, namespace: null, text: '' } as const;

/** The steps for the overview, while the store has no second account or no package. */
export async function renderStoreSteps(input: FirstStepsInput): Promise<Html | undefined> {
  const steps = await readStoreSteps(input);
  const [, , publisher, firstPackage] = steps;
  if (publisher?.isDone === true && firstPackage?.isDone === true) return undefined;
  return html`<section class="panel">
    <h2>Set up this store</h2>
    ${renderStepper(steps)}
    <p><a class="button" href="${setUpAddress}">Continue</a></p>
  </section>`;
}

/** The steps of a publisher to the first release. */
export async function readPublisherSteps({ records, config, principal, now }: FirstStepsInput): Promise<FirstStep[]> {
  const own = { ...allPackages, of: principal.accountId };
  const { packages } = await records.packageSearch.page(own, { namespace: '', name: '' }, 20);
  const asOwner = { accountId: principal.accountId, includeInactive: false, now: timestamp(now()), before: undefined };
  const macaroons = await records.macaroons.page(asOwner, 50);
  const figures = await Promise.all(packages.map(({ id }) => records.inventory.figuresOf(id)));
  const url = config.http.base_url;
  return [
    {
      words: 'Make a token for your tool',
      isDone: macaroons.some(({ kind }) => kind === 'token'),
      how: html`<a href="/console/myself/new-token">Make a token</a>; the page shows the lines for snapcraft and
        charmcraft at <code>${url}</code>.`,
    },
    {
      words: 'Register a name',
      isDone: packages.length > 0,
      how: html`Run <code>snapcraft register NAME</code> or <code>charmcraft register NAME</code>.`,
    },
    {
      words: 'Push a revision',
      isDone: figures.some(({ revisions }) => revisions > 0),
      how: html`Run <code>snapcraft upload FILE</code> or <code>charmcraft upload FILE</code>; the review is under
        <a href="/console/waiting">Pending</a>.`,
    },
    {
      words: 'Release it',
      isDone: figures.some(({ releasedAt }) => releasedAt !== null),
      how: html`Choose it under <a href="/console/packages">Packages</a>, then <em>Release a revision</em>.`,
    },
  ];
}

/** Each step with its way. */
export const renderSteps = (steps: readonly FirstStep[]): Html =>
  html`<ol class="first-steps">
    ${steps.map(
      ({ words, isDone, how }) =>
        html`<li class="${isDone ? 'done' : ''}">
          <h2>${isDone ? html`<span class="unseen">Done: </span>` : ''}${words}</h2>
          <p>${isDone ? 'Done.' : how}</p>
        </li>`,
    )}
  </ol>`;

/** Done steps come first, because people may do them in another order. */
function renderStepper(steps: readonly FirstStep[]): Html {
  const [done, left] = [true, false].map((isDone) => steps.filter((step) => step.isDone === isDone));
  return stepper(
    'First steps',
    [...done!, ...left!].map(({ words }) => words),
    done!.length,
  );
}
