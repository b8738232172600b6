// larder device revoke
import { describeDevices, revokeFromDevices } from '#acts/devices/grants.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';
import { deviceOptions, toGrantedDevices } from './device-options.ts';

export const deviceRevoke = command({
  name: 'device revoke',
  summary: "Revoke a grant of a private snap, named as in 'device grant'.",
  description:
    'From their next call on, these devices no longer find the snap. A download in progress continues, and ' +
    'installed snaps stay installed.',
  positionals: [packageArgument],
  options: deviceOptions,
  examples: ['larder device revoke snap/hello --brand acme --model pump'],
  confirm: {
    question: ({ positionals: { package: packageText }, options }) =>
      `From their next call on ${packageText} is not there for ${describeDevices(toGrantedDevices(options))}.`,
    unattended: 'goes on',
  },

  run: ({ positionals: { package: packageText }, options, data, world }) =>
    withStore({ data, world }, async ({ records, acts, actor }) => {
      const subject = await findPackage(records, packageText);
      const devices = toGrantedDevices(options);
      await acts.do(revokeFromDevices, { actor }, { package: subject, devices });
      const text = `${packageText} is granted to ${describeDevices(devices)} no more.`;
      const { brandId, model = null, serial = null } = devices;
      return { text, json: { package: packageText, 'brand-id': brandId, model, serial } };
    }),
});
