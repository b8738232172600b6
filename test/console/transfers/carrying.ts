// A store that trusts a collector, and a transfer of the collector.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { stream } from '#assertions/format/assertion.ts';
import { folder } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { assertionsOf, download, offered, snapOf } from '#test/fixtures/packages/online-store.ts';
import { startConsole } from '#test/console/world.ts';

type Test = Parameters<typeof startConsole>[0];

export async function done(line: string) {
  const { code, out, err } = await larder(`${line} --json`);
  if (code !== 0) throw new Error(`${line}: ${err || out}`);
  return JSON.parse(out);
}

/** A store that trusts a collector. `bring` gathers a revision of each snap there, receives the transfer, and returns its id. */
export async function receiving(t: Test, configure?: (text: string) => string) {
  const store = await startConsole(t, configure);
  store.clock.advance(Date.now() - store.clock.now.getTime());
  return { store, ...(await trustCollector(t, store.directory)) };
}

/** Lets the store of a data directory trust a collector; gathers transfers there. */
export async function trustCollector(t: Test, directory: string) {
  const desk = `--data ${join(folder(t), 'collector')}`;
  const stick = folder(t);
  const { fingerprints } = await done(`site init desk --collector ${desk}`);
  await done(`site show --export ${stick}/desk.json ${desk}`);
  await done(`site trust ${stick}/desk.json --fingerprint ${fingerprints[0]} --data ${directory}`);
  await done(`site init here --data ${directory}`);
  let number = 0;
  /** Gathers a revision of each snap at the collector; returns the file of the transfer and its id. */
  const gather = async (revision: number, names: readonly string[] = ['hello-on']) => {
    const fetched = folder(t);
    for (const name of names) await download(fetched, offered(name, revision));
    const file = join(stick, `${String(number++)}.tar`);
    const { id } = await done(`transfer gather ${fetched} ${file} --release stable ${desk}`);
    return { file, id: id as string };
  };
  /** Gathers a large snap, with at least so many bytes, in parts of 8 MiB if asked. */
  const gatherLarge = async (bytes: number, inParts = false): Promise<{ files: string[]; id: string }> => {
    const [fetched, large] = [folder(t), offered('large-on', 1)];
    const content = Buffer.concat([snapOf(large), Buffer.alloc(bytes, 'larder')]);
    writeFileSync(join(fetched, 'large.snap'), content);
    writeFileSync(join(fetched, 'large.assert'), stream(await assertionsOf(large, content)));
    const file = join(stick, `large-${String(number++)}.tar`);
    return done(`transfer gather ${fetched} ${file} --release stable ${desk}${inParts ? ' --part-size 8' : ''}`);
  };
  const bring = async (revision: number, names?: readonly string[]): Promise<string> => {
    const { file, id } = await gather(revision, names);
    await done(`transfer receive ${file} --data ${directory}`);
    return id;
  };
  return { bring, gather, gatherLarge };
}
