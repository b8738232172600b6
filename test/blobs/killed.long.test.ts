import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { contentOf, digest, filesBelow, listed, store, temporaryFolder } from './store.ts';

const long = process.env['LARDER_LONG'] === '1';
const rounds = long ? 100 : 3;
const timeoutMs = 600_000;
if (long) t.setTimeout(timeoutMs);

t.test(
  'a store killed while it receives has all it acknowledged, and after a sweep nothing but whole blobs',
  async (t) => {
    const directory = await temporaryFolder(t);
    const acknowledged = new Set<string>();
    let halves = 0;
    for (let round = 0; round < rounds; round += 1) {
      const program = join(import.meta.dirname, 'endless-uploads.ts');
      const child = spawn(process.execPath, [program, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      await once(child.stdout, 'data');
      await delay(Math.random() * 200);
      child.kill('SIGKILL');
      await once(child, 'close');
      for (const line of output.split('\n').slice(0, -1)) acknowledged.add(line);

      const { blobs } = await store(t, { directory });
      const left = (await filesBelow(join(directory, 'blobs/tmp'))).length;
      halves += left;
      t.equal(await blobs.sweepTemporary(() => false), left);
      t.same(await filesBelow(join(directory, 'blobs/tmp')), []);
    }
    t.ok(halves > 0, 'it was killed in the middle of uploads');

    const { blobs } = await store(t, { directory });
    const stored = await listed(blobs.list());
    for (const { sha3_384 } of stored) {
      const opened = await blobs.open(sha3_384);
      t.equal(opened && digest('sha3-384', await contentOf(opened.stream)), sha3_384);
    }
    const storedDigests = new Set(stored.map((blob) => blob.sha3_384));
    t.same(
      [...acknowledged].filter((sha3_384) => !storedDigests.has(sha3_384)),
      [],
      `all of ${acknowledged.size} are there`,
    );
  },
);
