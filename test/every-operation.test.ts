// Rules for all operations, checked on the record of each.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import t from 'tap';

import type { Operation } from '#http/operation.ts';
import { findProblems, type ShapeName } from '#contract/schema.ts';
import { grants, permissions, type Permission } from '#domain/tokens/permission.ts';
import { operations } from '#operations/index.ts';
import { startStore, type Client, type Reply } from '#test/fixtures/appliance.ts';
import { addBrand } from '#test/fixtures/brands.ts';
import { exchange } from '#test/fixtures/clients/exchange.ts';
import { isLongLane } from '#test/fixtures/large.ts';
import { footprint } from '#test/fixtures/footprint.ts';
import { bodyOf, inNoNamespace, needsToken, pathOf } from '#test/fixtures/contract/requests.ts';

const switches = [...new Set(operations.flatMap(({ enabledBy }) => enabledBy ?? []))];
const switched =
  (to: boolean) =>
  (text: string, which: readonly string[] = switches) =>
    which.reduce((config, key) => {
      const name = key.split('.')[1] ?? '';
      return config.replace(new RegExp(`^(?:# ?)?${name} = .*$`, 'm'), `${name} = ${String(to)}`);
    }, text);

/** The families of errors beside the publisher interface's have tests of their own. */
const ours = operations.filter((op) => ((op as { errors?: string }).errors ?? 'publisher') === 'publisher');
const guarded = ours.filter(needsToken);
/** Common to every response: the version, an id, its view; and neither a redirect nor a challenge. */
const expectedHeaders: [string, unknown][] = [
  ['publishergw-version', '61'],
  ['x-request-id', /^[0-9a-f-]{36}$/],
  ['x-view-name', /^larder\.[a-z_]+$/],
  ['location', null],
  ['www-authenticate', null],
];

let turn = 0;

/** One of several requests that are alike, each in its turn; all of them in the lane "long". */
const someOf = <Item>(items: readonly Item[]): readonly Item[] =>
  isLongLane ? items : items.slice(turn++ % items.length).slice(0, 1);

const about = (op: Operation): string => `${op.method} ${op.path}`;

t.test('a record names itself', (t) => {
  const files = readdirSync(join(import.meta.dirname, '../src/operations'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file, text: readFileSync(join(import.meta.dirname, '../src/operations', file), 'utf8') }));
  for (const op of operations) {
    t.match(op.name, /^[a-z][a-z0-9_]*$/, op.name);
    t.match(op.summary, /^[A-Z].{10,}\.$/, `${op.name}: the summary is a sentence and ends with a full stop`);
    t.match(op.path, /^\//, op.name);
    if (op.since === 0) continue;
    const home = files.find(({ text }) => text.includes(`name: '${op.name}'`))?.file ?? '';
    t.equal(basename(home, '.ts'), op.name.replaceAll('_', '-'), `${op.name} is declared in a file of its name`);
  }
  t.equal(new Set(operations.map(({ name }) => name)).size, operations.length, 'no name is given twice');
  t.equal(new Set(operations.map(about)).size, operations.length, 'no address is given twice');
  t.end();
});

/** An earlier report of a build host. */
async function toldOfBuilds({ post }: Client): Promise<Record<string, string>> {
  const { id } = (await post('/v1/source', { name: 'hello', type: 'rockcraft' })).body;
  const channel = { name: 'latest/edge', track: 'latest', risk: 'edge', branch: null };
  const platform = { name: 'ubuntu', channel: '24.04', architectures: ['amd64'] };
  const about = { 'commit-hash': 'c0ffee', 'craft-channel': channel, 'craft-revision': 7 };
  const set = await post('/internal/v1/craft/buildsets', {
    package: { id, name: 'hello', type: 'rockcraft', ...about, 'craft-version': '1.2' },
    platforms: [platform],
    triggers: [{ type: 'commit' }],
    builds: [{ status: 'waiting', platform }],
  });
  const workflow = await post('/internal/v1/craft/commit-workflows', {
    package: 'source/hello',
    status: null,
    buildsets: [],
    ...about,
  });
  return { buildset_id: set.body.id, commit_workflow_id: workflow.body.id };
}

