// Every fault of the disk and of the files on it is produced for real, and every place is asked about it.
import {
  appendFileSync,
  chownSync,
  existsSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { fill } from '#test/fixtures/small-disk.ts';
import { until } from '#test/fixtures/until.ts';
import { reconfigure, testRows, type Row } from './rows.ts';

const MiB = 1024 * 1024;
const asRoot = process.getuid?.() === 0 ? false : 'only root can give a file away';

const rows: Row[] = [
  {
    code: 'disk-low',
    says: /^[\d.]+ [KMGT]iB of [\d.]+ [KMGT]iB are free; uploads stop at/,
    // So large that writes of the store in between do not change the figure.
    onDiskOf: '4g',
    produce: (store) => reconfigure(store, (text) => text.replace(/^# reserve = .*$/m, 'reserve = "2560 MiB"')),
  },
  {
    code: 'disk-reserve',
    says: /has only the space left that uploads\.reserve keeps free: uploads are refused/,
    onDiskOf: '200m',
    configure: (text) => text.replace(/^# reserve = .*$/m, 'reserve = "40 MiB"'),
    async produce(store, t) {
      await until(() => existsSync(join(store.directory, 'blobs/ballast')));
      const filler = join(store.directory, '../filler');
      const { bavail, bsize } = statfsSync(store.directory);
      appendFileSync(filler, Buffer.alloc(bavail * bsize - 30 * MiB, 1));
      const sent = await fetch(`${store.url}/unscanned-upload/`, { method: 'POST', body: form('x') });
      t.equal(sent.status, 507);
      return () => rmSync(filler);
    },
  },
  {
    code: 'disk-full',
    says: /was full, and the reserved ballast was released/,
    onDiskOf: '160m',
    configure: (text) => text.replace(/^# reserve = .*$/m, 'reserve = "1 MiB"'),
    async produce(store) {
      const ballast = join(store.directory, 'blobs/ballast');
      await until(() => existsSync(ballast));
      const ada = await store.as('ada');
      const filler = fill(join(store.directory, '..'));
      for (let nth = 0; existsSync(ballast) && nth < 400; nth++) await ada.post('/v1/snap', { name: `name-${nth}` });
      return () => rmSync(filler);
    },
  },
  {
    code: 'scrub-stuck',
    says: /cannot all be found/,
    limits: { scrub: { rest: 5, retry: 5 } },
    isNoticedLater: true,
    produce({ directory }) {
      const taken = readdirSync(join(directory, 'blobs/sha3'));
      const free = ['00', '01', '02'].find((name) => !taken.includes(name))!;
      // A file in the place of a folder: listing it fails.
      const file = join(directory, 'blobs/sha3', free);
      writeFileSync(file, '');
      return () => rmSync(file);
    },
  },
  {
    code: 'foreign-owner',
    says: /^the directory belongs to root, and master\.key to 1234/,
    skip: asRoot,
    produce({ directory }) {
      const file = join(directory, 'master.key');
      const { uid, gid } = statSync(file);
      chownSync(file, 1234, 1234);
      return () => chownSync(file, uid, gid);
    },
  },
];

testRows(rows);

function form(content: string): FormData {
  const data = new FormData();
  data.set('binary', new Blob([content]), 'file');
  return data;
}
