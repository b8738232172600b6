import { storeAdministrator } from '#api/access.ts';
import { goneAway } from '#api/gone-away.ts';
import { operation } from '#api/operation.ts';
import { seconds } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';

const most = { changes: 500, wait: 60 };

export const readChanges = operation({
  name: 'read_changes',
  method: 'GET',
  path: '/internal/v1/changes',
  since: 0,
  summary: 'Follow what is done to the store: everything since a number, in order, waiting for it if asked to.',
  access: storeAdministrator('store-view'),
  query: 'ReadChangesQuery',
  response: 'ReadChangesResponse',
  refuses: ['reset', 'too-many-requests'],

  async handle({ query, changeFeed, response }) {
    const wait = Number(query.wait ?? 0);
    if (wait > most.wait)
      throw new Refusal('api-error', `At most ${most.wait} seconds may be waited for changes at /wait`);
    const known = { since: query.since === undefined ? undefined : Number(query.since), epoch: query['store-epoch'] };
    const { changes, next, epoch } = await changeFeed.read(known, {
      limit: most.changes,
      patience: seconds(wait),
      signal: goneAway(response),
    });
    const told = changes.map(({ seq, at, action, object }) => ({ seq, at, act: action, object }));
    return { changes: told, next, 'store-epoch': epoch };
  },
});