t.test('every operation', async (t) => {
  const store = await startStore(t, switched(true));
  const ada = await store.as('ada');
  const bob = await store.as('bob');
  const root = await store.as('root');
  await addBrand(store, 'ada');
  const ids: Record<string, string> = {};
  for (const namespace of ['snap', 'charm']) {
    ids[namespace] = (await ada.post(`/v1/${namespace}`, { name: 'hello' })).body.id;
  }
  const subject = {
    namespace: 'snap',
    name: 'hello',
    charm_name: 'hello',
    brand_account_id: store.ids.ada,
    package_id: ids['snap'] ?? '',
    ...(await toldOfBuilds(ada)),
  };
  const before = footprint(store.directory);
  const tokens = new Map<string, Client>();
  const adaWith = async (held: Permission[]): Promise<Client> => {
    const client = tokens.get(held.join()) ?? (await store.as('ada', { permissions: held }));
    tokens.set(held.join(), client);
    return client;
  };

  const send = async (client: typeof ada, op: Operation, path: string, body: unknown): Promise<Reply> => {
    const content = body === undefined ? undefined : JSON.stringify(body);
    const { status, headers, text } = await exchange(store.url + path, {
      method: op.method,
      headers: {
        ...(client.token !== '' && { authorization: `Macaroon ${client.token}` }),
        ...(content !== undefined && { 'content-type': 'application/json' }),
      },
      body: content,
      redirect: 'manual',
    });
    t.match(
      Object.fromEntries(expectedHeaders.map(([name]) => [name, headers.get(name)])),
      Object.fromEntries(expectedHeaders),
      `${about(op)}: the headers`,
    );
    if (headers.get('content-type') !== 'application/json') return { status, headers, body: text };
    return { status, headers, body: JSON.parse(text) };
  };
  const refusal = (code: string, message?: RegExp) => ({
    'error-list': [{ code, message: message ?? /.{10,}/ }],
  });

  await t.test('without a token it is refused with 401', async (t) => {
    for (const op of guarded) {
      const paths = new Set(['snap', 'charm'].map((namespace) => pathOf(op, { ...subject, namespace })));
      for (const path of someOf([...paths])) {
        const reply = await send(store.anyone, op, path, bodyOf(op));
        t.equal(reply.status, 401, about(op));
        t.equal(reply.headers.get('content-type'), 'application/json', about(op));
        t.equal(reply.headers.get('x-view-name'), `larder.${op.name}`, about(op));
        t.same(
          reply.body,
          {
            'error-list': [{ code: 'macaroon-authorization-required', message: 'discharge required' }],
            Code: 'macaroon discharge required',
            Message: 'discharge required',
          },
          about(op),
        );
      }
    }
  });

  await t.test('with a token that lacks its permission it is refused with 401', async (t) => {
    for (const op of guarded.filter(({ access }) => access.permissions.length > 0)) {
      const needed = op.access.permissions;
      const held = permissions.filter((permission) => !needed.some((each) => grants([permission], each)));
      for (const list of [held, []]) {
        const reply = await send(await adaWith(list), op, pathOf(op, subject), bodyOf(op));
        t.equal(reply.status, 401, about(op));
        t.match(reply.body, refusal('permission-required', /^Missing required permission: /), about(op));
        t.same(Object.keys(reply.body), ['error-list'], `${about(op)}: no login cures it, so none is asked for`);
        const [, namedPermission] = /: (.*)$/.exec(reply.body['error-list'][0].message) ?? [];
        t.ok(
          (needed as (string | undefined)[]).includes(namedPermission),
          `${about(op)}: names a permission that would do`,
        );
      }
    }
  });

  await t.test('a member that its body does not have is refused with 400', async (t) => {
    for (const op of ours.filter(({ body }) => body !== undefined)) {
      for (const [pointer, body] of withMemberTooMany(bodyOf(op))) {
        if (findProblems(op.body as ShapeName, body).length === 0) continue; // the interface leaves this object open
        const reply = await send(root, op, pathOf(op, subject), body);
        t.equal(reply.status, 400, about(op));
        t.match(
          reply.body,
          refusal(
            'api-error',
            new RegExp(
              `^Additional properties are not allowed \\('unexpected-member' was unexpected\\) at ${pointer}$`,
            ),
          ),
          about(op),
        );
      }
    }
  });

  await t.test('an error in a request is described only to admitted callers', async (t) => {
    for (const op of guarded.filter(({ body, access }) => body !== undefined && access.inPayload === undefined)) {
      const ask = (token: string): Promise<{ status: number }> =>
        exchange(
          `${store.url}${pathOf(op, subject)}${op.path.includes('?') ? '&' : '?'}limit=ten&fields=${'x'.repeat(3000)}`,
          {
            method: op.method,
            headers: {
              'content-type': 'application/json',
              ...(token !== '' && { authorization: `Macaroon ${token}` }),
            },
            body: '{ nonsense',
          },
        );
      t.equal((await ask('')).status, 401, `${about(op)}: nobody`);
      t.equal((await ask('nonsense')).status, 401, `${about(op)}: a bad token`);
      if (op.access.permissions.length > 0) {
        t.equal((await ask((await adaWith([])).token)).status, 401, `${about(op)}: a weak one`);
      }
      if (/publisher|collaborator|brand administrator/.test(op.access.who)) {
        t.equal((await ask(bob.token)).status, 404, `${about(op)}: a stranger`);
      }
      t.equal((await ask(root.token)).status, 400, `${about(op)}: somebody admitted`);
    }
  });

  await t.test('a body that is none is refused with a 4xx', async (t) => {
    // An exchange looks at nothing before it has a login.
    for (const op of ours.filter(({ body, access }) => body !== undefined && access.inPayload === undefined)) {
      for (const content of someOf(['"text"', '{', 'nonsense', 'null'])) {
        const reply = await exchange(store.url + pathOf(op, subject), {
          method: op.method,
          headers: { authorization: `Macaroon ${root.token}`, 'content-type': 'application/json' },
          body: content,
        });
        t.equal(reply.status, 400, `${about(op)} ${content}`);
        t.match(JSON.parse(reply.text), refusal('api-error'), about(op));
      }
      if (op.bodyOptional !== true) {
        const reply = await send(root, op, pathOf(op, subject), undefined);
        t.equal(reply.status, 400, `${about(op)} without a body`);
      }
    }
  });

  await t.test('a stranger learns nothing about the package or brand of another account', async (t) => {
    for (const op of guarded) {
      const hasPackage = op.path.includes(':name') || pathOf(op, subject).includes('package=');
      if (hasPackage && /publisher|collaborator/.test(op.access.who)) {
        for (const namespace of someOf(['snap', 'charm'])) {
          const theirs = await send(bob, op, pathOf(op, { ...subject, namespace }), bodyOf(op));
          const nobodys = await send(bob, op, pathOf(op, { ...subject, namespace, name: 'hallo' }), bodyOf(op));
          t.equal(theirs.status, 404, about(op));
          t.match(theirs.body, refusal('resource-not-found'), about(op));
          t.equal(nobodys.status, 404, about(op));
          t.same(JSON.parse(JSON.stringify(nobodys.body).replaceAll('hallo', 'hello')), theirs.body, about(op));
        }
        const { message } = (await send(bob, op, pathOf(op, subject), bodyOf(op))).body['error-list'][0];
        t.equal(message, 'Name hello not found in the snap namespace, or this account has no part in it', about(op));
      }
      if (op.path.includes(':brand_account_id')) {
        const theirs = await send(bob, op, pathOf(op, subject), bodyOf(op));
        const nobodys = await send(bob, op, pathOf(op, { ...subject, brand_account_id: 'E'.repeat(32) }), bodyOf(op));
        t.equal(theirs.status, 404, about(op));
        t.match(theirs.body, refusal('resource-not-found'), about(op));
        t.same(
          JSON.parse(JSON.stringify(nobodys.body).replaceAll('E'.repeat(32), store.ids.ada)),
          theirs.body,
          about(op),
        );
      }
    }
  });

  await t.test('a namespace that does not exist is refused with 404', async (t) => {
    for (const op of guarded) {
      const path = inNoNamespace(op, subject);
      if (path === undefined) continue;
      const reply = await send(root, op, path, bodyOf(op));
      t.equal(reply.status, 404, about(op));
      t.match(reply.body, refusal('resource-not-found'), about(op));
    }
  });

  t.same(
    footprint(store.directory),
    { ...before, ...pick(footprint(store.directory), grownByTokens) },
    'nothing was changed by any of this',
  );

  await t.test('it exists at / and at /publishergw', async (t) => {
    for (const op of ours) {
      const path = pathOf(op, subject);
      const plain = await send(store.anyone, op, path, undefined);
      const prefixed = await send(store.anyone, op, path === '/' ? '/publishergw' : `/publishergw${path}`, undefined);
      t.equal(plain.headers.get('x-view-name'), `larder.${op.name}`, about(op));
      if (op.prefixed === false) {
        t.equal(prefixed.status, 404, about(op));
        continue;
      }
      t.equal(prefixed.headers.get('x-view-name'), `larder.${op.name}`, about(op));
      t.equal(prefixed.status, plain.status, about(op));
      // A request for a login secret returns a new one each time.
      if ('macaroon' in Object(plain.body)) t.type(prefixed.body.macaroon, 'string', about(op));
      else t.same(prefixed.body, plain.body, about(op));
    }
  });

  await t.test('a method that its address does not take is refused with 405', async (t) => {
    const addresses = new Map(ours.map((op) => [op.path, op]));
    for (const op of addresses.values()) {
      const pathMethods = operations.filter(({ path }) => path === op.path).map(({ method }) => method);
      const methods = (['PUT', 'PATCH', 'DELETE', 'POST', 'GET', 'OPTIONS'] as const).filter(
        (method) => !(pathMethods as string[]).includes(method),
      );
      for (const method of someOf(methods)) {
        const reply = await send(
          root,
          { ...op, method: method as Operation['method'] },
          pathOf(op, subject),
          undefined,
        );
        t.equal(reply.status, 405, `${method} ${op.path}`);
        const allowed = (reply.headers.get('allow') ?? '').split(', ');
        t.same(
          new Set(allowed.filter((allowedMethod) => allowedMethod !== 'HEAD')),
          new Set(pathMethods),
          `${method} ${op.path}: Allow`,
        );
        t.equal(allowed.includes('HEAD'), pathMethods.includes('GET'), `${method} ${op.path}: HEAD goes with GET`);
        t.match(reply.body, refusal('method-not-allowed'), `${method} ${op.path}`);
      }
    }
  });

  await t.test('a path with a slash too many or of other case is nowhere', async (t) => {
    for (const op of new Map(ours.map((op) => [op.path, op])).values()) {
      if (op.path === '/') continue;
      const path = pathOf(op, subject);
      if (path.includes('?')) continue;
      const slashed = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
      for (const odd of [slashed, path.toUpperCase()].filter(
        (variant) => !operations.some((each) => each.path === variant),
      )) {
        const reply = await send(root, op, odd, undefined);
        t.equal(reply.status, 404, `${op.method} ${odd}`);
        t.match(reply.body, refusal('resource-not-found'), `${op.method} ${odd}`);
      }
    }
  });
});

