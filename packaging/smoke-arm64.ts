// All journeys with the executable for arm64, which an emulator runs on another machine; part of `.ci/run --release`, because it takes
// many times as long. Names of journeys as arguments run only these: `npm run smoke:emulated -- publish-a-snap`.
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { wayToRun } from './build.ts';
import { root } from './bundle.ts';

const executable = join(root, process.arch === 'arm64' ? 'dist/larder' : 'dist/larder-arm64');
if (!existsSync(executable)) {
  console.error(`larder: there is no ${executable}; npm run build:executable -- --arch arm64 makes it`);
  process.exit(1);
}
const names = process.argv.slice(2);
const way = wayToRun('arm64');
const skip = way === undefined && 'not installed: qemu-user-static libc6-arm64-cross libstdc++6-arm64-cross';
t.setTimeout(0);

void t.test('each journey works with the executable for arm64', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'larder-arm64-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true });
  });
  // A signal for the script must reach the program.
  const script = join(folder, 'larder');
  writeFileSync(script, `#!/bin/sh\nexec ${[...way!, executable].map((word) => `'${word}'`).join(' ')} "$@"\n`, {
    mode: 0o755,
  });
  const env = { ...process.env, LARDER_EXECUTABLE: script, TAP_TIMEOUT: '3600' };
  const journeys = join(root, 'test/journeys');
  const chosen = readdirSync(journeys).filter(
    (file) => file.endsWith('.test.ts') && (names.length === 0 || names.includes(file.split('.')[0]!)),
  );
  t.not(chosen.length, 0);
  for (const file of chosen) {
    const began = Date.now();
    await t.spawn(process.execPath, [join(journeys, file)], { env }, `the journey ${file}`);
    t.comment(`${file}: ${String(Math.round((Date.now() - began) / 1000))} s`);
  }
});
