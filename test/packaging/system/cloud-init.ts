// A host that cloud-init sets up from a stick: the part of the tests of the Debian package for hosts without a person at the keyboard.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Test } from 'tap';

import { freePort } from '#test/fixtures/free-port.ts';
import { boot, makeSystem, type Container } from '#test/fixtures/servers/container.ts';

const userData = join(import.meta.dirname, '../../../packaging/cloud-init/user-data');
/** Only the modules that run the lines of the file: the container shares the network of this machine. */
const configuration = `network: {config: disabled}
datasource_list: [NoCloud]
cloud_init_modules: []
cloud_config_modules: [runcmd]
cloud_final_modules: [scripts-user]
`;

/** Boots a system in the folder, which sets itself up from a stick, twice: the second run changes nothing. */
export async function cloudInitSetsUpTwice(t: Test, folder: string, deb: string): Promise<void> {
  const [system, stick] = [join(folder, 'cloud'), join(folder, 'stick')];
  makeSystem(system, ['cloud-init', 'libstdc++6']);
  mkdirSync(stick);
  const url = `http://127.0.0.1:${String(await freePort())}`;
  copyFileSync(deb, join(stick, basename(deb)));
  const seed = join(system, 'var/lib/cloud/seed/nocloud');
  mkdirSync(seed, { recursive: true });
  const text = readFileSync(userData, 'utf8');
  t.match(text, '--base-url https://store.site\n');
  writeFileSync(join(seed, 'user-data'), text.replace('https://store.site', url));
  writeFileSync(join(seed, 'meta-data'), '');
  writeFileSync(join(system, 'etc/cloud/cloud.cfg.d/99-larder.cfg'), configuration);

  const container = await boot(system, { '/media/usb': stick });
  t.teardown(() => container.stop());
  t.match(container.run('cloud-init', 'status', '--wait'), 'status: done');
  t.equal((await fetch(`${url}/readyz`)).status, 200, 'it serves after the first boot');
  t.match(container.run('larder', 'config', 'get', 'sessions.idle_minutes'), '15');
  t.equal(container.run('systemctl', 'is-enabled', 'larder', 'larder-backup.timer'), 'enabled\nenabled\n');
  const before = stateOf(container);
  container.run('cloud-init', 'clean');
  container.run('cloud-init', 'init', '--local');
  container.run('cloud-init', 'init');
  container.run('cloud-init', 'modules', '--mode=config');
  container.run('cloud-init', 'modules', '--mode=final');
  t.notMatch(container.run('cat', '/var/log/cloud-init.log'), /Failed to run|Running module scripts-user .* failed/);
  t.strictSame(stateOf(container), before, 'a second run changes nothing');
}

/** The package, the process that serves, the configuration and the end of the audit log. */
const stateOf = ({ run }: Container): string[] => [
  run('dpkg-query', '--show', 'larder'),
  run('systemctl', 'show', '--property=MainPID,ExecMainStartTimestampMonotonic', 'larder'),
  run('stat', '--format=%i %Y %s', '/var/lib/larder/larder.toml', '/var/lib/larder/admin.macaroon'),
  run('larder', 'audit', 'verify').split(':', 1)[0] ?? '',
  ...changesOfPeople(run('larder', 'audit', 'list', '--json')),
];

/** The jobs of a served store add entries whenever they are due. */
const changesOfPeople = (text: string): string[] => {
  const { entries } = JSON.parse(text) as { entries: { at: string; actor: string; action: string; object: string }[] };
  return entries
    .filter(({ actor }) => actor !== 'larder')
    .map(({ at, actor, action, object }) => [at, actor, action, object].join(' '));
};
