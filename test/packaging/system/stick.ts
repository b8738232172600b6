// A stick that root has mounted, as a folder of this host.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Test {
  teardown(work: () => unknown): unknown;
  comment(text: string): unknown;
}

const size = 32 * 1024 * 1024;

/**
 * A stick of 32 MiB with this file system. If the kernel does not support it, or loop devices are not allowed, a file
 * system in memory replaces it, which is also writable for root alone.
 */
export function stick(t: Test, kind: 'ext4' | 'vfat'): string {
  const place = mkdtempSync(join(tmpdir(), 'larder-stick-'));
  const image = `${place}.img`;
  t.teardown(() => {
    spawnSync('umount', ['--lazy', place]);
    rmdirSync(place);
    rmSync(image, { force: true });
  });
  writeFileSync(image, '');
  truncateSync(image, size);
  const made = spawnSync(`/usr/sbin/mkfs.${kind}`, kind === 'ext4' ? ['-q', image] : [image]);
  const mounted = made.status === 0 && spawnSync('mount', ['-o', 'loop', '-t', kind, image, place]).status === 0;
  if (!mounted) {
    t.comment(`this machine mounts no ${kind}: a file system in memory stands in for it`);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${String(size)},mode=755,uid=0,gid=0`, 'larder-stick', place]);
  }
  return place;
}
