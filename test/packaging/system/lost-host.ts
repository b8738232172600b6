// A host is lost and restored from a stick: the part of the journey of the Debian package from a served store to the
// same store on a wiped system.
import type { Test } from 'tap';

import { errorNameIn } from '#test/fixtures/system-words.ts';
import type { Container } from '#test/fixtures/servers/container.ts';

export interface Host {
  /** The address of the store. */
  url: string;
  /** The file of the package in the container. */
  package: string;
  /** Waits until something answers with 200 there. */
  answers: (url: string) => Promise<void>;
}

const data = '/var/lib/larder';

export async function aLostHostComesBack(t: Test, container: Container, host: Host): Promise<void> {
  // ada administers the host with sudo, and the sticks belong to root.
  container.run('useradd', '--create-home', '--shell', '/bin/bash', 'ada');
  container.run('sh', '-c', 'echo "ada ALL=(ALL) NOPASSWD: ALL" > /etc/sudoers.d/ada');
  keysBack(container);
  await carriesOut(t, container);
  await saysWhatIsFull(t, container);
  await backsUpByItself(t, container);
  for (const stick of ['/media/usb', '/media/fat']) await isWipedAndRestored(t, container, host, stick);
}

const asAda = (container: Container, ...words: string[]) =>
  container.try('runuser', '-u', 'ada', '--', 'sudo', '--non-interactive', ...words);

/** The keys lie in the data directory again, and their copies on the stick. */
function keysBack({ run }: Container): void {
  run('systemctl', 'stop', 'larder');
  run(
    'sh',
    '-c',
    `for key in site master; do install -o larder -g larder -m 0400 /root/safe/$key.key ${data}/$key.key; done`,
  );
  run('rm', '-r', '/etc/credstore.encrypted');
  run('systemctl', 'start', 'larder');
}

/** Everything is exported to a stick of root: by root, and by another user with sudo. */
async function carriesOut(t: Test, container: Container): Promise<void> {
  const { run } = container;
  run('larder', 'brand', 'create', '--account', 'larder-admin', '--name', 'Acme');
  run('larder', 'key', 'create', 'larder-admin', 'serial-key');
  for (const stick of ['/media/usb', '/media/fat']) {
    t.match(run('larder', 'backup', `${stick}/monday.tar`), /It was read back as it was written/, stick);
    t.match(run('larder', 'backup', '--check', `${stick}/monday.tar`), /is intact/);
    for (const words of [
      ['backup', `${stick}/tuesday.tar`, '--since', `${stick}/monday.tar`],
      ['key', 'request', 'serial-key', '--brand', 'larder-admin', '--local', '--folder', `${stick}/out`],
      ['audit', 'export', `${stick}/audit.jsonl`],
      ['admin-macaroon', '--add', '--file', `${stick}/second.macaroon`],
    ]) {
      const { code, err } = asAda(container, 'larder', ...words);
      t.equal(code, 0, `${stick}: sudo larder ${words.join(' ')}: ${err}`);
    }
    run('cp', '--recursive', '/root/safe', `${stick}/safe`);
  }
  t.match(run('larder', 'audit', 'list', '--action', 'make_backup'), /cli:ada +make_backup/, 'the log knows who asked');
  t.equal(run('find', data, '!', '-user', 'larder'), '', 'and nothing in the store is anybody else’s');
  const refused = container.try('larder', 'backup', '/media/none/monday.tar');
  t.match(refused, { code: 1, err: /cannot write \/media\/none\/monday\.tar: there is no folder \/media\/none/ });
}

/** A stick that is full, or becomes full, is said to be; nothing is left on it. */
async function saysWhatIsFull(t: Test, container: Container): Promise<void> {
  const { run } = container;
  for (const stick of ['/media/usb', '/media/fat']) {
    container.try('dd', 'if=/dev/zero', `of=${stick}/filler`, 'bs=64k');
    const before = run('ls', stick);
    const backup = container.try('larder', 'backup', `${stick}/wednesday.tar`);
    t.match(backup, { code: 1, err: /are free in \/media\/\w+; make room/ });
    const exported = container.try('larder', 'audit', 'export', `${stick}/again.jsonl`);
    t.match(exported, { code: 1, err: /again\.jsonl/ });
    t.equal(errorNameIn(backup.err + exported.err), undefined, 'without a word of the system’s own');
    t.equal(run('ls', stick), before);
    run('rm', `${stick}/filler`);
  }
}

/** The timer is off until it is turned on; its service backs up, checks and keeps the newest. */
async function backsUpByItself(t: Test, { run }: Container): Promise<void> {
  run('systemctl', 'enable', '--now', 'larder-backup.timer');
  t.equal(run('systemctl', 'is-active', 'larder-backup.timer'), 'active\n');
  run('systemctl', 'start', 'larder-backup.service');
  t.match(run('ls', '/var/lib/larder-backups'), /^larder-\d{8}T\d{6}Z\.tar\n$/);
  run('systemctl', 'disable', '--now', 'larder-backup.timer');
}

async function isWipedAndRestored(t: Test, container: Container, host: Host, stick: string): Promise<void> {
  const { run } = container;
  run('dpkg', '--purge', 'larder');
  run('rm', '-rf', data);
  run('userdel', 'larder');
  run('dpkg', '--install', host.package);
  const restored = asAda(
    container,
    ...['larder', 'restore', `${stick}/tuesday.tar`, '--base', `${stick}/monday.tar`, '--keys', `${stick}/safe`],
  );
  t.match(restored, {
    code: 0,
    out: /'systemctl start larder' serves it\. 'larder admin-macaroon' makes a credential/,
  });
  t.equal(run('find', data, '!', '-user', 'larder'), '', `${stick}: all of it belongs to the service`);
  run('systemctl', 'start', 'larder');
  await host.answers(`${host.url}/readyz`);
  t.match(container.try('larder', 'verify'), { code: 0 });
  t.match(run('larder', 'audit', 'list', '--action', 'restore_store'), /cli:ada +restore_store +store/);
  t.match(asAda(container, 'larder', 'admin-macaroon', '--yes'), { code: 0 });
}
