// Every form of a login that snapd's tools read (store/tooling/auth.go), with snapd's own program and a private snap.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t from 'tap';

import { parseAssertion } from '#assertions/format/assertion.ts';
import { buildSnapCommand, snapCommandMissing, testRoots } from '#test/assertions/judge.ts';
import { keys, now } from '#test/assertions/world.ts';
import { trusting } from '#test/fixtures/brands.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';
import { addCollaborator } from '#test/fixtures/packages/packages.ts';
import { withoutPackages } from '#test/fixtures/programs.ts';
import { snapcraft } from '#test/fixtures/clients/snapcraft.ts';
import { password, startIdentity } from '#test/identity/world.ts';
import { carry, takeIn } from './carried.ts';

const skip = withoutPackages(...snapCommandMissing());
t.setTimeout(900_000);

t.test('snap download logs in with every form of a login that it reads', { skip }, async (t) => {
  const program = buildSnapCommand();
  const { roots, key } = testRoots(keys.store);
  const trusts = trusting(t, roots);
  const store = await startIdentity(t, (text) => servingSnaps(trusts(text)), now);
  const home = mkdtempSync(join(tmpdir(), 'larder-login-'));
  t.teardown(() => rmSync(home, { recursive: true }));
  const stick = join(home, 'stick');
  mkdirSync(stick);
  await carry(t, stick, { name: 'pump-kernel', yaml: 'type: kernel\n' }, parseAssertion(key));
  await takeIn(store, stick);
  const { id } = (await store.beside.records.packages.find('snap', 'pump-kernel'))!;
  t.equal((await (await store.as('root')).patch('/v1/snap/pump-kernel', { private: true })).status, 200);
  await addCollaborator(store, id, 'ada');

  const download = (login: Record<string, string>): Promise<{ code: number; said: string }> =>
    promisify(execFile)(program, ['download', 'pump-kernel'], {
      cwd: mkdtempSync(join(home, 'to-')),
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        SNAP_REEXEC: '0',
        UBUNTU_STORE_ARCH: 'amd64',
        UBUNTU_STORE_URL: store.url,
        ...login,
      },
    }).then(
      ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
      (error: unknown) => {
        const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
        return { code, said: stdout + stderr };
      },
    );
  const variable = (login: object) => ({ UBUNTU_STORE_AUTH: Buffer.from(JSON.stringify(login)).toString('base64') });
  const file = (text: string) => {
    writeFileSync(join(home, 'login'), text);
    return { UBUNTU_STORE_AUTH_DATA_FILENAME: join(home, 'login') };
  };
  const tool = snapcraft(store.url, 'ada@example.com', password);
  await tool.login({ acls: ['package_access'] });
  const { root, discharge } = tool.exported();
  const { token } = await store.as('ada', { permissions: ['package-view-revisions'] });
  const forms = {
    'a token': variable({ t: 'macaroon', v: token }),
    'a bearer': variable({ t: 'bearer', v: token }),
    'a macaroon and its discharge': variable({ r: root, d: discharge }),
    'the same with its type': variable({ t: 'u1-macaroon', v: { r: root, d: discharge } }),
    'the same in a file': file(JSON.stringify({ macaroon: root, discharges: [discharge] })),
  };
  t.match(await download({}), { code: 1, said: /snap not found/ }, 'without a login');
  for (const [form, login] of Object.entries(forms))
    t.match(await download(login), { code: 0, said: /snap ack pump-kernel_7\.assert/ }, form);
  const ini = `[login.ubuntu.com]\nmacaroon = ${root}\nunbound_discharge = ${discharge}\n`;
  t.match(await download(file(ini)), { code: 0 }, 'the file of older snapcraft');

  const narrow = snapcraft(store.url, 'ada@example.com', password);
  await narrow.login({ acls: ['package_access'], packages: ['another'] });
  const exported = narrow.exported();
  t.match(await download(variable({ r: exported.root, d: exported.discharge })), { code: 1, said: /snap not found/ });
  t.match(await download(variable({ r: root, d: exported.discharge })), {
    code: 1,
    said: /unexpected HTTP status code 401/,
  });
});
