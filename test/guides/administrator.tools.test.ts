// The guide for administrators, with hardware: its lines about keys in an HSM, typed with a software token.
import { execFileSync } from 'node:child_process';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { noSoftToken, pkcs11Manager, softToken } from '#test/assertions/keys/soft-token.ts';
import { newStore } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { examplesIn, missingOutput } from '#test/fixtures/guides.ts';

t.setTimeout(300_000);

t.test(
  'the lines about keys in an HSM make keys there, and a brand and the site use them',
  { skip: noSoftToken() },
  async (t) => {
    const [variables = [], unit = [], settings = [], service = [], ofBrand = [], ofSite = []] = examplesIn(
      'administrator',
      'Keep keys in an HSM',
      6,
    );
    const { env, pin, folder } = softToken(t, {});

    const names = variables.slice(1).map((line) => line.replace(/=.*/, ''));
    t.strictSame(
      names,
      Object.keys(env).filter((name) => name.startsWith('LARDER_')),
      'the variables of the key manager',
    );
    t.ok(settings.some((line) => line === `environment = [${names.map((name) => `"${name}"`).join(', ')}]`));
    const script = readFileSync(pkcs11Manager, 'utf8');
    const [, shell = ''] = /^#!(\S+)/.exec(script) ?? [];
    const [, tool = ''] = /^tool=(\S+)/m.exec(script) ?? [];
    t.ok(unit.includes(`ExecPaths=${realpathSync(shell)} ${tool}`), 'the unit may run what the key manager runs');
    t.ok(statSync(pkcs11Manager).mode & 0o100, 'it is a program');
    t.match(
      service[0],
      /systemd-creds encrypt --name=larder-pkcs11-pin/,
      'which deb.long.test.ts does with other names',
    );

    const { data } = await newStore(t);
    changeConfig(join(data, 'larder.toml'), {
      'keys.manager': pkcs11Manager,
      'keys.environment': Object.keys(env),
      'keys.timeout_seconds': 60,
    });
    const run = (line: string) => larder(line.replace('larder ', ''), { env: { ...env, LARDER_DATA: data } });
    await run('larder account create --id acme --email a@example.org --username acme --display-name A');
    await run('larder brand create --account acme --name Acme');
    let printed = '';
    for (const line of [...ofBrand, ...ofSite]) {
      if (line.startsWith('larder ')) {
        const { code, out, err } = await run(line);
        t.match({ code, err }, { code: 0, err: '' }, line);
        printed += out;
      } else if (line.startsWith('pkcs11-tool ')) {
        const shellEnv = { ...process.env, ...env, PIN: pin };
        execFileSync('sh', ['-c', `${line} --pin env:PIN`], { env: shellEnv, stdio: 'ignore', cwd: folder });
      } else t.match(line, /^set -a && \. \/etc\/larder\/key-manager\.env$/);
    }
    t.strictSame(missingOutput('administrator', 'Keep keys in an HSM', printed), []);
  },
);
