// The systemd unit of the Debian package, unchanged from the sources.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

const unit = join(import.meta.dirname, '../../packaging/debian/larder.service');
const settings = readFileSync(unit, 'utf8').split('\n');

t.test('a worker that ends does not end the others, and a stop goes to the first process', (t) => {
  for (const setting of ['KillMode=mixed', 'OOMPolicy=continue']) t.ok(settings.includes(setting), setting);
  t.end();
});

t.test('a start returns when the store is served, after any time of an upgrade', (t) => {
  const waits = ['ExecStartPost=/usr/bin/larder ready --quiet --process $MAINPID', 'TimeoutStartSec=infinity'];
  for (const setting of waits) t.ok(settings.includes(setting), setting);
  t.end();
});

t.test('keys come as encrypted credentials, stay out of core dumps, and may be missing', (t) => {
  t.ok(settings.includes('LimitCORE=0'));
  const credentials = settings.filter((line) => line.startsWith('LoadCredential'));
  t.same(credentials, [
    'LoadCredentialEncrypted=larder-site-key',
    'LoadCredentialEncrypted=larder-master-key',
    'LoadCredentialEncrypted=larder-master-passphrase',
  ]);
  t.end();
});

t.test('the threads of the service share one arena of malloc, so that none keeps memory that another returned', (t) => {
  t.ok(settings.includes('Environment=MALLOC_ARENA_MAX=1'));
  t.end();
});

t.test('the service cannot run files that it can write', (t) => {
  const noExec = settings.find((line) => line.startsWith('NoExecPaths='))?.split(/[= ]/) ?? [];
  for (const path of ['/', '/var/lib/larder', '/tmp', '/var/tmp', '/dev/shm']) t.ok(noExec.includes(path), path);
  t.notOk(settings.some((line) => /^(?:ReadWritePaths|CacheDirectory|LogsDirectory|RuntimeDirectory)=/.test(line)));
  t.end();
});

t.test('the folder for nightly backups is made if it is not there, and a bucket is none', (t) => {
  const place = t.testdir();
  const service = readFileSync(join(unit, '../larder-backup.service'), 'utf8');
  const [, script = ''] = /^ExecStartPre=-\+\/bin\/sh -c '([^']+)'$/m.exec(service) ?? [];
  t.match(script, ' -o larder -g larder ');
  const prepare = (backups: string): Buffer =>
    // This machine has no user of the package.
    execFileSync('/bin/sh', ['-c', script.replace(' -o larder -g larder', '')], {
      cwd: place,
      env: { LARDER_BACKUPS: backups, PATH: process.env['PATH'] },
    });
  const missing = join(place, 'mnt/other');
  prepare(missing);
  t.equal(statSync(missing).mode & 0o777, 0o700);
  const present = join(place, 'present');
  mkdirSync(present, { mode: 0o755 });
  prepare(present);
  t.equal(statSync(present).mode & 0o777, 0o755, 'an existing folder stays as it is');
  prepare('https://s3.internal/backups');
  t.notOk(existsSync(join(place, 'https:')));
  t.end();
});

t.test(
  'every night the timer makes an increment, or the full backup that is due each week, with a bounded number',
  (t) => {
    const linesOf = (name: string): string[] => readFileSync(join(unit, '..', name), 'utf8').split('\n');
    const timer = linesOf('larder-backup.timer');
    for (const setting of ['OnCalendar=*-*-* 02:00', 'RandomizedDelaySec=1h', 'Persistent=yes'])
      t.ok(timer.includes(setting), setting);
    const service = linesOf('larder-backup.service');
    t.ok(service.includes('ExecStart=/usr/bin/larder backup ${LARDER_BACKUPS} --increment --keep ${LARDER_KEEP}'));
    t.ok(service.includes('Environment=LARDER_BACKUPS=/var/lib/larder-backups LARDER_KEEP=7'));
    t.end();
  },
);
