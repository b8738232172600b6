// The rating of the unit by systemd.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

const unit = join(import.meta.dirname, '../../packaging/debian/larder.service');
const analyze = '/usr/bin/systemd-analyze';

t.test(
  'the exposure of the unit is at most 1.4 of 10',
  { skip: existsSync(analyze) ? false : 'not installed: systemd' },
  (t) => {
    const args = ['security', '--offline=true', '--threshold=14', '--no-pager', unit];
    const { status, stdout } = spawnSync(analyze, args, { encoding: 'utf8' });
    t.equal(status, 0);
    const [line = '', score] = /Overall exposure level for larder\.service: ([\d.]+)/.exec(stdout) ?? [];
    t.ok(Number(score) <= 1.4, line);
    t.end();
  },
);
