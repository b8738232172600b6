// The Debian package: built twice, looked at, and installed in a system where it runs, is upgraded, goes back and goes
// away; part of `npm run test:long`.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';

import t from 'tap';

import { groups } from '#cli/index.ts';
import { boot, inPath, makeSystem, missingForContainer, type Container } from '#test/fixtures/servers/container.ts';
import { copySources } from '#test/fixtures/sources.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { buildPackage } from './system/build-package.ts';
import { cloudInitSetsUpTwice } from './system/cloud-init.ts';
import { aLostHostComesBack } from './system/lost-host.ts';
import { noticeClosedConnections, publish } from './system/publish.ts';
import { stick } from './system/stick.ts';
import { aStoppedServiceShows } from './system/stopped-service.ts';

const needsDpkg = { skip: withoutPrograms('dpkg-deb') };
const needsContainer = { skip: missingForContainer() };
t.setTimeout(3_000_000);

const base = mkdtempSync(join(tmpdir(), 'larder-deb-'));
t.teardown(() => {
  rmSync(base, { recursive: true, force: true });
});

/** A later release: one migration more, and another number. */
function laterRelease(): string {
  const folder = join(base, 'later');
  copySources(folder);
  writeFileSync(
    join(folder, 'src/records/migrations/0999-tomorrow.sql'),
    '-- What a later release will know.\nCREATE TABLE tomorrow (id TEXT PRIMARY KEY);\n',
  );
  const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...about, version: '99.0.0' }));
  const unit = join(folder, 'packaging/debian/larder.service');
  const text = readFileSync(unit, 'utf8').replace(/^Description=.*$/m, 'Description=larder of a later release');
  writeFileSync(unit, text.replace('RestartSec=2s', 'RestartSec=3s'));
  return buildPackage(folder, { SOURCE_DATE_EPOCH: '1800000000' }, 0o022, '--compression', 'none');
}

let deb = '';
const tree = join(base, 'tree');

t.test('the same sources give the same package, wherever it is built', needsDpkg, (t) => {
  copySources(join(base, 'one'));
  copySources(join(base, 'elsewhere/other'), join(base, 'one'));
  deb = buildPackage(join(base, 'one'), { TZ: 'UTC', LC_ALL: 'C' }, 0o022);
  // Not compressed, which takes as long as everything else; the same archives compress to the same bytes.
  const elsewhere = { TZ: 'Asia/Tokyo', LC_ALL: 'C.UTF-8', HOME: '/nonexistent' };
  const other = buildPackage(join(base, 'elsewhere/other'), elsewhere, 0o077, '--compression', 'none');
  for (const archive of ['--ctrl-tarfile', '--fsys-tarfile']) {
    const [first, two] = [deb, other].map((file) =>
      createHash('sha256')
        .update(execFileSync('dpkg-deb', [archive, file], { maxBuffer: 1e9 }))
        .digest('hex'),
    );
    t.equal(two, first, archive);
  }
  rmSync(join(base, 'elsewhere'), { recursive: true });
  const size = statSync(deb).size;
  t.ok(size < 35_000_000, `${String(size)} bytes`);
  execFileSync('dpkg-deb', ['--extract', deb, tree]);
  t.end();
});

t.test('lintian has nothing to say', { skip: withoutPrograms('lintian') }, (t) => {
  const { status, stdout } = spawnSync('lintian', ['--tag-display-limit', '0', deb], { encoding: 'utf8' });
  t.equal(stdout, '');
  t.equal(status, 0);
  t.end();
});

