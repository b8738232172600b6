// The guide for operators of juju, typed unchanged. A client with the requests of juju takes its place if Go is
// installed to build it; lines that need a controller are only recorded.
import { execFile } from 'node:child_process';
import { appendFileSync, chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t from 'tap';

import { jujuClient, jujuClientMissing } from '#test/assertions/judge.ts';
import { charm } from '#test/fixtures/packages/archives.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { examplesIn, missingOutput } from '#test/fixtures/guides.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { folder, newStore, start } from '#test/cli/process.ts';

t.setTimeout(600_000);

const root = join(import.meta.dirname, '../..');

t.test(
  'the lines for the store and for juju work as described',
  { skip: withoutPrograms('curl', 'openssl') },
  async (t) => {
    const port = await freePort();
    const store = await newStore(t, `--base-url https://localhost:${port} --listen 127.0.0.1:${port}`);
    const bin = folder(t);
    const config = join(store.data, 'larder.toml');
    const [[, , switched = ''] = [], reload = []] = examplesIn('juju', 'Turn it on', 2);
    const [[, , names = ''] = [], resolve = [], refresh = []] = examplesIn('juju', 'Running models', 3);
    const before = readFileSync(config, 'utf8');
    t.match(before, /^\[devices\]$[^[]*^# charm = false$/m, 'the configuration has such a place');
    t.match(before, /^\[tls\]$[^[]*^# names = \[\]$/m, 'and one for names');
    writeFileSync(config, before.replace(/^# charm = false$/m, switched).replace(/^# names = \[\]$/m, names));
    await start(t, ['serve', '--data', store.data]).says(/"url":/);

    const program = (name: string, text: string): void => {
      writeFileSync(join(bin, name), `#!/bin/sh\nprintf '%s\\n' "${name} $*" >> ${bin}/called\n${text}\n`);
      chmodSync(join(bin, name), 0o755);
    };
    const client = jujuClientMissing().length === 0 ? jujuClient() : 'true';
    program(
      'juju',
      `case "$1 $2" in 'find --charmhub-url' | 'info --charmhub-url') exec ${client} "$3" "$1" "$4" ;; esac`,
    );
    for (const name of ['systemctl', 'update-ca-certificates']) program(name, ':');
    program('larder', `exec env -u NODE_OPTIONS '${process.execPath}' '${join(root, 'src/main.ts')}' "$@"`);
    appendFileSync(join(bin, 'called'), '');
    const metadata = 'resources:\n  site: {type: file, filename: site.tar}\n';
    writeFileSync(join(bin, 'hello.charm'), charm('hello', {}, metadata));
    writeFileSync(join(bin, 'site.tar'), 'pages');
    const sh = async (lines: readonly string[]): Promise<string> => {
      const localLines = lines.map((line) =>
        line
          .replaceAll('https://STORE', `https://localhost:${port}`)
          .replace('/usr/local/share/ca-certificates', bin)
          .replace('api.charmhub.io:443:10.0.0.7', `api.charmhub.io:${port}:127.0.0.1`)
          .replace("'api.charmhub.io/", `'api.charmhub.io:${port}/`),
      );
      const script = ['set -e', 'curl() { command curl --fail-with-body --silent "$@"; echo; }', ...localLines].join(
        '\n',
      );
      const env = {
        PATH: `${bin}:${process.env['PATH']}`,
        LARDER_DATA: store.data,
        CURL_CA_BUNDLE: `${bin}/larder.crt`,
        SSL_CERT_FILE: `${bin}/larder.crt`,
      };
      return (await promisify(execFile)('sh', ['-c', script], { cwd: bin, env })).stdout;
    };
    const called = (): string => readFileSync(join(bin, 'called'), 'utf8');

    await sh(reload);
    t.match(called(), /^systemctl reload larder$/m);
    const made = await store.larder(
      'account create --id ada --email ada@example.org --username ada --display-name Ada',
    );
    t.equal(made.code, 0, made.err);
    t.same(missingOutput('juju', 'Add charms', await sh(examplesIn('juju', 'Add charms', 1).flat())), []);
    await sh(examplesIn('juju', 'Trust the store', 1).flat());
    t.match(called(), /^update-ca-certificates $/m);

    const [atBirth = [], byHand = []] = examplesIn('juju', 'Point juju here', 2);
    await sh(atBirth);
    t.match(called(), new RegExp(`^juju add-model shop --config charmhub-url=https://localhost:${port}$`, 'm'));
    const answers = (await sh(byHand)).trim().split('\n');
    if (client !== 'true') {
      t.match(JSON.parse(answers[0] ?? ''), { results: [{ name: 'hello', result: { summary: 'A greeter' } }] });
      t.match(JSON.parse(answers[1] ?? ''), { 'channel-map': [{ channel: { name: 'latest/stable' } }, {}] });
    }
    t.match(JSON.parse(await sh(resolve)), { results: [{ name: 'hello' }] }, 'under the name of the online store');
    const [queries = [], deployed = []] = examplesIn('juju', 'See that it works', 2);
    const [findReply = '', info = ''] = (await sh(queries)).trim().split('\n');
    t.match(JSON.parse(findReply), { results: [{ name: 'hello', 'default-release': { revision: { revision: 1 } } }] });
    t.match(JSON.parse(info), { 'channel-map': [{ channel: { name: 'latest/stable' } }, {}] });
    await sh([...refresh, ...deployed]);
    t.match(
      called(),
      /^juju refresh hello --switch ch:hello --channel stable\njuju deploy hello\njuju refresh hello$/m,
    );
  },
);
