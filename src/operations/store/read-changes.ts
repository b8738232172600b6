import { toActName } from '#acts/audit-words.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import { disconnectSignal } from '#http/request/disconnect-signal.ts';
import { operation } from '#http/operation.ts';
import { seconds } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';

const maxPerRead = { changes: 500, wait: 60 };

export const readChanges = operation({
  name: 'read_changes',
  method: 'GET',
  path: '/internal/v1/changes',
  since: 0,
  summary: 'Follow the changes of the store: all acts after a given number, in order. Can wait for the next one.',
  access: storeAdministrator('store-view'),
  query: 'ReadChangesQuery',
  response: 'ReadChangesResponse',
  refuses: ['reset', 'too-many-requests'],

  async handle({ query, changeFeed, response }) {
    const wait = Number(query.wait ?? 0);
    if (wait > maxPerRead.wait)
      throw new Refusal('api-error', `At most ${maxPerRead.wait} seconds may be waited for changes at /wait`);
    const position = {
      since: query.since === undefined ? undefined : Number(query.since),
      epoch: query['store-epoch'],
    };
    const { changes, next, epoch } = await changeFeed.read(position, {
      limit: maxPerRead.changes,
      timeoutMs: seconds(wait),
      signal: disconnectSignal(response),
    });
    const entries = changes.map(({ seq, at, action, object }) => ({ seq, at, act: toActName(action), object }));
    return { changes: entries, next, 'store-epoch': epoch };
  },
});
