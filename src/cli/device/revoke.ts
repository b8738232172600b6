// larder device revoke
import { inWords, revokeFromDevices } from '#acts/device-grants.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { packageArgument, packageOf } from '../package/named.ts';
import { deviceOptions, meant } from './devices.ts';

export const deviceRevoke = command({
  name: 'device revoke',
  summary: 'Take a grant of a private snap back, in the words in which it was given.',
  description:
    'From their next call on the snap is not there for these devices; a download that is under way comes to its end, ' +
    'and what is installed stays.',
  positionals: [packageArgument],
  options: deviceOptions,
  examples: ['larder device revoke snap/hello --brand acme --model pump'],
  confirm: {
    question: ({ positionals: { package: named }, options }) =>
      `From their next call on ${named} is not there for ${inWords(meant(options))}.`,
    unattended: 'goes on',
  },

  run: ({ positionals: { package: named }, options, data, world }) =>
    withStore({ data, world }, async ({ records, acts, actor }) => {
      const subject = await packageOf(records, named);
      const devices = meant(options);
      await acts.do(revokeFromDevices, { actor }, { package: subject, devices });
      const text = `${named} is granted to ${inWords(devices)} no more.`;
      const { brandId, model = null, serial = null } = devices;
      return { text, json: { package: named, 'brand-id': brandId, model, serial } };
    }),
});
