// larder device grant
import { grantToDevices, describeDevices } from '#acts/devices/grants.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';
import { deviceOptions, toGrantedDevices } from './device-options.ts';

export const deviceGrant = command({
  name: 'device grant',
  summary: 'Grant a private snap to the devices of a brand, of one of its models, or to a single device.',
  description:
    'Devices of the brand that publishes a private snap have it without a grant. A device is identified by the ' +
    'session that it gets for its serial. A device without a serial gets public snaps alone.',
  positionals: [packageArgument],
  options: deviceOptions,
  examples: [
    'larder device grant snap/hello --brand acme',
    'larder device grant snap/hello --brand acme --model pump --serial 0001',
  ],

  run: ({ positionals: { package: packageText }, options, data, world }) =>
    withStore({ data, world }, async ({ records, acts, actor }) => {
      const subject = await findPackage(records, packageText);
      const devices = toGrantedDevices(options);
      await acts.do(grantToDevices, { actor }, { package: subject, devices });
      const text = `${packageText} is there for ${describeDevices(devices)}.`;
      const { brandId, model = null, serial = null } = devices;
      return { text, json: { package: packageText, 'brand-id': brandId, model, serial } };
    }),
});
