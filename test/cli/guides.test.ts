// What the README and the publisher's guide tell people to type: each line is run, against a store that is served.
import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t, { type Test } from 'tap';

import { freePort } from '#test/fixtures/free-port.ts';
import { pack, snapYaml, withoutSquashfsTools } from '../review/packed.ts';
import { folder, newStore, start } from './process.ts';

const root = join(import.meta.dirname, '../..');
const guides = join(root, 'src/api/documents/guides');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const publisher = readFileSync(join(guides, 'publisher.html'), 'utf8');

/** The lines of a page's examples, as they are copied; a line that ends with a backslash goes on in the next. */
const linesOf = (blocks: Iterable<RegExpExecArray>): string[] =>
  [...blocks].flatMap(([, text = '']) =>
    text
      .replace(/&lt;/g, '<')
      .replace(/&gt;/g, '>')
      .replace(/&amp;/g, '&')
      .replace(/\\\n/g, ' ')
      .trim()
      .split('\n')
      .map((line) => line.replace(/^[$#] /, '').trim())
      .filter((line) => line !== ''),
  );
const inGuide = linesOf(publisher.matchAll(/<pre><code>([^]*?)<\/code><\/pre>/g));
const journey = readme.slice(readme.indexOf('## The journey'), readme.indexOf('**The device gateway**'));
const inReadme = linesOf(journey.matchAll(/```(?:sh|console)\n([^]*?)```/g));

/** What the tools of today refuse, and what would make a publisher the store's administrator. */
const refused = [/SNAPCRAFT_STORE_AUTH=['"]?candid/, /SNAPCRAFT_ADMIN_MACAROON/, /cat [^\s)]*admin\.macaroon/];

t.test('no page tells a publisher what his tools refuse, or hands him the administrator’s credential', (t) => {
  const pages = readdirSync(guides).map((name) => [name, readFileSync(join(guides, name), 'utf8')] as const);
  const start = readFileSync(join(root, 'packaging/start.ts'), 'utf8');
  for (const [name, text] of [...pages, ['README.md', readme], ['start.ts', start]] as const) {
    for (const pattern of refused) t.notMatch(text, pattern, name);
  }
  t.end();
});

/** A store of bob's and a shell in which `larder` is this program, and the tools say whether they could log in. */
async function world(t: Test) {
  const listen = `127.0.0.1:${await freePort()}`;
  const store = await newStore(t, `--base-url http://${listen} --listen ${listen}`);
  const created = await store.json('account create --email bob@example.com --username bob --display-name Bob');
  const { id } = created as { id: string };
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
    line.replace(/ #.*$/, '').replace('--data ./data', '').replace('--account ID', `--account ${id}`);
  return { sh, mine };
}

t.test("the publisher's guide: each tool finds the store by the lines that are printed for it", async (t) => {
  const { sh, mine } = await world(t);
  const issues = inGuide.filter((line) => line.startsWith('larder '));
  t.equal(issues.length, 3);
  let ran = 0;
  for (const tool of ['snapcraft', 'charmcraft', 'curl']) {
    const issue = issues.find((line) => line.includes(`--for ${tool}`)) ?? '';
    const uses = inGuide.filter((line) => line.startsWith(`${tool} `) && !line.includes('/ca.pem'));
    const said = await sh([`eval "$(${mine(issue)})"`, ...uses]);
    t.equal(said.match(/"username":"bob"|"results":/g)?.length, uses.length, `${tool}: ${uses.length} lines`);
    ran += uses.length + 1;
  }
  // What is left is how the authority is fetched, which `--for` prints as well and its own test runs.
  t.equal(inGuide.length - ran, 3);
});

t.test('the README: from an account to a release with curl', { skip: withoutSquashfsTools }, async (t) => {
  const { sh, mine } = await world(t);
  const at = folder(t);
  copyFileSync(pack(t, { 'meta/snap.yaml': snapYaml('hello') }), join(at, 'hello_1.0_amd64.snap'));
  const [create = '', issue = ''] = inReadme.filter((line) => /^larder (?:account|token)/.test(line));
  t.match(await sh([mine(create).replace('bob@', 'carol@').replace('username bob', 'username carol')]), /\w{32}/);
  const uses = inReadme.filter((line) => line.startsWith('snapcraft '));
  t.equal((await sh([`eval "$(${mine(issue)})"`, ...uses])).match(/"username":"bob"/g)?.length, uses.length);

  const begin = inReadme.findIndex((line) => line.startsWith('eval '));
  const lines = inReadme.slice(begin).map(mine);
  t.ok(lines.length >= 8, `${lines.length} lines`);
  const patient = lines.map((line) =>
    line.includes('/review?') ? `until ${line} | grep -q approved; do sleep 0.1; done` : line,
  );
  const released = (await sh(patient, at)).trim().split('\n').at(-1) ?? '';
  t.match(JSON.parse(released), { released: [{ channel: 'latest/edge' }, { channel: 'latest/stable' }] });
});
