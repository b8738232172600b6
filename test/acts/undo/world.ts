// The rows of undoing acts: an act, its undoing, and possible events between.
import { Refusal } from '#domain/refusal.ts';
import type { Client, startStore, TestAppliance } from '#test/fixtures/appliance.ts';

type Test = Parameters<typeof startStore>[0];

export interface World {
  store: TestAppliance;
  root: Client;
  ada: Client;
  bob: Client;
  /** The snap of this case, with the revisions 1 and 2; ada publishes it. */
  name: string;
  id: string;
  /** The internal address of the snap. */
  at: string;
  /** Other things that a case remembers between its steps. */
  notes: Record<string, string>;
}

export interface UndoCase {
  /** The event between the act and its undoing. */
  between: string;
  event?(world: World): Promise<unknown>;
  /** The status of the undoing; 200 if nothing else is said. */
  status?: number;
  /** The expected state afterwards. */
  after(world: World): Promise<unknown>;
  equals: unknown;
}

export interface UndoRow {
  /** The store of the row, unless a store without anything serves. */
  start?(t: Test): Promise<TestAppliance>;
  done(world: World): Promise<unknown>;
  undone(world: World): Promise<number>;
  cases: readonly UndoCase[];
}

export const release = (client: Client, { name }: World, channel: string, revision: number | null) =>
  client.post(`/v1/snap/${name}/releases`, [{ channel, revision }]);
export const handOver = ({ root, at, store }: World) => root.post(`${at}/publisher`, { 'account-id': store.ids.bob });
/** Each channel with the revision that it holds. */
export const held = async ({ store, id }: World): Promise<Record<string, number>> => {
  const now = store.clock.now.toISOString();
  const current = await store.beside.records.releases.current(id, now);
  return Object.fromEntries(current.map(({ channel, revision }) => [channel, revision]));
};
export const status = async (reply: Promise<{ status: number }>) => (await reply).status;

/** The status of an act that no operation does; 200 if it was done. */
export async function statusOf(done: Promise<unknown>): Promise<number> {
  try {
    await done;
    return 200;
  } catch (error) {
    if (error instanceof Refusal) return error.status;
    throw error;
  }
}