t.test('it contains the files around the executable that Debian expects', needsDpkg, (t) => {
  const file = (path: string) => readFileSync(join(tree, path));
  const zipped = (path: string) => gunzipSync(file(path)).toString();
  t.equal(digest(join(tree, 'usr/bin/larder')), digest(join(base, 'one/dist/larder')));
  const native = join(import.meta.dirname, '../../node_modules/better-sqlite3/prebuilds', `linux-${process.arch}.node`);
  t.ok(file('usr/lib/larder/better_sqlite3.node').equals(readFileSync(native)));

  t.ok(file('usr/lib/larder/pkcs11').equals(readFileSync(join(import.meta.dirname, '../../packaging/pkcs11'))));

  const bill = JSON.parse(file('usr/share/doc/larder/sbom.cdx.json').toString()) as {
    components: { name: string; group?: string; version: string }[];
  };
  const copyright = file('usr/share/doc/larder/copyright').toString();
  t.match(copyright, /^Format: .*copyright-format\/1\.0\/\n/);
  for (const { name, group, version } of bill.components) {
    const full = group === undefined ? name : `${group}/${name}`;
    t.ok(copyright.includes(`Comment: ${full} ${version}\n`), `the licence of ${full} ${version} is there`);
  }
  t.match(zipped('usr/share/doc/larder/node.txt.gz'), /Node\.js is licensed for use as follows/);
  t.match(zipped('usr/share/doc/larder/changelog.gz'), /^larder \(\d+\.\d+\.\d+\) stable; urgency=medium\n\n {2}\* /);
  for (const path of ['man/man1/larder.1.gz', 'doc/larder/changelog.gz', 'doc/larder/node.txt.gz']) {
    t.equal(file(`usr/share/${path}`).readUInt32LE(4), 0, `${path} carries no time`);
  }

  const page = join(tree, 'usr/share/man/man1/larder.1.gz');
  if (inPath('man')) {
    const env = { ...process.env, LC_ALL: 'C.UTF-8', MANWIDTH: '80' };
    const { stdout, stderr } = spawnSync('man', ['--warnings', '-l', page], { encoding: 'utf8', env });
    t.equal(stderr, '', 'the manual page renders without a warning');
    t.match(stdout, /larder - keep and serve the packages/);
  }
  t.match(zipped('usr/share/man/man1/larder.1.gz'), /^\.SS go\\-back$/m);
  const commands = groups.flatMap((group) => group.commands.map(({ name }) => name.split(' ')[0]!));
  for (const name of commands)
    t.match(zipped(`usr/share/man/man1/larder-${name}.1.gz`), `.SS ${name}`.replaceAll('-', '\\-'));
  t.match(zipped('usr/share/man/man5/larder.toml.5.gz'), /^\.TH LARDER\.TOML 5/im);
  for (const path of [
    'cloud-init/user-data',
    'apparmor/larder.apparmor',
    'grafana/larder.json',
    'prometheus/larder.rules.yml',
  ]) {
    const source = readFileSync(join(import.meta.dirname, '../../packaging', path));
    t.ok(file(join('usr/share/larder', basename(path))).equals(source), path);
  }
  const completion = join(tree, 'usr/share/bash-completion/completions/larder');
  const typed = 'source "$1"; COMP_WORDS=("$2" go); COMP_CWORD=1; _larder; echo "${COMPREPLY[@]}"';
  t.equal(
    execFileSync('bash', ['-c', typed, 'bash', completion, join(tree, 'usr/bin/larder')], { encoding: 'utf8' }),
    'go-back\n',
  );
  t.match(file('usr/share/zsh/vendor-completions/_larder').toString(), /^#compdef larder\n/);
  t.match(file('usr/share/fish/vendor_completions.d/larder.fish').toString(), /^complete -c larder /m);
  t.end();
});

t.test('it is installed, runs, is upgraded, goes back, and leaves the store behind', needsContainer, async (t) => {
  const later = laterRelease();
  makeSystem(join(base, 'system'));
  const sticks = { '/media/usb': stick(t, 'ext4'), '/media/fat': stick(t, 'vfat') };
  const container = await boot(join(base, 'system'), sticks);
  t.teardown(() => container.stop());
  const { run } = container;
  const before = container.paths();
  const port = await freePort();
  const url = `http://127.0.0.1:${String(port)}`;

  // Installed: a user, a place, a unit that waits for a store.
  const [now, next] = [container.bring(deb), container.bring(later)];
  const installed = container.try('dpkg', '--install', now);
  t.equal(installed.code, 0);
  t.match(installed.out, /there is no store yet\. 'larder init --base-url https:\/\/HOST' makes one/);
  t.notMatch(installed.err + installed.out, /Syntax/, 'what the scripts call takes what they say');
  t.equal(run('systemctl', 'is-enabled', 'larder'), 'enabled\n');
  t.equal(container.try('systemctl', 'is-active', 'larder').out, 'inactive\n');
  t.equal(run('stat', '--format=%U %G %a', '/var/lib/larder'), 'larder larder 700\n');
  t.match(
    container.try('systemctl', 'start', 'larder'),
    { code: 1, err: /Assertion failed/ },
    'without a store it says so',
  );
  t.equal(container.try('systemctl', 'is-enabled', 'larder-backup.timer').out, 'disabled\n');

  // Two commands, and it serves, with no right that it does not need.
  t.match(
    run('runuser', '-u', 'larder', '--', 'larder', 'init', '--base-url', url),
    /'systemctl start larder' serves it/,
  );
  const servesAtOnce = async (message: string): Promise<void> => {
    await noticeClosedConnections();
    t.equal((await fetch(`${url}/readyz`)).status, 200, message);
  };
  run('systemctl', 'start', 'larder');
  await servesAtOnce('a start returns when it serves');
  const status = readStatus(container);
  t.match(status, /^Uid:\s+(?!0)\d+/m);
  t.match(status, /^CapEff:\s+0000000000000400$/m, 'it may bind low ports, and nothing else');
  t.match(status, /^NoNewPrivs:\s+1$/m);
  t.match(status, /^Seccomp:\s+2$/m);
  t.match(run('cat', `/proc/${mainPid(container)}/limits`), /^Max core file size +0 +0 /m);
  const { readRelease: release } = await publish(url, run('cat', '/var/lib/larder/admin.macaroon'));
  t.match(await release(), { status: 200, revision: 1 });
  run('systemctl', 'reload', 'larder');
  t.match(await eventually(() => journal(container), /configuration reloaded/), /configuration reloaded/);

  aStoppedServiceShows(t, container);

  // The keys as credentials: of the service, and of commands beside it and without it.
  run('install', '-d', '-m', '0700', '/etc/credstore.encrypted', '/root/safe');
  for (const key of ['site', 'master']) {
    const [from, to] = [`/var/lib/larder/${key}.key`, `/etc/credstore.encrypted/larder-${key}-key`];
    run('systemd-creds', 'encrypt', `--name=larder-${key}-key`, from, to);
    run('mv', from, '/root/safe/');
  }
  run('systemctl', 'restart', 'larder');
  await servesAtOnce('it serves with keys that are credentials');
  t.match(await release(), { status: 200, revision: 1 });
  t.match(run('larder', 'status'), /Serving +yes/, 'a command takes those of the service');
  run('systemctl', 'stop', 'larder');
  const [, advice = ''] = /: (systemd-run .*) larder …/.exec(container.try('larder', 'account', 'list').err) ?? [];
  t.match(run(...(advice.split(' ') as [string]), 'larder', 'status'), /Serving +no/, 'or follows the advice');
  run('systemctl', 'start', 'larder');
  await servesAtOnce('and again');

  // Upgraded: the new release serves the same store; the records as they were are kept.
  const first = mainPid(container);
  run('dpkg', '--install', next);
  t.equal(run('systemctl', 'show', '--property=NeedDaemonReload', '--value', 'larder'), 'no\n');
  t.equal(run('systemctl', 'show', '--property=Description', '--value', 'larder'), 'larder of a later release\n');
  t.equal(run('systemctl', 'show', '--property=RestartUSec', '--value', 'larder'), '3s\n', 'the new unit is in force');
  await servesAtOnce('an upgrade returns when the new release serves');
  t.match(run('larder', 'status'), /larder 99\.0\.0[^]*Serving +yes|Serving +yes[^]*larder 99\.0\.0/);
  t.not(mainPid(container), first, 'it was restarted');
  t.match(run('larder', 'status'), /Before upgrade +\/var\/lib\/larder\/before-upgrade\/0999-tomorrow\.db/);
  t.match(journal(container), /upgraded data of an older release/);
  t.match(await release(), { status: 200, revision: 1 });

  // And back: the older release refuses the newer data until its own is restored.
  run('systemctl', 'stop', 'larder');
  run('dpkg', '--install', now);
  t.match(container.try('systemctl', 'start', 'larder'), { code: 1, err: /Job for larder\.service failed/ });
  t.match(
    await eventually(() => journal(container), /newer release of larder \(it holds 0999-tomorrow\)/),
    /cannot open data written by a newer release/,
  );
  run('systemctl', 'stop', 'larder');
  t.match(container.try('larder', 'go-back').err, /cannot find the site key/, 'which seals what is left behind');
  t.match(run(...(advice.split(' ') as [string]), 'larder', 'go-back'), /as they were before the upgrade/);
  run('systemctl', 'start', 'larder');
  await servesAtOnce('the former release serves');
  t.match(await release(), { status: 200, revision: 1 });

  // Removed and installed again, it serves the same packages.
  run('dpkg', '--remove', 'larder');
  t.equal(container.try('systemctl', 'is-active', 'larder').out, 'inactive\n');
  run('dpkg', '--install', now);
  // A package that comes back serves again.
  await answers(`${url}/readyz`);

  await aLostHostComesBack(t, container, { url, package: now, answers });
  t.match(await release(), { status: 200, revision: 1 }, 'with the tokens of before');

  // Removed and purged: only the store, its owner, and files of the administrator are left.
  run('dpkg', '--remove', 'larder');
  t.equal(container.try('systemctl', 'is-active', 'larder').out, 'inactive\n');
  t.match(container.try('dpkg', '--purge', 'larder'), { code: 0, err: /the store in \/var\/lib\/larder is kept/ });
  const left = [...container.paths()].filter((path) => !before.has(path));
  const expected =
    /^\/(?:var\/lib\/larder(?:-backups)?(?:\/.*)?|home\/ada(?:\/.*)?|etc\/sudoers\.d\/ada|var\/lib\/systemd\/timers|etc\/sub[gu]id-?|etc\/credstore\.encrypted(?:\/.*)?|etc\/(?:passwd|group|shadow|gshadow)-|var\/lib\/systemd\/credential\.secret)$/;
  t.same(
    left.filter((path) => !expected.test(path)),
    [],
  );
  t.ok(left.includes('/var/lib/larder/larder.db'));
  t.match(run('cat', '/etc/passwd'), /^larder:/m, 'the store has its owner still');

  // Installed again after that, it serves the kept packages.
  run('dpkg', '--install', now);
  await answers(`${url}/readyz`);
  t.match(await release(), { status: 200, revision: 1 });
});

t.test(
  'cloud-init installs it from a stick and serves a store, and a second run changes nothing',
  needsContainer,
  (t) => cloudInitSetsUpTwice(t, base, deb),
);

function digest(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function mainPid({ run }: Container): string {
  return run('systemctl', 'show', '--property=MainPID', '--value', 'larder').trim();
}

function readStatus(container: Container): string {
  return container.run('cat', `/proc/${mainPid(container)}/status`);
}

function journal({ run }: Container): string {
  return run('journalctl', '--unit=larder', '--no-pager', '--output=cat');
}

/** Waits until something answers there. */
async function answers(url: string): Promise<void> {
  for (;;) {
    const status = await fetch(url).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) return;
    await sleep(100);
  }
}

/** The output, when it matches. */
async function eventually(say: () => string, pattern: RegExp): Promise<string> {
  for (;;) {
    const output = say();
    if (pattern.test(output)) return output;
    await sleep(200);
  }
}
