// Two sites with a gap between them, and a stick.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { changeConfig } from '#configuration/config.ts';
import { folder, newStore, type NewStore } from '#test/cli/process.ts';
import { download, offered, rootsFile, type Offered } from '#test/fixtures/packages/online-store.ts';

interface Test {
  teardown(work: () => unknown): void;
}

export interface SiteUnderTest extends NewStore {
  /** Runs a command that must not fail; returns its output. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the caller knows the shape
  done(line: string): Promise<any>;
}

export interface Sites {
  depot: SiteUnderTest;
  here: SiteUnderTest;
  stick: string;
  /** Takes a snap of the made-up online store in at the depot, and releases it there. */
  carry(snap: Offered, channel?: string): Promise<void>;
}

/** A site with a name, that trusts the made-up online store. */
export async function site(t: Test, name: string): Promise<SiteUnderTest> {
  const store = await newStore(t);
  changeConfig(join(store.data, 'larder.toml'), { 'assertions.trusted': [rootsFile(folder(t))] });
  const made = {
    ...store,
    async done(line: string) {
      const { code, out, err } = await store.larder(`${line} --json`);
      if (code !== 0) throw new Error(`${line}: ${err || out}`);
      return JSON.parse(out) as unknown;
    },
  };
  await made.done(`site init ${name}`);
  return made;
}

/** Makes one site trust another. */
export async function trust(site: SiteUnderTest, other: SiteUnderTest, file: string, more = ''): Promise<void> {
  await other.done(`site show --export ${file}`);
  const { site: shown } = (await other.done('site show')) as { site: { fingerprints: string[] } };
  const fingerprints = shown.fingerprints.map((fingerprint) => `--fingerprint ${fingerprint}`).join(' ');
  await site.done(`site trust ${file} ${fingerprints} ${more}`);
}

/** A depot, and a site that trusts it. */
export async function twoSites(t: Test): Promise<Sites> {
  const [depot, receiver, stick] = [await site(t, 'depot'), await site(t, 'site-a'), folder(t)];
  await trust(receiver, depot, join(stick, 'depot.json'));
  return { depot, here: receiver, stick, carry: carryTo(depot, stick) };
}

/** Takes snaps of the made-up online store in at a depot. */
export const carryTo =
  (depot: SiteUnderTest, stick: string): Sites['carry'] =>
  async (snap, channel = 'stable') => {
    const from = join(stick, `online-${snap.name}-${String(snap.revision)}`);
    mkdirSync(from);
    await download(from, snap);
    await depot.done(`package import ${from} --release ${channel} --yes`);
  };

export { offered };
