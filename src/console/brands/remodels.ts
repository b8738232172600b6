// The page of the remodel allowlist of a brand: the permitted remodels, with forms to add and remove them.
import { addRemodels, deleteRemodels } from '#acts/brands/remodel-allowlist.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import type { ConsoleRemodelQuery } from '#contract/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import { shellWord } from '#domain/shell-word.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, type Html } from '#http/pages/html.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { caller } from '#operations/caller.ts';
import { pageOf, placeOf } from '#operations/page.ts';
import type { Brand } from '#records/brands/brands.ts';
import type { Model } from '#records/brands/models.ts';
import type { Remodel, RemodelEntry } from '#records/brands/remodel-allowlist.ts';
import { declareMessages } from '../messages.ts';
import { readActorLabels } from '../parts/actor-labels.ts';
import { withQuery } from '../parts/address.ts';
import { choice, field, formOf } from '../parts/form.ts';
import { hostCommand } from '../parts/host-command.ts';
import { nextPage, pageSize, table } from '../parts/table.ts';
import { isolated, time } from '../parts/values.ts';
import { formHandler, screen } from '../screen.ts';
import { brandAddress } from './address.ts';

const withMessage = declareMessages({
  'remodel-permitted': 'The remodel is permitted.',
  'remodel-removed': 'The remodel is no longer permitted.',
});

const path = '/console/brands/:brand_account_id/remodels';

const addressFor = ({ accountId }: Pick<Brand, 'accountId'>): string => brandAddress(accountId, 'remodels');

export const consoleRemodels = screen({
  name: 'console_remodels',
  path,
  summary: 'List the permitted remodels of a brand, with forms to add and remove them.',
  access: brandAdministrator('account-manage-metadata', true),
  query: 'ConsolePageQuery',

  async show({ brand, query, records, browsing }) {
    const [fromModel, fromSerial, toModel] = placeOf(query, ['', '', ''] as const);
    const anyModel = { fromModel: null, toModel: null };
    const after = { fromModel, fromSerial, toModel };
    const rows = await records.remodelAllowlist.list(brand.accountId, after, anyModel, pageSize + 1);
    const { entries, next } = pageOf(rows, pageSize, (entry) => [
      entry.fromModel,
      entry.fromSerial ?? '',
      entry.toModel,
    ]);
    const who = await readActorLabels(
      entries.map(({ createdBy }) => createdBy),
      records,
    );
    const address = addressFor(brand);
    return {
      title: `Remodel allowlist of ${isolated(brand.name)}`,
      lead: html`These devices may become another model of the brand.
        <a href="${brandAddress(brand.accountId)}">To the brand</a>`,
      content: html`${remodelTable(entries, { address, who })}
        ${nextPage(next === null ? undefined : withQuery(address, { cursor: next }))}
        <h2>Permit a remodel</h2>
        ${addForm(browsing, address, await records.models.list(brand.accountId))}
        ${hostCommand(`larder remodel permit ${shellWord(brand.accountId)} --from MODEL --to MODEL`)}`,
    };
  },
});

const remodelTable = (
  entries: readonly RemodelEntry[],
  { address, who }: { address: string; who: (actor: string | null) => string },
): Html =>
  table<RemodelEntry>({
    caption: 'Permitted remodels',
    columns: [
      { heading: 'From', cell: ({ fromModel }) => html`<bdi>${fromModel}</bdi>` },
      { heading: 'Serial', cell: ({ fromSerial }) => (fromSerial === null ? 'All' : html`<bdi>${fromSerial}</bdi>`) },
      { heading: 'To', cell: ({ toModel }) => html`<bdi>${toModel}</bdi>` },
      { heading: 'Description', cell: ({ description }) => html`<bdi>${description}</bdi>` },
      {
        heading: 'Permitted',
        cell: ({ createdAt, createdBy }) => html`<span>${time(createdAt)}, by ${who(createdBy)}</span>`,
      },
      {
        heading: 'Remove',
        cell: (entry) =>
          html`<a href="${withQuery(`${address}/remove`, membersOf(entry))}"
            >Remove<span class="unseen"> ${describeRemodel(entry)}</span></a
          >`,
      },
    ],
    rows: entries,
    empty: 'No device may become another model.',
  });

