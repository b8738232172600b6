import { storeAdministratorOnPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { explainFleets as explain, findDevice } from './explanation.ts';
import { readFleetChannel } from './present.ts';

export const explainFleets = operation({
  name: 'explain_fleets',
  method: 'GET',
  path: '/internal/v1/packages/:namespace/:name/fleet-explanation',
  since: 0,
  summary: 'Explain which revisions of a snap a device gets, and which fleet decides it.',
  access: storeAdministratorOnPackage('store-view'),
  query: 'FleetExplanationQuery',
  response: 'FleetExplanation',
  refuses: ['conflict'],

  async handle({ package: snap, query, records, config, now }) {
    return explain(records, {
      device: await findDevice(query.device, records),
      snap,
      storeId: query.store ?? config.store.id,
      architecture: query.architecture,
      channel: query.channel === undefined ? undefined : readFleetChannel(query.channel),
      now: now(),
    });
  },
});
