// A process with a blocked event loop ends by itself.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import t from 'tap';

const platform = join(import.meta.dirname, '../../src/platform');

/** Runs a script with a watchdog that waits 100 ms. */
function run(script: string, asText: boolean) {
  const program = `
    import { createLog } from ${JSON.stringify(join(platform, 'log.ts'))};
    import { startWatchdog } from ${JSON.stringify(join(platform, 'watchdog.ts'))};
    import { once } from 'node:events';
    const limits = { beatMs: 10, maxMissedBeats: 10 };
    const watchdog = startWatchdog({ log: createLog('info'), asText: ${String(asText)}, worker: 2, limits });
    ${script}`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
}

t.test('a blocked event loop ends the process with a sentence in the format of the log', (t) => {
  const { signal, stderr } = run('for (;;);', false);
  t.equal(signal, 'SIGKILL', 'which systemd counts as a failure');
  t.match(JSON.parse(stderr), {
    level: 'fatal',
    worker: 2,
    msg: 'the event loop was blocked for too long, so this process ends; start it again, as systemd does',
  });
  t.match(run('for (;;);', true).stderr, /^\S+ \S+ FATAL the event loop was blocked for too long/);
  t.end();
});

t.test('a watchdog that was stopped ends nothing, and does not keep the process alive', (t) => {
  t.match(run('', false), { status: 0, stderr: '' });
  const blocked = 'const end = performance.now() + 1000; while (performance.now() < end);';
  t.match(run(`watchdog.stop(); await new Promise(setImmediate); ${blocked}`, false), { status: 0, stderr: '' });
  t.end();
});
