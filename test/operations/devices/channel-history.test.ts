// The history of channels is read once in a call, for any number of actions.
// Own process: its revisions share one content, and a process caches by content.
import SQLite from 'better-sqlite3';
import pg from 'pg';
import t from 'tap';

import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { deviceHeaders, refresh, servingSnaps } from '#test/fixtures/devices.ts';
import { engine } from '#test/fixtures/records/engines.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

/** Counts the reads of past releases by the device interface, until the returned function is called. */
function countReads(t: { teardown(work: () => void): void }): () => number {
  let reads = 0;
  const onStatement = (text: string): void => {
    if (/\bFROM past_releases\b/.test(text)) reads++;
  };
  t.teardown(engine === 'sqlite' ? listenToFile(onStatement) : listenToServer(onStatement));
  return () => {
    const so = reads;
    reads = 0;
    return so;
  };
}

/** Reports every statement of SQLite that reads all rows, until the returned function is called. */
function listenToFile(onStatement: (text: string) => void): () => void {
  const { prepare } = SQLite.prototype;
  SQLite.prototype.prepare = function (this: SQLite.Database, text: string) {
    const statement = prepare.call(this, text);
    const all = statement.all.bind(statement);
    return Object.assign(statement, {
      all(...values: unknown[]) {
        onStatement(text);
        return all(values);
      },
    });
  } as typeof prepare;
  return () => void (SQLite.prototype.prepare = prepare);
}

/** Reports every statement of PostgreSQL, until the returned function is called. */
function listenToServer(onStatement: (text: string) => void): () => void {
  const query = Reflect.get(pg.Client.prototype, 'query') as (...given: unknown[]) => unknown;
  const listening = function (this: pg.Client, ...args: [string | { text: string }]) {
    onStatement(typeof args[0] === 'string' ? args[0] : args[0].text);
    return query.apply(this, args);
  };
  Reflect.set(pg.Client.prototype, 'query', listening);
  return () => void Reflect.set(pg.Client.prototype, 'query', query);
}

/** Each snap is asked for so often: instances of one snap are refreshed each by itself. */
const times = 100;

/** Two snaps with a revision of a newer epoch last in their channels, after others that read the data of the first. */
async function withHistory(store: TestAppliance): Promise<string[]> {
  const ada = await store.as('ada');
  const ids: string[] = [];
  for (const name of ['hello', 'other']) {
    const { id } = (await ada.post('/v1/snap', { name })).body as { id: string };
    ids.push(id);
    for (const [at, epoch] of ['0', '0', '1*', '3', '1*'].entries()) {
      const packageYaml = `name: ${name}\nversion: '1'\nepoch: ${epoch}\n`;
      await addRevision(store, id, at + 1, { packageYaml });
    }
    const inEdge = name === 'hello' ? 3 : 5;
    for (const releases of [{ stable: 1 }, { stable: 2 }, { stable: 4, edge: 1 }, { edge: inEdge }, { edge: 4 }]) {
      store.clock.advance(1000);
      const requests = Object.entries(releases).map(([channel, revision]) => ({ channel, revision }));
      await ada.post(`/v1/snap/${name}/releases`, requests);
    }
  }
  return ids;
}

t.test('the history of the channels of a snap is read once for many actions', async (t) => {
  const reads = countReads(t);
  const store = await startStore(t, servingSnaps);
  const [hello = '', other = ''] = await withHistory(store);
  const keys = (await store.anyone.post('/v2/cohorts', { snaps: ['hello'] }, deviceHeaders())).body['cohort-keys'];
  const cohort = { 'cohort-key': (keys as { hello: string }).hello };
  store.clock.advance(1000);
  /** The responses for the instances of each snap in a channel, and the number of reads of the past for all of them. */
  const ask = async (snaps: [id: string, channel: string, more?: object][]) => {
    const context = snaps.flatMap(([id, channel, more], group) =>
      Array.from({ length: times }, (_, at) => ({
        'instance-key': `${id}:${String(group)}-${String(at)}`,
        'snap-id': id,
        revision: 1,
        'tracking-channel': channel,
        epoch: { read: [0], write: [0] },
        ...more,
      })),
    );
    const actions = context.map((entry) => ({
      action: 'refresh' as const,
      'snap-id': entry['snap-id'],
      'instance-key': entry['instance-key'],
    }));
    reads();
    const results = await refresh(store, actions, context);
    const got = snaps.map((_, group) => {
      const ofGroup = results.slice(group * times, (group + 1) * times);
      return [...new Set(ofGroup.map(({ snap, error }) => snap?.revision ?? error?.code))];
    });
    return { got, results: results.length, reads: reads() };
  };
  const [inStable, inEdge] = [
    [hello, 'stable'],
    [hello, 'edge'],
  ] as [string, string][];
  t.same(await ask([inStable!]), { got: [[2]], results: times, reads: 1 }, 'the newest that reads what the device has');
  t.same(
    await ask([inStable!, inEdge!, [other, 'edge'], [hello, 'stable', cohort]]),
    // A cohort asks what all channels held when it was made, and then up to when it may go.
    { got: [[2], [3], [5], [2]], results: 4 * times, reads: 5 },
    'each snap, channel and moment by itself',
  );
});
