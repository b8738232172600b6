// The AppArmor profile of the Debian package, enforced by Debian's kernel in a virtual machine: a store is served, and no access that
// it needs is denied; part of `npm run test:long`.
import { mkdtempSync, readFileSync, rmSync, copyFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

import t, { type Test } from 'tap';

import { snapFixture } from '#test/fixtures/appliance.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { runUnbooted } from '#test/fixtures/servers/container.ts';
import { bootMachine, makeMachine, missingForMachine, type Machine } from '#test/fixtures/servers/machine.ts';
import { copySources } from '#test/fixtures/sources.ts';
import { buildPackage } from './system/build-package.ts';
import { publish } from './system/publish.ts';

const skip = missingForMachine();
t.setTimeout(3_000_000);

const root = join(import.meta.dirname, '../..');
/** The lines of the guide: those that load the profile and start the service with it, and those that enforce it. */
const [loads = '', enforces = ''] = /^\*\*AppArmor\.\*\*[^]*?(?=^\*\*Without)/m
  .exec(readFileSync(join(root, 'docs/installing.md'), 'utf8'))![0]
  .matchAll(/^```sh\n([^]*?)^```$/gm)
  .map(([, lines = '']) => lines);
const restarts = 'systemctl restart larder\n';

/** Keys in a token, as the administrator's guide has it; SoftHSM keeps its files in the data directory. */
const makeToken = `chmod 0755 /etc/softhsm
printf 'directories.tokendir = /var/lib/larder/token\\n' >/etc/softhsm/softhsm2.conf
chmod 0644 /etc/softhsm/softhsm2.conf
install -d -m 0700 -o larder -g larder /var/lib/larder/token
install -d /etc/larder /etc/systemd/system/larder.service.d
install -d -m 0700 /etc/credstore.encrypted
cat >/etc/larder/key-manager.env <<END
LARDER_PKCS11_MODULE=/usr/lib/softhsm/libsofthsm2.so
LARDER_PKCS11_TOKEN=acme
LARDER_PKCS11_PIN_FILE=/run/credentials/larder.service/larder-pkcs11-pin
END
cat >/etc/systemd/system/larder.service.d/key-manager.conf <<END
[Service]
EnvironmentFile=/etc/larder/key-manager.env
LoadCredentialEncrypted=larder-pkcs11-pin
ExecPaths=/usr/bin/dash /usr/bin/pkcs11-tool
END
softhsm2-util --init-token --free --label acme --so-pin 00000000 --pin 739251 >&2
openssl genrsa -out /root/serials.pem 4096
softhsm2-util --import /root/serials.pem --token acme --pin 739251 --label acme-serials --id 01 >&2
sed -i -e 's|^# manager = .*|manager = "/usr/lib/larder/pkcs11"|' -e 's/^# timeout_seconds = 10$/timeout_seconds = 120/' \\
  -e 's/^# environment = .*/environment = ["LARDER_PKCS11_MODULE", "LARDER_PKCS11_TOKEN", "LARDER_PKCS11_PIN_FILE"]/' \\
  -e 's/^# workers = .*/workers = 2/' -e 's/^# snap = .*/snap = true/' /var/lib/larder/larder.toml
printf 739251 >/etc/larder/pin
chown larder /etc/larder/pin
set -a
. /etc/larder/key-manager.env
LARDER_PKCS11_PIN_FILE=/etc/larder/pin
larder brand create --account larder-admin --name Acme >&2
chown -R larder:larder /var/lib/larder/token
larder key create larder-admin serials --in-manager acme-serials --json
`;

/** A certificate of the site outside of the data directory, and a store that is told to use it. */
const moveCertificate = `install -d /srv/tls
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=site \\
  -addext subjectAltName=IP:127.0.0.1 -keyout /srv/tls/server.key -out /srv/tls/server.pem
chown -R larder:larder /srv/tls
sed -i -e 's|^# certificate_file = .*|certificate_file = "/srv/tls/server.pem"|' \\
  -e 's|^# key_file = .*|key_file = "/srv/tls/server.key"|' /var/lib/larder/larder.toml
`;

/** Makes the requests of this process trust a certificate of the machine. */
const trust = async ({ run }: Machine, file: string): Promise<void> => {
  setDefaultCACertificates([...getCACertificates('default'), await run(`cat ${file}`)]);
};

t.test(
  'a store is served under the enforced profile, and what the profile does not name is denied',
  { skip },
  async (t) => {
    const base = mkdtempSync(join(tmpdir(), 'larder-apparmor-'));
    t.teardown(() => rmSync(base, { recursive: true, force: true }));
    const [sources, system] = [join(base, 'sources'), join(base, 'system')];
    copySources(sources);
    makeMachine(system, ['apparmor', 'libstdc++6', 'opensc', 'openssl', 'softhsm2']);
    copyFileSync(buildPackage(sources, {}, 0o022, '--compression', 'none'), join(system, 'root/larder.deb'));
    const port = await freePort();
    const url = `https://127.0.0.1:${String(port)}`;
    // Without the emulation, which makes it slow: all that needs no kernel.
    const inside = (lines: string): string => runUnbooted(system, 'sh', '-ec', lines);
    inside(`dpkg --install /root/larder.deb
systemctl disable larder
larder init --base-url ${url} --listen 0.0.0.0:443`);
    const { 'sha3-384': key } = JSON.parse(inside(makeToken)) as { 'sha3-384': string };
    // Each denial is in the log of the kernel.
    const words = ['apparmor=1', 'security=apparmor', 'sysctl.kernel.printk_ratelimit=0', 'log_buf_len=4M'];
    const machine = await bootMachine(system, words, { [port]: 443 });
    t.teardown(() => machine.stop());
    const { run } = machine;
    t.equal(await run('aa-enabled'), 'Yes\n');

    const encrypts = `systemd-creds encrypt --name=larder-pkcs11-pin /etc/larder/pin /etc/credstore.encrypted/larder-pkcs11-pin\n`;
    t.ok(loads.endsWith(restarts) && enforces !== '');
    await run(encrypts + loads.slice(0, -restarts.length) + enforces + restarts);
    await isEnforced(t, machine);
    await trust(machine, '/var/lib/larder/tls/ca.pem');
    await serves(t, machine, url, key);
    t.strictSame(await denials(machine), []);

    await run(moveCertificate);
    t.match(await machine.try(restarts), { code: 1 }, 'the certificate cannot be read');
    t.match(await run('journalctl --unit=larder --output=cat'), /\/srv\/tls\/server\.(?:pem|key)/);
    await run(`systemctl stop larder
systemctl reset-failed larder || true
printf '/srv/tls/* r,\\n' >>/etc/apparmor.d/local/larder\napparmor_parser --replace /etc/apparmor.d/larder\n${restarts}`);
    await isEnforced(t, machine);
    await trust(machine, '/srv/tls/server.pem');
    t.equal((await fetch(`${url}/readyz`)).status, 200, 'a line in local/larder makes it work');
    t.match(await machine.try(`aa-exec --profile=larder -- dash -c 'read line </etc/shadow'`), { code: 2 });
    t.match(await machine.try(`aa-exec --profile=larder -- dash -c 'echo a >/root/a'`), { code: 2 });
    await run('systemctl stop larder');
    t.equal((await machine.try('systemctl is-failed larder')).out, 'inactive\n');
    const denied = new Set((await denials(machine)).map((line) => / name="([^"]*)"/.exec(line)?.[1] ?? line));
    t.strictSame([...denied].map((path) => path.replace(/\.(?:pem|key)$/, '')).sort(), [
      '/etc/shadow',
      '/root/a',
      '/srv/tls/server',
    ]);
  },
);

async function isEnforced(t: Test, { run }: Machine): Promise<void> {
  const processes =
    'cat $(systemctl show --property=ControlGroup --value larder | sed "s|.*|/sys/fs/cgroup&/cgroup.procs|")';
  const profiles = await run(`for process in $(${processes}); do cat "/proc/$process/attr/current" || true; done`);
  t.match(profiles, /^(?:larder \(enforce\)\n){3,}$/, 'the process of the unit, its workers, and a key manager');
}

/** Lines of the kernel about accesses that the profile has denied. */
const denials = async ({ run }: Machine): Promise<string[]> =>
  (await run('dmesg')).split('\n').filter((line) => line.includes('apparmor="DENIED"'));

/** A publisher, a device, a signature in the token, and the commands of an administrator. */
async function serves(t: Test, { run }: Machine, url: string, key: string): Promise<void> {
  t.equal((await fetch(`${url}/readyz`)).status, 200);
  const { readRelease, download } = await publish(url, await run('cat /var/lib/larder/admin.macaroon'));
  t.match(await readRelease(), { status: 200, revision: 1 });
  const file = await fetch(download);
  t.equal(file.status, 200, download);
  t.strictSame(Buffer.from(await file.arrayBuffer()), Buffer.from(await snapFixture('app-xz')));
  const authorization = `Macaroon ${(await run('larder token issue --account larder-admin')).trim()}`;
  const path = `/v1/brand/larder-admin/signing_key/${key}/account-key-request`;
  const signed = await fetch(url + path, { method: 'POST', headers: { authorization } });
  t.match({ status: signed.status, text: await signed.text() }, { status: 200, text: 'type: account-key-request' });

  await run(`systemctl reload larder
until journalctl --unit=larder --output=cat | grep -q 'configuration reloaded'; do sleep 0.2; done`);
  t.match(await run('larder status'), /Serving +yes/);
  t.match(await run('larder doctor || true'), /ok {4}Server: served since/);
  t.match(await run('systemctl start larder-backup\nls /var/lib/larder-backups'), /^larder-.*\.tar\n$/);
}
