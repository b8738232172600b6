// larder device revoke-serial
import { revokeSerial } from '#acts/devices/serials.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';

export const deviceRevokeSerial = command({
  name: 'device revoke-serial',
  summary: 'Revoke the serial of a device: its session ends, and it can get neither a session nor a serial again.',
  description:
    'The serial may be signed here or elsewhere. The device can still install public snaps; installed snaps stay ' +
    'installed.',
  options: {
    brand: { type: 'string', value: 'ACCOUNT-ID', summary: 'The brand, by its account id.', required: true },
    model: { type: 'string', value: 'MODEL', summary: 'The model.', required: true },
    serial: { type: 'string', value: 'SERIAL', summary: 'The serial.', required: true },
    reason: { type: 'string', value: 'TEXT', summary: 'Why, in one line.', required: true },
  },
  examples: ["larder device revoke-serial --brand acme --model pump --serial 0001 --reason 'It was stolen.'"],
  confirm: {
    question: ({ options: { brand, model, serial } }) =>
      `The device ${brand}/${model}/${serial} gets no session and no serial here any more. This cannot be taken back.`,
    unattended: 'refused',
  },

  run: ({ options: { brand: brandId, model, serial, reason }, data, world }) =>
    withStore({ data, world }, async ({ acts, actor }) => {
      await acts.do(revokeSerial, { actor }, { brandId, model, serial, reason });
      return {
        text: `The serial ${brandId}/${model}/${serial} is revoked.`,
        json: { 'brand-id': brandId, model, serial },
      };
    }),
});
