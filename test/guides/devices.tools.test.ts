// The guide for device operators, typed unchanged. There is no snapd here: a script replaces it and records its
// arguments.
import { execFile } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { examplesIn, missingOutput } from '#test/fixtures/guides.ts';
import { download, offered, rootsFile } from '#test/fixtures/packages/online-store.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { folder, newStore, start } from '#test/cli/process.ts';

t.setTimeout(600_000);

const root = join(import.meta.dirname, '../..');

t.test(
  'the lines for the store and for a device work as described',
  { skip: withoutPrograms('curl', 'openssl') },
  async (t) => {
    const port = await freePort();
    const store = await newStore(t, `--base-url https://localhost:${port} --listen 127.0.0.1:${port}`);
    const [bin, stick] = [folder(t), folder(t)];
    await download(stick, offered('hello-on', 12));
    const config = join(store.data, 'larder.toml');
    changeConfig(config, { 'assertions.trusted': [rootsFile(bin)] });
    const serving = start(t, ['serve', '--data', store.data]);
    await serving.says(/"url":/);
    const program = (name: string, text: string): void => {
      writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
      chmodSync(join(bin, name), 0o755);
    };
    program('larder', `exec env -u NODE_OPTIONS '${process.execPath}' '${join(root, 'src/main.ts')}' "$@"`);
    for (const name of ['snap', 'systemctl']) program(name, `printf '%s\\n' "${name} $*" >> ${bin}/called`);
    appendFileSync(join(bin, 'called'), '');
    mkdirSync(join(bin, 'etc'));
    const sh = async (lines: readonly string[]): Promise<string> => {
      const localLines = lines.map((line) =>
        line
          .replaceAll('https://STORE', `https://localhost:${port}`)
          .replaceAll('/etc/', `${bin}/etc/`)
          .replace('/media/usb', stick)
          .replaceAll(/\bhello\b/g, 'hello-on'),
      );
      const script = ['set -e', 'curl() { command curl --fail-with-body --silent "$@"; echo; }', ...localLines].join(
        '\n',
      );
      const env = {
        PATH: `${bin}:${process.env['PATH']}`,
        LARDER_DATA: store.data,
        CURL_CA_BUNDLE: `${bin}/larder-ca.pem`,
      };
      return (await promisify(execFile)('sh', ['-c', script], { cwd: bin, env })).stdout;
    };
    const called = (): string => readFileSync(join(bin, 'called'), 'utf8');

    const [[, section = '', key = ''] = [], reload = []] = examplesIn('devices', 'Turn it on', 2);
    const before = readFileSync(config, 'utf8');
    t.match(before, new RegExp(`^\\${section}$[^[]*^# snap = false$`, 'm'), 'the configuration has such a place');
    writeFileSync(config, before.replace(/^# snap = false$/m, key));
    await sh(reload);
    t.match(called(), /^systemctl reload larder$/m);
    serving.child.kill('SIGHUP');
    await serving.says(/"msg":"configuration reloaded/);

    const [bring = [], look = []] = examplesIn('devices', 'Import snaps', 2);
    t.match(await sh(bring), /hello-on/);
    // Of the base nothing was carried in, and the command says so with its exit code too.
    t.same(missingOutput('devices', 'Import snaps', await sh(look.map((line) => `${line} || true`))), []);
    const [snippet = [], byHand = []] = examplesIn('devices', 'Point a device here', 2);
    t.match(await sh(snippet.map((line) => `${line} --help`)), /Print the lines that point a device here/);
    await sh(byHand);
    t.match(called(), /^snap set system store-certs\.larder=-----BEGIN CERTIFICATE-----$/m);
    t.match(
      readFileSync(join(bin, 'etc/systemd/system/snapd.service.d/larder.conf'), 'utf8'),
      `=https://localhost:${port}\n`,
    );

    const [queries = [], onDevice = []] = examplesIn('devices', 'See that it works', 2);
    const [info = '', find = ''] = (await sh(queries)).trim().split('\n');
    t.match(JSON.parse(info), {
      name: 'hello-on',
      'channel-map': [{ revision: 12, version: '0.12', download: { url: new RegExp(`^https://localhost:${port}/`) } }],
    });
    t.match(JSON.parse(find), { results: [{ name: 'hello-on', revision: { version: '0.12' } }] });
    await sh(onDevice);
    t.match(called(), /^snap info hello-on\nsnap install hello-on\nsnap refresh --list$/m);

    for (const line of [
      'account create --id ada --email ada@example.org --username ada --display-name Ada',
      'account create --id acme --email acme@example.org --username acme --display-name Acme',
      "brand create --account acme --name 'Acme Devices'",
      'package register snap/secret --account ada --private',
    ]) {
      const { code, err } = await store.larder(line);
      t.equal(code, 0, `${line}: ${err}`);
    }
    const [switches = [], counted = []] = examplesIn('devices', 'Smaller downloads: deltas', 2);
    const present = readFileSync(config, 'utf8');
    writeFileSync(
      config,
      present.replace(/^# deltas = false\n([^]*?)^# max_deltas_size = .*$/m, `${switches[3]}\n$1${switches[4]}`),
    );
    t.not(readFileSync(config, 'utf8'), present);
    await sh(reload);
    serving.child.kill('SIGHUP');
    await serving.says(/"msg":"configuration reloaded/);
    const figures = await sh(counted);
    for (const figure of [/Downloads: 0 in all/, /^larder_deltas 0$/m, /^larder_snaps_fetched\{as="delta"\} 0$/m]) {
      t.match(figures, figure);
    }

    t.match(
      await sh(examplesIn('devices', 'Private snaps', 1).flat()),
      /snap\/secret is there for[^]*acme[^]*snap\/secret/,
    );
  },
);
