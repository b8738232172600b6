// A store that trusts a collector, and a transfer of the collector.
import { join } from 'node:path';

import { folder } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { download, offered } from '#test/fixtures/packages/online-store.ts';
import { startConsole } from '#test/console/world.ts';

type Test = Parameters<typeof startConsole>[0];

async function done(line: string) {
  const { code, out, err } = await larder(`${line} --json`);
  if (code !== 0) throw new Error(`${line}: ${err || out}`);
  return JSON.parse(out);
}

/** A store that trusts a collector. `bring` gathers a revision of each snap there, receives the transfer, and returns its id. */
export async function receiving(t: Test, configure?: (text: string) => string) {
  const store = await startConsole(t, configure);
  store.clock.advance(Date.now() - store.clock.now.getTime());
  const desk = `--data ${join(folder(t), 'collector')}`;
  const stick = folder(t);
  const { fingerprints } = await done(`site init desk --collector ${desk}`);
  await done(`site show --export ${stick}/desk.json ${desk}`);
  await done(`site trust ${stick}/desk.json --fingerprint ${fingerprints[0]} --data ${store.directory}`);
  await done(`site init here --data ${store.directory}`);
  let number = 0;
  const bring = async (revision: number, names: readonly string[] = ['hello-on']): Promise<string> => {
    const fetched = folder(t);
    for (const name of names) await download(fetched, offered(name, revision));
    const file = join(stick, `${String(number++)}.tar`);
    const { id } = await done(`transfer gather ${fetched} ${file} --release stable ${desk}`);
    await done(`transfer receive ${file} --data ${store.directory}`);
    return id as string;
  };
  return { store, bring };
}
