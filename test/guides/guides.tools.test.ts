// The lines of the guides and the README about tools and packages, typed unchanged.
import { execFile } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t, { type Test } from 'tap';

import { freePort } from '#test/fixtures/free-port.ts';
import { examplesIn, examplesThroughout, missingOutput } from '#test/fixtures/guides.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { snapPath } from '#test/review/fixtures.ts';
import { folder, newStore, start } from '#test/cli/process.ts';

const skip = withoutPrograms('curl');
const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'docs/journey.md'), 'utf8');

/**
 * The lines of the examples in the README, as they are copied; a line that ends with a backslash continues in the next.
 */
const linesOf = (blocks: Iterable<RegExpExecArray>): string[] =>
  [...blocks].flatMap(([, text = '']) =>
    text
      .replace(/\\\n/g, ' ')
      .trim()
      .split('\n')
      .map((line) => line.replace(/^[$#] /, '').trim())
      .filter((line) => line !== ''),
  );
const inGuide = examplesThroughout('publisher').flat();
const journey = readme.slice(0, readme.indexOf('**The device gateway**'));
const inReadme = linesOf(journey.matchAll(/```(?:sh|console)\n([^]*?)```/g));

/**
 * A store, of bob or of no account yet, and a shell with this program as `larder`; the tools report whether they could
 * log in.
 */
async function world(t: Test, whose = 'bob') {
  const listen = `127.0.0.1:${await freePort()}`;
  const store = await newStore(t, `--base-url http://${listen} --listen ${listen}`);
  if (whose === 'bob') {
    const made = await store.larder(
      'account create --id bob --email bob@example.com --username bob --display-name Bob',
    );
    t.equal(made.code, 0, made.err);
  }
  await start(t, ['serve', '--data', store.data]).says(/"url":"/);
  const bin = folder(t);
  const program = (name: string, text: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  program('larder', `exec env -u NODE_OPTIONS '${process.execPath}' '${join(root, 'src/main.ts')}' "$@"`);
  // The tools are not here. In their place stands how each of them finds the store and its token.
  const asks = (url: string, token: string): string =>
    `curl -sf "${url}/v1/tokens/whoami" -H "Authorization: Macaroon $(printf %s "${token}" | base64 -d)"`;
  program(
    'snapcraft',
    `test "$SNAPCRAFT_STORE_AUTH" = onprem && ${asks('$STORE_DASHBOARD_URL', '$SNAPCRAFT_STORE_CREDENTIALS')}`,
  );
  program('charmcraft', asks('$CHARMCRAFT_STORE_API_URL', '$CHARMCRAFT_AUTH'));
  const sh = async (lines: string[], cwd = bin): Promise<string> => {
    const script = ['set -e', 'curl() { command curl --fail-with-body "$@"; echo; }', ...lines].join('\n');
    const env = { PATH: `${bin}:${process.env['PATH']}`, LARDER_DATA: store.data };
    return (await promisify(execFile)('sh', ['-c', script], { cwd, env })).stdout;
  };
  const mine = (line: string): string =>
    line.replace(/ #.*$/, '').replace('--data ./data', '').replace('--account ID', '--account bob');
  return { sh, mine };
}

t.test("the publisher's guide: each tool finds the store by the lines that are printed for it", { skip }, async (t) => {
  const { sh, mine } = await world(t);
  const issues = inGuide.filter((line) => line.startsWith('larder '));
  t.equal(issues.length, 3);
  let ran = 0;
  for (const tool of ['snapcraft', 'charmcraft', 'curl']) {
    const issue = issues.find((line) => line.includes(`--for ${tool}`)) ?? '';
    const uses = inGuide.filter((line) => line.startsWith(`${tool} `) && !line.includes('/ca.pem'));
    const output = await sh([`eval "$(${mine(issue)})"`, ...uses]);
    t.equal(output.match(/"username":"bob"|"results":/g)?.length, uses.length, `${tool}: ${uses.length} lines`);
    ran += uses.length + 1;
  }
  // The rest downloads the authority. `--for` prints the same lines, and its own test runs them.
  t.equal(inGuide.length - ran, 3);
});

t.test("the lines of the administrator's guide and the README about packages work unchanged", async (t) => {
  const { sh, mine } = await world(t);
  const rename = (line: string): string =>
    mine(line)
      .replace('snap/hello', 'snap/tiny-app')
      .replace('./hello_1.0_all.snap', `'${snapPath('app-xz')}'`)
      .replace('./hello_1.1_all.snap', `'${snapPath('app-zstd')}'`);
  const pushing = examplesIn('administrator', 'Push and release from the host', 1).flat();
  const looking = examplesIn('administrator', 'Inspect packages, storage and permissions', 1).flat();
  const again = linesOf(readme.slice(readme.indexOf('**Without a second tool**')).matchAll(/```console\n([^]*?)```/g));
  t.same([pushing.length, looking.length], [5, 5]);
  const output = await sh([...pushing, ...looking, ...again.slice(0, 3)].map(rename));
  t.same(missingOutput('administrator', 'Push and release from the host', output), []);
  for (const pattern of [
    /Closed latest\/edge of snap\/tiny-app\.[^]*Downloads +0 of images/,
    /app-zstd\.snap is revision 2 of snap\/tiny-app; it is released to latest\/edge\./,
  ])
    t.match(output, pattern);
});

t.test('the README: snapcraft finds the store by the lines that are printed for it', { skip }, async (t) => {
  const { sh, mine } = await world(t, 'nobody');
  const made = inReadme.filter((line) => /^larder (?:account|token)/.test(line)).slice(0, 2);
  const uses = inReadme.filter((line) => line.startsWith('snapcraft '));
  const [create = '', issue = ''] = made.map(mine);
  const output = await sh([create, `eval "$(${issue})"`, ...uses]);
  t.equal(uses.length, 5);
  t.equal(output.match(/"username":"bob"/g)?.length, uses.length);
});
