// A transfer comes from a write-once disc, and from a stick with FAT.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';
import { partSizeFor } from '#cli/transfers/make/writing-options.ts';
import { folder } from '#test/cli/process.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { stick as formatted } from '#test/packaging/system/stick.ts';
import { offered, twoSites } from '#test/transfers/sites.ts';

const MiB = 1024 * 1024;
const isRoot = process.getuid?.() === 0;

t.test(
  'a transfer comes from a write-once disc, and from a stick with FAT',
  { skip: withoutPrograms('genisoimage') },
  async (t) => {
    const { depot, here: receiver, stick, carry } = await twoSites(t);
    await carry(offered('hello-on', 12));
    const made = await depot.done(`transfer make ${join(stick, 'in.tar')}`);
    const burnt = join(folder(t), 'burnt');
    mkdirSync(burnt);
    cpSync(join(stick, 'in.tar'), join(burnt, 'DEPOT-1.TAR;1'));
    t.match(
      await receiver.done(`transfer check ${burnt}`),
      { transfers: [{ id: made.id }] },
      'in capitals, with its version',
    );
    const image = join(stick, 'disc.iso');
    execFileSync('genisoimage', ['-quiet', '-o', image, join(stick, 'in.tar')], { stdio: 'pipe' });
    const place = mkdtempSync(join(tmpdir(), 'larder-disc-'));
    t.teardown(() => {
      spawnSync('umount', ['--lazy', place]);
      rmSync(place, { recursive: true });
    });
    if (spawnSync('mount', ['-o', 'loop,ro', '-t', 'iso9660', image, place]).status !== 0) {
      t.comment('this machine mounts no disc: its file is taken from the image');
      const bytes = execFileSync('isoinfo', ['-i', image, '-x', '/IN.TAR;1'], { maxBuffer: 64 * MiB });
      writeFileSync(join(place, 'IN.TAR;1'), bytes);
    }
    t.match(await receiver.done(`transfer receive ${place}`), { id: made.id, lacking: [] });
    t.match(await receiver.done(`transfer accept ${made.id} --yes`), { transfer: made.id });

    t.equal(
      partSizeFor('/media/stick/in.tar', undefined, () => 0x4d44),
      4095 * MiB,
      'FAT holds no file of 4 GiB',
    );
    t.equal(
      partSizeFor('/media/stick/in.tar', undefined, () => 0xef53),
      undefined,
    );
    t.throws(() => partSizeFor('/media/stick/in.tar', 4400, () => 0x4d44), /FAT; the largest part there is 4095 MiB/);
    if (!isRoot) return;
    const fat = formatted(t, 'vfat');
    await carry(offered('hello-on', 13));
    const second = await depot.done(`transfer make ${fat}`);
    t.match(await receiver.done(`transfer receive ${fat}`), { id: second.id, lacking: [] });
  },
);
