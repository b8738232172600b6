// Creates cohort keys. Devices that show the same key get the same revisions.
import { snapsForDevice } from '#access/device-snaps.ts';
import { operation } from '#http/operation.ts';
import { Refusal } from '#domain/refusal.ts';

export const createCohorts = operation({
  name: 'create_cohorts',
  method: 'POST',
  path: '/v2/cohorts',
  since: 0,
  summary: 'Create cohort keys: devices with the same key get the revisions that are in the channels of the snaps now.',
  access: snapsForDevice,
  body: 'CohortsRequest',
  response: 'CohortsResponse',
  refuses: ['resource-not-found'],
  enabledBy: 'devices.snap',
  errors: 'snapd',
  prefixed: false,

  async handle({ body, snaps, cohortKeys, now }) {
    const keys: Record<string, string> = {};
    for (const name of body.snaps) {
      const { snap } = (await snaps.findByName(name)) ?? {};
      if (snap === undefined) throw new Refusal('resource-not-found', `There is no snap named '${name}'.`);
      keys[name] = cohortKeys.make(snap.id, now());
    }
    return { 'cohort-keys': keys };
  },
});