t.test('an operation that the configuration turns off is not there', async (t) => {
  const store = await startStore(t, switched(false));
  const root = await store.as('root');
  const off = ours.filter(({ enabledBy }) => enabledBy !== undefined);
  t.not(off.length, 0);
  for (const op of off) {
    const path = pathOf(op, { name: 'hello', namespace: 'snap' });
    for (const client of [root, store.anyone]) {
      for (const [method, address] of [
        [op.method, path],
        [op.method, `/publishergw${path}`],
        [op.method === 'PUT' ? 'PATCH' : 'PUT', path],
      ] as const) {
        const reply = await exchange(store.url + address, {
          method,
          headers: client.token === '' ? {} : { authorization: `Macaroon ${client.token}` },
          body: method === 'GET' ? undefined : JSON.stringify(bodyOf(op) ?? {}),
        });
        t.equal(reply.status, 404, `${method} ${address}`);
        t.match(JSON.parse(reply.text), { 'error-list': [{ code: 'resource-not-found' }] }, `${method} ${address}`);
      }
    }
  }
});

t.test('each switch turns on its own operations and no others', async (t) => {
  for (const switchName of switches) {
    const store = await startStore(t, (text) => switched(true)(switched(false)(text), [switchName]));
    for (const op of operations.filter(({ enabledBy }) => enabledBy !== undefined)) {
      const { headers } = await exchange(store.url + pathOf(op, { name: 'hello', namespace: 'snap' }), {
        method: op.method,
        headers: {},
        body: op.method === 'GET' ? undefined : JSON.stringify(bodyOf(op) ?? {}),
      });
      const view = headers.get('x-view-name');
      t.equal(
        view,
        op.enabledBy === switchName ? `larder.${op.name}` : 'larder.none',
        `${op.name} with ${switchName} alone`,
      );
    }
  }
});

/** The same body once for each object in it, with an additional member there, and its path. */
function withMemberTooMany(body: unknown): [pointer: string, body: unknown][] {
  const places = (value: unknown, pointer: string): string[] =>
    typeof value !== 'object' || value === null
      ? []
      : [
          ...(Array.isArray(value) ? [] : [pointer]),
          ...Object.entries(value).flatMap(([name, inner]) => places(inner, `${pointer}/${name}`)),
        ];
  return places(body, '').map((pointer) => {
    const copy = structuredClone(body);
    const target = pointer
      .split('/')
      .slice(1)
      .reduce((value, name) => (value as Record<string, object>)[name] ?? {}, copy as object);
    Object.assign(target, { 'unexpected-member': 1 });
    return [pointer === '' ? '/' : pointer, copy];
  });
}

/** Rows that the tests themselves add with another token. */
const grownByTokens = ['macaroons', 'audit', 'audit_seals', 'audit_seal_chain'];

const pick = (counts: Record<string, unknown>, names: string[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, counts[name]]));
