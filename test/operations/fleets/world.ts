// A store with a snap in some revisions, devices of several models, and the commands for fleets.
import type { RefreshContext, RefreshResult } from '#contract/wire.ts';
import { larder } from '#test/cli/world.ts';
import type { TestAppliance } from '#test/fixtures/appliance.ts';
import { refresh } from '#test/fixtures/devices.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { sessionOf, startForDevices } from '#test/operations/devices/world.ts';

type Header = Record<string, string>;

/** `hello` of acme: revisions 1 to 6 for amd64, 7 for arm64, 8 for all, and 9, which was never released. */
export async function startWithFleets(t: Parameters<typeof startForDevices>[0]) {
  const { store } = await startForDevices(t);
  const acme = await store.as('acme');
  const { id } = (await acme.post('/v1/snap', { name: 'hello' })).body as { id: string };
  const details = (architectures: string[]) => ({ details: { architectures } });
  for (const revision of [1, 2, 3, 4, 5, 6, 9]) await addRevision(store, id, revision, details(['amd64']));
  await addRevision(store, id, 7, details(['arm64']));
  await addRevision(store, id, 8, details(['all']));
  const release = async (channel: string, revision: number | null): Promise<void> => {
    const { status, body } = await acme.post('/v1/snap/hello/releases', [{ channel, revision }]);
    if (status !== 200) throw new Error(JSON.stringify(body));
  };
  for (const revision of [1, 2, 3, 4, 5, 7, 8, 6]) await release('edge', revision);
  await release('candidate', 4);
  await release('stable', 3);
  return { store, id, acme, release, root: await store.as('root'), ...commandsFor(store) };
}

function commandsFor(store: TestAppliance) {
  const run = (line: string) => larder(`${line} --data ${store.directory}`);
  /** Runs a command that has to succeed. */
  const fleet = async (line: string): Promise<string> => {
    const { code, out, err } = await run(`fleet ${line}`);
    if (code !== 0) throw new Error(`fleet ${line}: ${err}`);
    return out;
  };
  /** The error of a command that has to fail. */
  const refused = async (line: string): Promise<string> => {
    const { code, out, err } = await run(`fleet ${line}`);
    if (code === 0) throw new Error(`fleet ${line}: ${out}`);
    return err;
  };
  return { run, fleet, refused };
}

/** The session of a device of acme. */
export const pumpOf = (store: TestAppliance, model: string, serial: string): Promise<Header> =>
  sessionOf(store.anyone, { brand: 'acme', model, serial });

export interface SnapQuestion {
  channel?: string;
  headers?: Header;
  /** The installed revision. */
  revision?: number;
  more?: Partial<RefreshContext>;
}

/** The result of one usual refresh of a snap. */
export async function refreshResult(
  store: TestAppliance,
  id: string,
  { channel = 'latest/stable', headers = {}, revision = 1, more = {} }: SnapQuestion = {},
): Promise<RefreshResult> {
  const context = { 'snap-id': id, 'instance-key': id, revision, 'tracking-channel': channel, ...more };
  const [result] = await refresh(store, [{ action: 'refresh', 'snap-id': id, 'instance-key': id }], [context], headers);
  return result!;
}

/** The revision that a refresh gives; null if it gives none. */
export async function refreshTo(store: TestAppliance, id: string, question?: SnapQuestion): Promise<number | null> {
  return (await refreshResult(store, id, question)).snap?.revision ?? null;
}