const addForm = (browsing: Browsing, address: string, models: readonly Model[]): Html => {
  if (models.length < 2) return html`<p>A remodel needs two models. Create them on the page of the brand.</p>`;
  const names = models.map(({ name }) => [name, name] as const);
  return formOf(
    browsing,
    address,
    html`${choice({ name: 'from-model', label: 'From the model', value: names[0]?.[0] }, names)}
      ${field({ name: 'from-serial', label: 'Serial', maxLength: 256, hint: 'Empty for all devices of the model.' })}
      ${choice({ name: 'to-model', label: 'To the model', value: names[1]?.[0] }, names)}
      ${field({ name: 'description', label: 'Description', maxLength: 1000 })} <button>Permit the remodel</button>`,
  );
};

const membersOf = ({ fromModel, fromSerial, toModel }: Remodel) => ({
  'from-model': fromModel,
  'from-serial': fromSerial ?? '',
  'to-model': toModel,
});

/** The remodel in the options of the command on the host. */
const optionsOf = ({ fromModel, fromSerial, toModel }: Remodel): string[] => [
  ...['--from', fromModel],
  ...(fromSerial === null ? [] : ['--serial', fromSerial]),
  ...['--to', toModel],
];

const readRemodel = (body: ConsoleRemodelQuery): Remodel => ({
  fromModel: (body['from-model'] ?? '').trim(),
  fromSerial: (body['from-serial'] ?? '').trim() || null,
  toModel: (body['to-model'] ?? '').trim(),
});

const describeRemodel = ({ fromModel, fromSerial, toModel }: Remodel): string =>
  `${fromModel} ${fromSerial === null ? 'with any serial' : `with the serial ${fromSerial}`} to ${toModel}`;

export const consoleAddRemodel = formHandler({
  name: 'console_add_remodel',
  path,
  summary: 'Permit the devices of a model, or one of them, to become another model of the brand.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'ConsoleNewRemodel',
  refuses: ['conflict'],

  async perform(call) {
    const { brand, body, acts } = call;
    const remodel = { ...readRemodel(body), description: body.description.trim() || null };
    await acts.do(addRemodels, caller(call), { brandAccountId: brand.accountId, remodels: [remodel] });
    return withMessage(addressFor(brand), 'remodel-permitted');
  },
});

export const consoleAskRemoveRemodel = screen({
  name: 'console_ask_remove_remodel',
  path: `${path}/remove`,
  summary: 'Ask whether to remove a permitted remodel.',
  access: brandAdministrator('account-manage-metadata', false),
  query: 'ConsoleRemodelQuery',
  refuses: ['resource-not-found'],

  async show({ brand, query, browsing, records }) {
    const remodel = readRemodel(query);
    if (!(await isPermitted(records, brand, remodel)))
      throw new Refusal('resource-not-found', 'This remodel is not permitted, so there is nothing to remove.');
    const address = addressFor(brand);
    return {
      title: 'Remove the permitted remodel?',
      lead: `A device can no longer change from ${describeRemodel(remodel)}. Devices that have changed stay as they are.`,
      content: html`${formOf(
          browsing,
          `${address}/remove`,
          html`${Object.entries(membersOf(remodel)).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
            <button class="grave">Remove</button>`,
        )}
        ${hostCommand(`larder remodel remove ${[brand.accountId, ...optionsOf(remodel)].map(shellWord).join(' ')}`)}
        <p><a href="${address}">Cancel</a></p>`,
    };
  },
});

const isPermitted = async (
  { remodelAllowlist }: Pick<HandlerRecords, 'remodelAllowlist'>,
  { accountId }: Brand,
  { fromModel, fromSerial, toModel }: Remodel,
): Promise<boolean> => {
  const before = { fromModel, fromSerial: fromSerial ?? '', toModel: '' };
  const [entry] = await remodelAllowlist.list(accountId, before, { fromModel, toModel }, 1);
  return entry?.fromSerial === fromSerial;
};

export const consoleRemoveRemodel = formHandler({
  name: 'console_remove_remodel',
  path: `${path}/remove`,
  summary: 'Remove a permitted remodel.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'ConsoleRemodel',

  async perform(call) {
    const { brand, body, acts } = call;
    const remodels = [readRemodel(body)];
    await acts.do(deleteRemodels, caller(call), { brandAccountId: brand.accountId, remodels });
    return withMessage(addressFor(brand), 'remodel-removed');
  },
});
