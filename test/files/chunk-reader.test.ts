// Files that are read into the same two buffers: a chunk stays valid until the next but one is requested.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { ChunkReader } from '#files/durable-streams.ts';

t.test('ranges of files are read completely, in order, and the previous chunk stays valid', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'larder-chunks-'));
  t.teardown(() => {
    rmSync(folder, { recursive: true });
  });
  const MiB = 1024 * 1024;
  const files = [3 * MiB + 17, 5, 2 * MiB].map((size, at) => {
    const [file, bytes] = [join(folder, String(at)), randomBytes(size)];
    writeFileSync(file, bytes);
    return { file, bytes };
  });
  const reader = new ChunkReader();
  const memories = new Set<ArrayBufferLike>();
  let before: { given: Buffer; was: Buffer } | undefined;
  for (const [offset, size] of [
    [0, 4 * MiB],
    [3, 2 * MiB],
    [1, 1],
    [0, 0],
  ] as const) {
    for (const { file, bytes } of files) {
      const read: Buffer[] = [];
      for await (const chunk of reader.read(file, offset, size)) {
        if (before !== undefined) t.ok(before.given.equals(before.was));
        before = { given: chunk, was: Buffer.from(chunk) };
        read.push(before.was);
        memories.add(chunk.buffer);
      }
      t.ok(Buffer.concat(read).equals(bytes.subarray(offset, offset + size)));
    }
  }
  t.equal(memories.size, 2);
});
