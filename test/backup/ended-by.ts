// A command that a signal ends, as soon as it says that it has come to a step.
import { Readable } from 'node:stream';

import { run } from '#cli/frame/run.ts';
import { groups } from '#cli/index.ts';

export async function endedBy(
  signal: NodeJS.Signals,
  step: string,
  line: readonly string[],
): Promise<{ code: number; err: string }> {
  let [err, sent] = ['', false];
  const stderr = {
    write(text: string) {
      err += text;
      if (sent || !text.includes(`"progress":"${step}"`)) return;
      sent = true;
      process.kill(process.pid, signal);
    },
  };
  const world = { stdout: { write: () => undefined }, stderr, stdin: Readable.from([]), env: {} };
  const code = await run([...line, '--json'], world, groups);
  return { code, err };
}
