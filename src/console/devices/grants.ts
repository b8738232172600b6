// The page of the device grants of a private snap: list, grant, revoke.
import { describeDevices, grantToDevices, revokeFromDevices } from '#acts/devices/grants.ts';
import { storeAdministratorOnPackage } from '#access/access-rules.ts';
import { shellWord } from '#domain/shell-word.ts';
import { html, type Html } from '#http/pages/html.ts';
import { caller } from '#operations/caller.ts';
import { pageOf, placeOf } from '#operations/page.ts';
import type { DeviceGrant, GrantedDevices } from '#records/devices/device-grants.ts';
import { readActorLabels } from '../parts/actor-labels.ts';
import { declareMessages } from '../messages.ts';
import { addressOf } from '../packages/address.ts';
import { withQuery } from '../parts/address.ts';
import { field, formOf } from '../parts/form.ts';
import { hostCommand } from '../parts/host-command.ts';
import { nextPage, pageSize, table } from '../parts/table.ts';
import { time } from '../parts/values.ts';
import { formHandler, screen } from '../screen.ts';

const withMessage = declareMessages({
  'devices-granted': 'The snap is granted. The devices find it with their next call.',
  'devices-revoked': 'The grant is revoked. The devices no longer find the snap with their next call.',
});

const path = '/console/packages/:namespace/:name/device-grants';

export const consoleDeviceGrants = screen({
  name: 'console_device_grants',
  path,
  summary: 'List the devices that a private snap is granted to, with forms to grant and revoke.',
  access: storeAdministratorOnPackage('store-view'),
  query: 'ConsolePageQuery',

  async show({ package: subject, query, records, browsing }) {
    const place = placeOf(query, ['', '', ''] as const);
    const rows = await records.deviceGrants.list(subject.id, place, pageSize + 1);
    const { entries, next } = pageOf(rows, pageSize, ({ brandId, model = '', serial = '' }) => [
      brandId,
      model,
      serial,
    ]);
    const who = await readActorLabels(
      entries.map(({ createdBy }) => createdBy),
      records,
    );
    const address = addressOf(subject, 'device-grants');
    const name = `${subject.namespace}/${subject.name}`;
    return {
      title: `Device grants of ${name}`,
      lead: html`${
          subject.private
            ? "Devices of the publisher's brand have the private snap without a grant. These devices have it too."
            : 'The snap is public: all devices have it. Grants count while a snap is private.'
        } <a href="${addressOf(subject)}">To the package</a>`,
      content: html`${table<DeviceGrant>({
          caption: 'Devices with a grant',
          columns: [
            { heading: 'Brand', cell: ({ brandId }) => html`<code>${brandId}</code>` },
            { heading: 'Model', cell: ({ model }) => model ?? 'All' },
            { heading: 'Serial', cell: ({ serial }) => serial ?? 'All' },
            {
              heading: 'Granted',
              cell: ({ createdAt, createdBy }) => html`<span>${time(createdAt)}, by ${who(createdBy)}</span>`,
            },
            {
              heading: 'Revoke',
              cell: (grant) =>
                html`<a href="${withQuery(`${address}/revoke`, membersOf(grant))}"
                  >Revoke<span class="unseen"> from ${describeDevices(grant)}</span></a
                >`,
            },
          ],
          rows: entries,
          empty: 'The snap is granted to no devices.',
        })}
        ${nextPage(next === null ? undefined : withQuery(address, { cursor: next }))}
        <h2>Grant the snap</h2>
        ${formOf(browsing, address, html`${deviceFields} <button>Grant</button>`)}
        ${hostCommand(`larder device grant ${name} --brand BRAND --model MODEL --serial SERIAL`)}`,
    };
  },
});

const deviceFields: Html = html`${field({
  name: 'brand',
  label: 'Brand',
  maxLength: 64,
  required: true,
  hint: 'The account id of the brand.',
})}
${field({ name: 'model', label: 'Model', maxLength: 128, hint: 'Empty for all models of the brand.' })}
${field({ name: 'serial', label: 'Serial', maxLength: 256, hint: 'Empty for all devices of the model.' })}`;

const membersOf = ({ brandId: brand, model = '', serial = '' }: GrantedDevices) => ({ brand, model, serial });

const readDevices = ({
  brand = '',
  model = '',
  serial = '',
}: Partial<ReturnType<typeof membersOf>>): GrantedDevices => ({
  brandId: brand.trim(),
  model: model.trim() || undefined,
  serial: serial.trim() || undefined,
});

export const consoleGrantToDevices = formHandler({
  name: 'console_grant_to_devices',
  path,
  summary: 'Grant a private snap to the devices of a brand, of one of its models, or to a single device.',
  access: storeAdministratorOnPackage('store-manage'),
  body: 'ConsoleGrantedDevices',
  refuses: ['conflict'],

  async perform(call) {
    const { package: subject, body, acts } = call;
    await acts.do(grantToDevices, caller(call), { package: subject, devices: readDevices(body) });
    return withMessage(addressOf(subject, 'device-grants'), 'devices-granted');
  },
});

export const consoleAskRevokeFromDevices = screen({
  name: 'console_ask_revoke_from_devices',
  path: `${path}/revoke`,
  summary: 'Ask whether to revoke a device grant.',
  access: storeAdministratorOnPackage('store-manage'),
  query: 'ConsoleGrantedDevicesQuery',

  show({ package: subject, query, browsing }) {
    const devices = readDevices(query);
    const address = addressOf(subject, 'device-grants');
    const name = `${subject.namespace}/${subject.name}`;
    const options = Object.entries(membersOf(devices)).filter(([, value]) => value !== '');
    return {
      title: `Revoke the grant of ${name}?`,
      lead: `From their next call on, ${describeDevices(devices)} no longer finds the snap. A download in progress continues, and installed snaps stay installed.`,
      content: html`${formOf(
          browsing,
          `${address}/revoke`,
          html`${Object.entries(membersOf(devices)).map(([member, value]) => html`<input type="hidden" name="${member}" value="${value}" />`)}
            <button class="grave">Revoke the grant</button>`,
        )}
        ${hostCommand(`larder device revoke ${name} ${options.map(([member, value]) => `--${member} ${shellWord(value)}`).join(' ')}`)}
        <p><a href="${address}">Cancel</a></p>`,
    };
  },
});

export const consoleRevokeFromDevices = formHandler({
  name: 'console_revoke_from_devices',
  path: `${path}/revoke`,
  summary: 'Revoke a device grant of a private snap. The next call of the device no longer finds the snap.',
  access: storeAdministratorOnPackage('store-manage'),
  body: 'ConsoleGrantedDevices',

  async perform(call) {
    const { package: subject, body, acts } = call;
    await acts.do(revokeFromDevices, caller(call), { package: subject, devices: readDevices(body) });
    return withMessage(addressOf(subject, 'device-grants'), 'devices-revoked');
  },
});
