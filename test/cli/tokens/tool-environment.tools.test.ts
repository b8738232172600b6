// What `token issue --for` prints, pasted into a shell and read as the tools' own sources read it.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t, { type Test } from 'tap';

import { freePort } from '#test/fixtures/free-port.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { folder, newStore, start, type NewStore } from '#test/cli/process.ts';

const run = promisify(execFile);
const skip = withoutPrograms('python3', 'curl');

/**
 * The start of the clients of craft-store: they read addresses and credentials from the environment and decode them;
 * then follow whoami, the registration of a name, and its description. The on-prem client of snapcraft writes the
 * scheme in lower case.
 */
const client = `
import base64, json, os, sys, urllib.error, urllib.request
tool = sys.argv[1]
if tool == 'snapcraft':
    assert os.environ['SNAPCRAFT_STORE_AUTH'] == 'onprem'
    assert 'SNAPCRAFT_ADMIN_MACAROON' not in os.environ
    base, credentials, scheme, space = os.environ['STORE_DASHBOARD_URL'], 'SNAPCRAFT_STORE_CREDENTIALS', 'macaroon', 'snap'
    upload = os.environ['STORE_UPLOAD_URL']
else:
    base, credentials, scheme, space = os.environ['CHARMCRAFT_STORE_API_URL'], 'CHARMCRAFT_AUTH', 'Macaroon', 'charm'
    upload = os.environ['CHARMCRAFT_UPLOAD_URL']
    assert os.environ['CHARMCRAFT_REGISTRY_URL'].split('://')[0] in ('http', 'https')
stored = base64.b64decode(os.environ[credentials], validate=True).decode()
try:
    json.loads(stored)
    raise SystemExit('it would be taken for credentials of another kind')
except json.JSONDecodeError:
    token = stored
def call(method, url, body=None):
    headers = {'Authorization': scheme + ' ' + token, 'Content-Type': 'application/json'}
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method)) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
who = call('GET', base + '/v1/tokens/whoami')[1]
registered = call('POST', base + '/v1/' + space, {'name': 'hello'})
print(json.dumps({'username': who['account']['username'], 'packages': who['packages'], 'registered': registered[0],
                  'upload': upload, 'other': call('POST', base + '/v1/' + space, {'name': 'other'})[0]}))
`;

/** Serves a store where its configuration says. */
const listening = (t: Test, data: string) => start(t, ['serve', '--data', data]).says(/"url":"/);

/** A store of bob's, served at the address that it is configured with. */
async function served(t: Test): Promise<NewStore & { url: string; bob: string }> {
  const listen = `127.0.0.1:${await freePort()}`;
  const store = await newStore(t, `--base-url http://${listen} --listen ${listen}`);
  const { id } = (await store.json('account create --email bob@example.com --username bob --display-name Bob')) as {
    id: string;
  };
  await listening(t, store.data);
  return { ...store, url: `http://${listen}`, bob: id };
}

t.test(
  'snapcraft and charmcraft find the token of a publisher in the lines, and it has the permissions of its issue',
  { skip },
  async (t) => {
    const store = await served(t);
    const script = join(folder(t), 'client.py');
    writeFileSync(script, client);
    for (const [tool, type] of [
      ['snapcraft', 'snap'],
      ['charmcraft', 'charm'],
    ] as const) {
      const { out, code } = await store.larder(
        `token issue --account ${store.bob} --for ${tool} --package ${type}:hello`,
      );
      t.equal(code, 0);
      const { stdout } = await run('sh', ['-c', `${out}exec python3 ${script} ${tool}`], {
        env: { PATH: process.env['PATH'] },
      });
      const { other, ...result } = JSON.parse(stdout) as { other: number };
      t.strictSame(
        result,
        { username: 'bob', packages: [{ type, name: 'hello' }], registered: 200, upload: store.url },
        tool,
      );
      t.ok(other >= 400 && other < 500, `another name is refused with ${other}`);
    }
  },
);

t.test('the lines for curl are good for the examples of the documents', { skip }, async (t) => {
  const store = await served(t);
  const { out } = await store.larder(`token issue --account ${store.bob} --for curl`);
  const { stdout } = await run('sh', ['-c', `${out}curl --silent $base/v1/tokens/whoami -H "$auth"`]);
  t.match(JSON.parse(stdout), { account: { username: 'bob' } });
  const { environment, macaroon } = await store.json(`token issue --account ${store.bob} --for curl`);
  t.strictSame(environment, { base: store.url, auth: `Authorization: Macaroon ${macaroon}` });
  t.notOk('environment' in (await store.json(`token issue --account ${store.bob}`)));
});

t.test("with an authority of the store's own the lines fetch it, and take no other", { skip }, async (t) => {
  const port = await freePort();
  const store = await newStore(t, `--base-url https://localhost:${port} --listen 127.0.0.1:${port}`);
  const { out } = await store.larder('token issue --account larder-admin --for curl');
  await listening(t, store.data);
  const cwd = folder(t);
  const paste = (lines: string) =>
    run('sh', ['-c', `${lines}curl --silent --show-error $base/v1/tokens/whoami -H "$auth"`], { cwd });
  t.match(JSON.parse((await paste(out)).stdout), { account: { id: 'larder-admin' } });
  t.equal(readFileSync(join(cwd, 'larder-ca.pem'), 'utf8'), readFileSync(join(store.data, 'tls/ca.pem'), 'utf8'));
  const another = out.replace(/echo '[0-9a-f]{64}/, `echo '${'0'.repeat(64)}`);
  t.not(another, out);
  await t.rejects(paste(another), /larder-ca\.pem: FAILED|certificate/);
  for (const tool of ['snapcraft', 'charmcraft']) {
    const lines = (await store.larder(`token issue --account larder-admin --for ${tool}`)).out;
    t.match(lines, /\n {2}export REQUESTS_CA_BUNDLE="\$PWD\/larder-ca\.pem" SSL_CERT_FILE="\$PWD\/larder-ca\.pem"\n/);
  }
  t.ok(existsSync(join(cwd, 'larder-ca.pem')));
});
