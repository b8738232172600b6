// The page of the subscriptions of this site: list, add by name or by set, remove.
import { subscribe, unsubscribe } from '#acts/sites/subscriptions.ts';
import { overseer, storeAdministrator } from '#access/access-rules.ts';
import type { ConsoleSubscriptions } from '#contract/wire.ts';
import { parseChannel } from '#domain/releases/channel.ts';
import { Refusal } from '#domain/refusal.ts';
import {
  architectures,
  parseSubscribedPackage,
  setNames,
  subscriptionsOfSet,
  type Architecture,
  type PackageSubscription,
} from '#domain/sites/subscription.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { caller } from '#operations/caller.ts';
import { pageOf, placeOf } from '#operations/page.ts';
import type { Subscription } from '#records/sites/subscriptions.ts';
import { declareMessages } from '../messages.ts';
import { withQuery } from '../parts/address.ts';
import { choice, field, formOf, longField, tick } from '../parts/form.ts';
import { hostCommand } from '../parts/host-command.ts';
import { nextPage, pageSize, table } from '../parts/table.ts';
import { formHandler, screen } from '../screen.ts';

const withMessage = declareMessages({
  subscribed: 'The packages are subscribed to. The next request asks for them.',
  unsubscribed: 'The subscription is removed. Received revisions stay.',
});

const path = '/console/subscriptions';

export const consoleSubscriptions = screen({
  name: 'console_subscriptions',
  path,
  summary: 'List the packages that each request of this site asks for, with forms to add and remove them.',
  access: overseer('transfer-approver', 'auditor'),
  query: 'ConsolePageQuery',

  async show({ query, records, principal, browsing }) {
    const [namespace, name] = placeOf(query, ['', ''] as const);
    const rows = await records.subscriptions.after(namespace, name, pageSize + 1);
    const { entries, next } = pageOf(rows, pageSize, (row) => [row.namespace, row.name]);
    const manages = principal.storeAdministrator;
    return {
      title: 'Subscriptions',
      lead: html`Each <a href="/console/carry/requests">request</a> of this site asks for these packages and their
        updates.`,
      content: html`${listOf(entries, manages ? browsing : undefined)}
      ${nextPage(next === null ? undefined : withQuery(path, { cursor: next }))}
      ${manages ? addForm(browsing) : nothing}`,
    };
  },
});

const listOf = (rows: readonly Subscription[], browsing: Browsing | undefined): Html =>
  table<Subscription>({
    caption: 'Packages that this site requests, by channel and architecture',
    columns: [
      { heading: 'Package', cell: nameOf },
      { heading: 'Channels', cell: ({ channels }) => channels.join(', ') },
      { heading: 'Architectures', cell: (row) => row.architectures.join(', ') },
      { heading: 'Because of', cell: ({ because }) => because ?? 'a subscription' },
      ...(browsing === undefined
        ? []
        : [{ heading: 'Remove', cell: (row: Subscription) => removeForm(browsing, row) }]),
    ],
    rows,
    empty: 'There are no subscriptions, so requests of this site ask for no packages by name.',
  });

const nameOf = ({ namespace, name }: Pick<PackageSubscription, 'namespace' | 'name'>): string => `${namespace}/${name}`;

const removeForm = (browsing: Browsing, row: Subscription): Html =>
  formOf(
    browsing,
    `${path}/remove`,
    html`<input type="hidden" name="package" value="${nameOf(row)}" />
      <button class="second">Remove<span class="unseen"> ${nameOf(row)}</span></button>`,
  );

const addForm = (browsing: Browsing): Html =>
  html`<h2>Subscribe</h2>
    ${formOf(
      browsing,
      path,
      html`${longField({
          name: 'packages',
          label: 'Packages',
          maxLength: 8192,
          hint: 'Such as snap/hello or charm/postgresql-k8s, one a line.',
        })}
        ${field({
          name: 'channels',
          label: 'Channels of these packages',
          maxLength: 1024,
          value: 'latest/stable',
          hint: 'Separated by commas or blanks.',
        })}
        ${choice({ name: 'set', label: 'Also all packages of a set', value: '' }, [
          ['', 'None'],
          ...setNames.map((name) => [name, name] as const),
        ])}
        <fieldset>
          <legend>Architectures</legend>
          ${architectures.map((name) => tick(name, name, name === 'amd64'))}
        </fieldset>
        <button>Subscribe</button>`,
    )}
    ${hostCommand('larder subscription add snap/hello --channel latest/stable --architecture amd64')}
    <p class="hint">
      The command also reads the charms of a bundle with <code>--bundle FILE</code>, and the snaps of a model with
      <code>--model FILE</code>. <code>larder subscription remove snap/hello</code> removes one.
    </p>`;

export const consoleSubscribe = formHandler({
  name: 'console_subscribe',
  path,
  summary: 'Subscribe to packages, by name or by set; every later request asks for them.',
  access: storeAdministrator('store-manage'),
  body: 'ConsoleSubscriptions',

  async perform(call) {
    const { subscriptions, set } = readSubscriptions(call.body);
    await call.acts.do(subscribe, caller(call), { subscriptions, because: set === undefined ? null : `set ${set}` });
    return withMessage(path, 'subscribed');
  },
});

function readSubscriptions(body: ConsoleSubscriptions) {
  const chosen: readonly Architecture[] = architectures.filter((name) => body[name] === 'yes');
  if (chosen.length === 0) throw new Refusal('api-error', 'Choose at least one architecture.');
  const channels = wordsOf(body.channels).map(readChannel);
  const packages = wordsOf(body.packages).map((text) => ({
    ...readPackage(text),
    channels: channels.length === 0 ? ['latest/stable'] : [...new Set(channels)],
    architectures: chosen,
  }));
  const set = setNames.find((name) => name === body.set);
  if (set === undefined && body.set !== '')
    throw new Refusal('api-error', `There is no set '${body.set}'. The sets are ${setNames.join(', ')}.`);
  const subscriptions = [...packages, ...(set === undefined ? [] : subscriptionsOfSet(set, chosen))];
  if (subscriptions.length === 0) throw new Refusal('api-error', 'Name packages, or choose a set.');
  return { subscriptions, set };
}

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');

function readChannel(text: string): string {
  const channel = parseChannel(text);
  if (channel !== undefined) return channel.name;
  throw new Refusal('api-error', `'${text.slice(0, 200)}' is not a channel such as latest/stable at /channels`);
}

function readPackage(text: string): Pick<PackageSubscription, 'namespace' | 'name'> {
  const subscribed = parseSubscribedPackage(text);
  if (subscribed !== undefined) return subscribed;
  throw new Refusal('api-error', `'${text.slice(0, 200)}' is not a package such as snap/hello at /packages`);
}

export const consoleUnsubscribe = formHandler({
  name: 'console_unsubscribe',
  path: `${path}/remove`,
  summary: 'Remove a subscription. The received revisions of the package stay.',
  access: storeAdministrator('store-manage'),
  body: 'ConsolePackageName',
  refuses: ['resource-not-found'],

  async perform(call) {
    await call.acts.do(unsubscribe, caller(call), readPackage(call.body.package));
    return withMessage(path, 'unsubscribed');
  },
});
