// The world that the tests of gather.test.ts and gather.tools.test.ts share.
import { join } from 'node:path';

import type { Test } from 'tap';

import { commandsOn, folder } from '#test/cli/process.ts';
import { site } from '#test/transfers/sites.ts';

/** A collector with commands that must not fail. */
export async function collector(t: Test, name = 'desk') {
  const commands = commandsOn(join(folder(t), 'collector'));
  const done = async (line: string) => {
    const { code, out, err } = await commands.larder(`${line} --json`);
    if (code !== 0) throw new Error(`${line}: ${err || out}`);
    return JSON.parse(out);
  };
  const made = await done(`site init ${name} --collector`);
  return { ...commands, done, fingerprint: made.fingerprints[0] as string };
}

/** A site that trusts the collector. */
export async function believing(t: Test, desk: Awaited<ReturnType<typeof collector>>, stick: string) {
  const receiver = await site(t, 'site-a');
  await desk.done(`site show --export ${stick}/desk.json`);
  await receiver.done(`site trust ${stick}/desk.json --fingerprint ${desk.fingerprint}`);
  return receiver;
}
