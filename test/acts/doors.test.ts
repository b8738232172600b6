// Every act may be held until others approve of it, or says why not; and each that may is tried through all of its doors.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { everyAct } from '#acts/index.ts';
import { toAssertionRecord } from '#acts/assertions/assertions.ts';
import { approveProposal } from '#acts/approvals/proposals.ts';
import { approvalKinds } from '#domain/approvals/approval-policy.ts';
import { readRolloutPlan } from '#domain/releases/rollout.ts';
import { changeConfig } from '#configuration/config.ts';
import { offered, download, rootsFile, snapOf } from '#test/fixtures/packages/online-store.ts';
import { explained, rowsOf, unapproved } from '#test/fixtures/records/approved-rows.ts';
import { askingSite, configure, password } from '#test/fixtures/accounts/approvers.ts';
import { addBrand, addSigningKey } from '#test/fixtures/brands.ts';
import { snapFixture } from '#test/fixtures/appliance.ts';
import { kevCatalog, osvZip } from '#test/fixtures/vulnerabilities/feeds.ts';
import { advisory, oldSsl, snapOf as versionOf } from '#test/operations/vulnerabilities/world.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { sshKeyPair } from '#test/fixtures/accounts/ssh-keys.ts';
import { until } from '#test/fixtures/until.ts';
import { folder } from '#test/cli/process.ts';
import { openReady } from '#test/console/world.ts';
import { accountKey } from '#test/assertions/world.ts';
import { vectorKey } from '#test/assertions/vectors.ts';
import { days } from '#domain/clock.ts';
import { signEnvelope } from '#transfers/statement/envelopes.ts';
import { idOf } from '#transfers/statement/statement.ts';
import { fingerprintOf } from '#transfers/site.ts';
import { example, helloWith, seedOf, written } from '#test/transfers/statement/example.ts';

t.setTimeout(600_000);

const source = join(import.meta.dirname, '../../src');
const gated = everyAct.filter((act) => 'kinds' in act.gate);

t.test('every gated act explains the rows that it changes', async (t) => {
  const names = gated.map(({ name }) => name).sort();
  t.strictSame(
    Object.keys(explained),
    names,
    'add it to test/fixtures/records/approved-rows.ts, in alphabetical order',
  );
});

t.test('every act is held by a kind of the policy, or states why none holds it', async (t) => {
  for (const { name, gate } of everyAct) {
    if ('never' in gate)
      t.match(gate.never, /^\S+( \S+){2,}[^.]$/, `${name}: three words or more, without a full stop`);
    else t.ok(gate.kinds.every((kind) => approvalKinds.includes(kind)) && gate.kinds.length > 0, name);
  }
  const held = new Set<string>(gated.flatMap(({ gate }) => ('kinds' in gate ? gate.kinds : [])));
  const unheld = approvalKinds.filter((kind) => !held.has(kind));
  t.strictSame(unheld, [], 'each kind of the policy holds an act');
});

const filesOfActs = (): { file: string; text: string }[] =>
  readdirSync(join(source, 'acts'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file, text: readFileSync(join(source, 'acts', file), 'utf8') }));

/** Files that change the content of channels without a gated act of their own, and why. */
const beyond: Record<string, string> = {
  'revisions/revisions.ts': 'what is withdrawn is in no channel any more, at once',
  'releases/rollouts.ts':
    'pausing and rolling back take back, a raise was approved with the plan, and resuming is gated',
  'transfers/kinds/channels.ts': 'accept_transfer and withdraw_transfer call it, and both are gated',
};

t.test('every act that changes the content of a channel is held, except acts that must not wait', async (t) => {
  const names = new Map(gated.map((act) => [act.name, act]));
  for (const { file, text } of filesOfActs()) {
    if (!/\.releases\.(?:fill|empty|close|remove)\(/.test(text)) continue;
    const own = [...text.matchAll(/^ {2}name: '([^']+)'/gm)].map(([, name = '']) => name);
    t.ok(own.some((name) => names.has(name)) || beyond[file] !== undefined, file);
  }
});

/** The files beside the acts that do a gated one, as `file act`. */
function doorsInSource(): string[] {
  const exported = new Map<string, string>();
  for (const { text } of filesOfActs()) {
    for (const [, binding = '', name = ''] of text.matchAll(/^export const (\w+) = act[^(]*\({\n {2}name: '([^']+)'/gm))
      exported.set(binding, name);
  }
  const names = new Set(gated.map(({ name }) => name));
  const doors = new Set<string>();
  for (const entry of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!entry.endsWith('.ts') || entry.startsWith('acts/')) continue;
    for (const [, list = ''] of readFileSync(join(source, entry), 'utf8').matchAll(
      /^import \{([^}]+)\} from '#acts\/[\w/-]+\.ts';/gm,
    )) {
      for (const [, binding = ''] of list.matchAll(/(?:^|,)\s*(\w+)/g)) {
        const name = exported.get(binding);
        if (name !== undefined && names.has(name)) doors.add(`${entry} ${name}`);
      }
    }
  }
  return [...doors].sort();
}

interface Tried {
  /** The reply to the caller. */
  text: string;
  /** Whether it was done. */
  done: boolean;
}

interface Door {
  /** The file of the source that is this door, and the act behind it. */
  is: string;
  what: string;
  go: () => Promise<Tried>;
}

const policyLines = [
  'transfers',
  'unsigned_folders',
  'requests',
  'delete_keys',
  'import_keys',
  'sources',
  'policy',
  'feeds',
].map((kind) => `${kind} = "1 of B"`);

/** Holds acceptances for one package, and none of the releases. */
const acceptanceRule = 'vulnerabilities = ["1 of B for unknown in snap/found:*"]';

t.test('each act that may be held is held on all of its paths, and done on the same path once approved', async (t) => {
  const { store, run, codeOf } = await askingSite(
    t,
    [...policyLines, 'releases = ["1 of B for */*:*/stable"]', acceptanceRule].join('\n'),
  );
  changeConfig(join(store.directory, 'larder.toml'), { 'assertions.trusted': [rootsFile(folder(t))] });
  const doors = await doorsOf(t, store, { run, codeOf });
  t.strictSame(
    [...new Set(doors.map(({ is }) => is))].sort(),
    doorsInSource(),
    'each door in src has a case here, and no other',
  );
  const newest = async (): Promise<number> =>
    (await store.beside.records.proposals.list({ before: 1e9, openAt: undefined }, 1))[0]?.number ?? 0;
  for (const { what: name, go } of doors) {
    const before = await newest();
    const waits = await go();
    t.notOk(waits.done, name);
    t.match(waits.text, new RegExp(`Waits for 1 more approval \\(proposal ${String(before + 1)},`), name);
    t.match(waits.text, /approval-required|"errors"|"refused"/, name);
    t.equal(await newest(), before + 1, name);
    const login = { accountId: store.ids.bob, at: store.clock.now.toISOString() };
    await store.beside.acts.do(approveProposal, { actor: store.ids.bob }, { number: before + 1, login });
    const rows = await rowsOf(store);
    const { done, text } = await go();
    t.ok(done, `${name}: ${text}`);
    const { act, lines } = (await store.beside.records.proposals.find(before + 1))!;
    t.strictSame(unapproved(act, { lines, before: rows, after: await rowsOf(store) }), [], name);
  }
  t.equal((await store.beside.records.proposals.list({ before: 1e9, openAt: undefined }, 100)).length, doors.length);
});

type Asking = Awaited<ReturnType<typeof askingSite>>;

async function doorsOf(
  t: Parameters<typeof folder>[0],
  store: Asking['store'],
  { run, codeOf }: Pick<Asking, 'run' | 'codeOf'>,
): Promise<Door[]> {
  const stick = folder(t);
  const typed = (line: string) => async (): Promise<Tried> => {
    const { code, out, err } = await run(`${line} --json`);
    return { text: err + out, done: code === 0 };
  };
  const ada = await store.as('ada');
  const called = (path: string, body: unknown) => async (): Promise<Tried> => {
    const { status, body: answer } = await ada.post(path, body);
    if (status !== 200 && status !== 403) throw new Error(`${path}: ${String(status)} ${JSON.stringify(answer)}`);
    return { text: JSON.stringify(answer), done: status === 200 };
  };
  return [
    ...(await releaseDoors({ store, ada, stick, typed, called })),
    pushDoor(store, ada),
    ...(await resumeDoors({ store, ada, typed, called })),
    ...(await fleetDoors({ store, ada, typed })),
    ...(await keyDoors({ store, ada, stick, typed })),
    ...(await transferDoors({ store, run, stick, typed })),
    ...trustDoors({ store, codeOf }),
    {
      is: 'cli/approvals/approver-keys.ts add_approver_key',
      what: 'a key to sign approvals with',
      go: typed(`approver-key add ${store.ids.ada} ${sshKeyPair(stick, 'adas').file}.pub`),
    },
    {
      is: 'cli/sites/request.ts make_request',
      what: 'a request',
      go: typed(`transfer request ${join(stick, 'out.tar')} --inventory none --yes`),
    },
    ...(await feedDoors({ store, stick, typed })),
    ...(await findingDoors({ store, ada, stick, typed })),
    {
      is: 'jobs/approvals/keep-approval-policy.ts change_approval_policy',
      what: 'another policy in the file',
      go: async () => {
        await configure(store, 'releases = []');
        const text = async (): Promise<string> =>
          ((await store.anyone.get('/readyz')).body as { problems: string[] }).problems
            .filter((problem) => problem.includes('not in force'))
            .join();
        // Either is known a moment after the row in the audit log.
        const isInForce = async () => (await store.beside.records.approvalPolicy.inForce()).releases.length === 0;
        await until(async () => (await text()) !== '' || (await isInForce()));
        return { text: `${await text()} approval-required`, done: (await text()) === '' };
      },
    },
  ];
}

async function feedDoors({ store, stick, typed }: Pick<Typing, 'store' | 'stick' | 'typed'>): Promise<Door[]> {
  const file = join(stick, 'kev.json');
  writeFileSync(file, kevCatalog(['CVE-2026-1001']));
  const kev = { source: 'kev-2' };
  const form = await uploadFeed(store, kevCatalog(['CVE-2026-1002']), kev.source);
  const who = store.ids.root;
  return [
    {
      is: 'console/vulnerabilities/feeds.ts import_feed',
      what: 'a feed that is uploaded in the console',
      go: pressed(store, kev, { form, who }),
    },
    {
      is: 'console/vulnerabilities/feeds.ts remove_feed',
      what: 'the removal of a feed in the console',
      go: pressed(store, kev, { form: '/console/vulnerabilities/remove-feed', who }),
    },
    {
      is: 'jobs/vulnerabilities/import-feed.ts import_feed',
      what: 'a feed of advisories',
      go: typed(`feed import ${file}`),
    },
    {
      is: 'cli/vulnerabilities/feed-remove.ts remove_feed',
      what: 'the removal of a feed',
      go: typed('feed remove cisa-kev --yes'),
    },
  ];
}

/** Uploads a feed in the console, and waits until the store has read it under its name. Returns the address of its page. */
async function uploadFeed(store: Asking['store'], content: string, source: string): Promise<string> {
  const { browsers } = store.beside.authority;
  const session = await browsers.begin(store.ids.root, { address: '127.0.0.1', requestId: 'x' });
  const form = '/console/vulnerabilities/uploads';
  const body = new FormData();
  body.append('form-token', (await browsers.find(session)).formToken(form));
  body.append('file', new Blob([content]), 'kev.json');
  const headers = { accept: 'text/html', cookie: `larder-session=${session}` };
  const sent = await fetch(store.url + form, { method: 'POST', headers, body, redirect: 'manual' });
  const address = sent.headers.get('location') ?? '';
  const open = async (path: string) => ({ html: await (await fetch(store.url + path, { headers })).text() });
  await openReady({ open }, `${address}?source=${source}`);
  return address;
}

/** Three vulnerabilities of a snap, each accepted on another path. */
async function findingDoors({
  store,
  ada,
  stick,
  typed,
}: Pick<Typing, 'store' | 'ada' | 'stick' | 'typed'>): Promise<Door[]> {
  const root = await store.as('root');
  await ada.post('/v1/snap', { name: 'found' });
  await ada.push('snap', 'found', versionOf('found', '1', `libssl3=${oldSsl}`));
  const file = join(stick, 'ubuntu.zip');
  writeFileSync(file, osvZip([1001, 1002, 1003].map((number) => advisory(number))));
  const endsAt = new Date(store.clock.now.getTime() + days(9)).toISOString();
  const reason = 'It is closed.';
  const path = '/internal/v1/packages/snap/found/accepted-findings';
  return [
    {
      is: 'jobs/vulnerabilities/import-feed.ts import_feed',
      what: 'a feed of Ubuntu',
      go: typed(`feed import ${file}`),
    },
    {
      is: 'cli/vulnerabilities/accepted-findings.ts accept_finding',
      what: 'a vulnerability that the host accepts',
      async go() {
        await typed('feed match')();
        const line = `vulnerability accept snap/found CVE-2026-1001 --until ${endsAt.slice(0, 10)} --reason closed`;
        return typed(line)();
      },
    },
    {
      is: 'operations/vulnerabilities/accept-finding.ts accept_finding',
      what: 'a vulnerability that is accepted over HTTP',
      async go() {
        const { status, body } = await root.post(path, { vulnerability: 'CVE-2026-1002', until: endsAt, reason });
        return { text: JSON.stringify(body), done: status === 200 };
      },
    },
    {
      is: 'console/vulnerabilities/vulnerability.ts accept_finding',
      what: 'a vulnerability that is accepted in the console',
      go: acceptInConsole(store, 'CVE-2026-1003', { until: endsAt.slice(0, 10), reason }),
    },
  ];
}

const acceptInConsole = (store: Asking['store'], vulnerability: string, fields: Record<string, string>) => async () => {
  const { browsers } = store.beside.authority;
  const session = await browsers.begin(store.ids.root, { address: '127.0.0.1', requestId: 'x' });
  const form = `/console/packages/snap/found/vulnerabilities/${vulnerability}/accept`;
  const token = (await browsers.find(session)).formToken(form);
  const sent = await fetch(store.url + form, {
    method: 'POST',
    headers: { cookie: `larder-session=${session}` },
    body: new URLSearchParams({ ...fields, 'form-token': token }),
    redirect: 'manual',
  });
  const done = /done=finding-accepted$/.test(sent.headers.get('location') ?? '');
  return { text: `${await sent.text()} approval-required`, done };
};

interface Typing {
  store: Asking['store'];
  ada: Awaited<ReturnType<Asking['store']['as']>>;
  typed: (line: string) => () => Promise<Tried>;
  called: (path: string, body: unknown) => () => Promise<Tried>;
  stick: string;
}

/** Sends a form of the console as ada. Returns the address of the next page. */
async function sendForm(store: Asking['store'], form: string, fields: Record<string, string>): Promise<string> {
  const headers = await browserOf(store);
  const session = headers.cookie.slice('larder-session='.length);
  const token = (await store.beside.authority.browsers.find(session)).formToken(form);
  const body = new URLSearchParams({ ...fields, 'form-token': token });
  const sent = await fetch(store.url + form, { method: 'POST', headers, body, redirect: 'manual' });
  return sent.headers.get('location') ?? '';
}

async function browserOf(store: Asking['store']): Promise<{ cookie: string }> {
  const { browsers } = store.beside.authority;
  return { cookie: `larder-session=${await browsers.begin(store.ids.ada, { address: '127.0.0.1', requestId: 'x' })}` };
}

/** The steps of ada in a browser; the next page states the outcome. */
const pressed =
  (
    store: Asking['store'],
    fields: Record<string, string>,
    { form = '/console/packages/snap/hello/release', who = store.ids.ada }: { form?: string; who?: string } = {},
  ) =>
  async (): Promise<Tried> => {
    const { browsers } = store.beside.authority;
    const session = await browsers.begin(who, { address: '127.0.0.1', requestId: 'x' });
    const token = (await browsers.find(session)).formToken(form);
    const headers = { cookie: `larder-session=${session}` };
    const body = new URLSearchParams({ ...fields, 'form-token': token });
    const sent = await fetch(store.url + form, { method: 'POST', headers, body, redirect: 'manual' });
    // A page of a fleet says itself that the change waits.
    if (sent.status === 403) return { text: `${await sent.text()} approval-required`, done: false };
    const led = sent.headers.get('location') ?? '';
    const page = await (await fetch(store.url + led, { headers })).text();
    const [, number = ''] = /\/console\/waiting\/proposals\/(\d+)"/.exec(page) ?? [];
    const waits = /waits as <a [^>]*>proposal \d+<\/a> for 1 more approval/.test(page);
    const text = waits ? `Waits for 1 more approval (proposal ${number}, approval-required` : page;
    return {
      text,
      done: /\?done=(?:released|channels-closed|feed-imported|feed-removed|fleet-changed|key-deleted|source-trusted|source-changed)$/.test(
        led,
      ),
    };
  };

async function releaseDoors({ store, ada, stick, typed, called }: Typing): Promise<Door[]> {
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const number of [1, 2, 3]) await addRevision(store, id, number);
  const { id: tiny } = (await ada.post('/v1/snap', { name: 'tiny-app' })).body as { id: string };
  writeFileSync(join(stick, 'tiny.snap'), await snapFixture('app-xz'));
  const online = join(stick, 'online');
  mkdirSync(online);
  await download(online, offered('other-on', 4));
  const is = (file: string): string => `${file} push_releases`;
  const [api, close, tool] = ['release-request.ts', '../dashboard/close.ts', '../dashboard/snap-release.ts'].map(
    (file) => is(join('operations/releases', file)),
  ) as [string, string, string];
  const page = is('console/releases/release.ts');
  const releases = '/v1/snap/hello/releases';
  const released = { name: 'hello', series: '16', revision: '2', channels: ['stable'] };
  return [
    { is: api, what: 'a release over HTTP', go: called(releases, [{ channel: 'stable', revision: 1 }]) },
    {
      is: api,
      what: 'a rollout over HTTP',
      go: called(releases, [{ channel: 'stable', revision: 2, rollout: { steps: [10], notify: ['bob'] } }]),
    },
    { is: api, what: 'a close over HTTP', go: called(releases, [{ channel: 'stable', revision: null }]) },
    { is: page, what: 'a release in the console', go: pressed(store, { revision: '2', channels: 'stable' }) },
    { is: page, what: 'a close in the console', go: pressed(store, { close: 'yes', channels: 'stable' }) },
    { is: tool, what: "a release by the publisher's tool", go: called('/dev/api/snap-release/', released) },
    { is: close, what: 'a close by it', go: called(`/dev/api/snaps/${id}/close`, { channels: ['stable'] }) },
    { is: is('cli/releases/release.ts'), what: 'a release from the host', go: typed('release snap/hello 3 stable') },
    { is: is('cli/releases/release.ts'), what: 'a close from the host', go: typed('close snap/hello stable --yes') },
    {
      is: is('cli/packages/import/import-snaps.ts'),
      what: 'an import that releases',
      go: typed(`package import ${online} --release stable --yes`),
    },
    {
      is: is('cli/uploads/push.ts'),
      what: 'a push from the host that releases',
      async go() {
        // The file is imported once; its release waits.
        const isThere = (await store.beside.records.revisions.find(tiny, 1)) !== undefined;
        const push = `package push ${join(stick, 'tiny.snap')} --release stable --yes`;
        return typed(isThere ? 'release snap/tiny-app 1 stable' : push)();
      },
    },
  ];
}

/** Rollouts that are paused, each in a snap of its own. */
async function resumeDoors({ store, ada, typed, called }: Omit<Typing, 'stick'>): Promise<Door[]> {
  const plan = readRolloutPlan({ steps: [10] });
  const at = store.clock.now.toISOString();
  for (const [paused, name] of ['rolling-one', 'rolling-two', 'rolling-three'].entries()) {
    const { id } = (await ada.post('/v1/snap', { name })).body as { id: string };
    for (const number of [1, 2]) await addRevision(store, id, number);
    const started = {
      packageId: id,
      channel: 'latest/stable',
      revision: 2,
      plan,
      startedAt: at,
      startedBy: store.ids.ada,
    };
    await store.beside.records.change({ at, actor: 'test', action: 'test', object: name }, async (tx) => {
      const rollout = await tx.rollouts.add(started);
      if (rollout !== paused + 1) throw new Error('another rollout was there');
      const slot = { slot: 'amd64', architecture: 'amd64', baseName: null, baseChannel: null, resources: [] };
      const held = { ...slot, packageId: id, channel: 'latest/stable', releasedAt: at, expiresAt: null };
      await tx.releases.fill({ ...held, revision: 1, progressive: { paused: null, percentage: null } });
      await tx.releases.fill({ ...held, revision: 2, progressive: { paused: true, percentage: 10 }, rollout });
      await tx.rollouts.update({ ...(await tx.rollouts.find(rollout))!, state: 'paused' });
    });
  }
  return [
    {
      is: 'operations/releases/rollouts/resume-rollout.ts resume_rollout',
      what: 'a rollout that is resumed over HTTP',
      go: called('/internal/v1/packages/snap/rolling-one/rollouts/1/resume', undefined),
    },
    {
      is: 'cli/releases/rollout-change.ts resume_rollout',
      what: 'a rollout that is resumed from the host',
      go: typed('rollout resume 2'),
    },
    {
      is: 'console/releases/rollouts.ts resume_rollout',
      what: 'a rollout that is resumed in the console',
      async go() {
        const form = '/console/packages/snap/rolling-three/rollouts/3/resume';
        const led = await sendForm(store, form, {});
        const [open] = await store.beside.records.proposals.list({ before: 1e9, openAt: at }, 1);
        const text = led.endsWith('?done=rollout-waits')
          ? `Waits for 1 more approval (proposal ${String(open?.number)}, approval-required`
          : led;
        return { text, done: led.endsWith('?done=rollout-resumed') };
      },
    },
  ];
}

async function fleetDoors({ store, ada, typed }: Pick<Typing, 'store' | 'ada' | 'typed'>): Promise<Door[]> {
  const { id } = (await ada.post('/v1/snap', { name: 'tuned' })).body as { id: string };
  for (const number of [1, 2]) await addRevision(store, id, number);
  await ada.post(
    '/v1/snap/tuned/releases',
    [1, 2].map((revision) => ({ channel: 'edge', revision })),
  );
  const root = await store.as('root');
  await root.post('/internal/v1/fleets', { name: 'pumps', kind: 'model', devices: ['acme/pump'] });
  const posted = (path: string, body: object) => async (): Promise<Tried> => {
    const { status, body: answer } = await root.post(`/internal/v1/${path}`, body);
    return { text: JSON.stringify(answer), done: status < 300 };
  };
  const channel = 'packages/snap/tuned/fleets/pumps/channel';
  const [api, cli, page] = ['operations/fleets', 'cli/fleets', 'console/fleets/fleets.ts'];
  const who = store.ids.root;
  const form = '/console/packages/snap/tuned/fleets';
  const fields = { fleet: 'pumps', channel: '', revision: '', follows: '' };
  const [ofChannel, ofSnap] = ['set_fleet_channel', 'set_fleet_visibility'];
  return [
    {
      is: `${api}/set-fleet-channel.ts ${ofChannel}`,
      what: 'a pin over HTTP',
      go: posted(channel, { channel: 'stable', mode: 'pin', revision: 1 }),
    },
    { is: `${cli}/channel.ts ${ofChannel}`, what: 'another pin', go: typed('fleet pin pumps snap/tuned stable 2') },
    {
      is: `${cli}/channel.ts ${ofChannel}`,
      what: 'a followed channel',
      go: typed('fleet follow pumps snap/tuned stable=candidate'),
    },
    {
      is: `${api}/update-fleet-devices.ts update_fleet_devices`,
      what: 'more devices over HTTP',
      go: posted('fleets/pumps/devices', { add: ['acme/valve', 'acme/mill'] }),
    },
    {
      is: `${cli}/devices.ts update_fleet_devices`,
      what: 'fewer devices',
      go: typed('fleet remove pumps acme/valve'),
    },
    {
      is: `${cli}/channel.ts ${ofChannel}`,
      what: 'a cleared channel',
      go: typed('fleet clear pumps snap/tuned stable'),
    },
    {
      is: `${api}/set-fleet-visibility.ts ${ofSnap}`,
      what: 'a hidden snap over HTTP',
      go: posted('packages/snap/tuned/fleets/pumps/visibility', { hidden: true }),
    },
    { is: `${cli}/visibility.ts ${ofSnap}`, what: 'a shown snap', go: typed('fleet unhide pumps snap/tuned') },
    {
      is: `${api}/set-fleet-window.ts set_fleet_window`,
      what: 'a refresh window over HTTP',
      go: posted('fleets/pumps/window', { window: 'Sat 02:00-05:00 UTC' }),
    },
    {
      is: `${page} set_fleet_window`,
      what: 'another refresh window in the console',
      go: pressed(store, { window: 'Sun 02:00-05:00 UTC' }, { form: '/console/fleets/pumps/window', who }),
    },
    {
      is: `${page} ${ofChannel}`,
      what: 'a pin in the console',
      go: pressed(store, { ...fields, mode: 'pin', channel: 'stable', revision: '1' }, { form, who }),
    },
    {
      is: `${page} ${ofChannel}`,
      what: 'a cleared channel in the console',
      go: pressed(store, { ...fields, mode: 'clear', channel: 'stable' }, { form, who }),
    },
    {
      is: `${page} ${ofSnap}`,
      what: 'a hidden snap in the console',
      go: pressed(store, { ...fields, mode: 'hide' }, { form, who }),
    },
    { is: `${cli}/window.ts set_fleet_window`, what: 'no refresh window', go: typed('fleet window pumps none') },
  ];
}

/** A push with channels, which is released when its review is over. */
function pushDoor(store: Asking['store'], ada: Typing['ada']): Door {
  let pushed: { body: object; status: string } | undefined;
  return {
    is: 'jobs/uploads/finish-pushes.ts push_releases',
    what: 'a push with channels',
    async go() {
      if (pushed === undefined) {
        await ada.post('/v1/snap', { name: 'finished' });
        const upload = await ada.upload(snapOf(offered('finished', 1)));
        const body = { name: 'finished', series: '16', updown_id: upload, binary_filesize: 1, channels: ['stable'] };
        const { status_details_url: url } = (await ada.post('/dev/api/snap-push/', body)).body as Record<
          string,
          string
        >;
        pushed = { body, status: new URL(url ?? '').pathname };
      } else await ada.post('/dev/api/snap-push/', pushed.body);
      const { status } = pushed;
      await store.appliance.reviewed();
      await until(async () => ((await ada.get(status)).body as { processed: boolean }).processed);
      const map = (await ada.get('/v1/snap/finished/releases')).body['channel-map'] as object[];
      return { text: JSON.stringify((await ada.get(status)).body), done: map.length > 0 };
    },
  };
}

async function keyDoors({
  store,
  ada,
  stick,
  typed,
}: Pick<Typing, 'store' | 'ada' | 'stick' | 'typed'>): Promise<Door[]> {
  const brand = await addBrand(store, 'ada');
  const [first, second, third] = [
    await addSigningKey(store, brand, 'rsa4096-a', 'first'),
    await addSigningKey(store, brand, 'rsa4096-b', 'second'),
    await addSigningKey(store, brand, 'rsa4096-c', 'third'),
  ];
  return [
    {
      is: 'operations/keys/delete-signing-key.ts delete_signing_key',
      what: 'the deletion of a key over HTTP',
      async go() {
        const { status, body } = await ada.delete(`/v1/brand/${brand}/signing_key/${first}`);
        return { text: JSON.stringify(body), done: status < 300 };
      },
    },
    {
      is: 'cli/keys/delete.ts delete_signing_key',
      what: 'the deletion of a key from the host',
      go: typed(`key delete ${brand} ${second}`),
    },
    {
      is: 'console/keys/signing-key.ts delete_signing_key',
      what: 'the deletion of a key in the console',
      go: pressed(store, {}, { form: `/console/brands/${brand}/keys/${third}/delete`, who: store.ids.ada }),
    },
    {
      is: 'cli/keys/import.ts import_signing_key',
      what: 'a key of elsewhere that is taken in',
      go: typed(`key import ${await formerKey(store, brand, stick)} --name former`),
    },
  ];
}

/** A site that root trusts in the console, and then with other settings. */
function trustDoors({ store, codeOf }: Pick<Asking, 'store' | 'codeOf'>): Door[] {
  const { publicKey } = seedOf(5);
  const settings = { threshold: '1', scans: '0', packages: '*/*', accept: 'people', password };
  const file = JSON.stringify({ format: 1, site: 'depot-b', keys: [publicKey], threshold: 1 });
  const of = { file, scanners: '', fingerprint: fingerprintOf([publicKey])[0] ?? '' };
  const sent = (form: string, fields: Record<string, string>) => (): Promise<Tried> =>
    pressed(store, { ...fields, code: codeOf('root') }, { form, who: store.ids.root })();
  return [
    {
      is: 'console/sites/trust-site.ts trust_source',
      what: 'a new source in the console',
      go: sent('/console/trust-site', { ...settings, ...of }),
    },
    {
      is: 'console/sites/sources.ts trust_source',
      what: 'a source that is let in by itself, in the console',
      go: sent('/console/sites/depot-b', { ...settings, accept: 'automatic' }),
    },
  ];
}

/** The file of a private key that has its account-key in the store. */
async function formerKey(store: Typing['store'], brand: string, stick: string): Promise<string> {
  const { id, privateKey } = vectorKey('rsa2048-a');
  const assertion = await accountKey('device', brand, 'former');
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'test', object: 'account-key' }, async (tx) =>
    tx.assertions.keep(toAssertionRecord(assertion, 'imported', { at, actor: 'test' })),
  );
  const file = join(stick, `${id.slice(0, 8)}.pem`);
  writeFileSync(file, privateKey.export({ format: 'pem', type: 'pkcs8' }));
  return file;
}

async function transferDoors({
  store,
  run,
  stick,
  typed,
}: Pick<Typing, 'store' | 'stick' | 'typed'> & Pick<Asking, 'run'>): Promise<Door[]> {
  await run('site init site-a');
  const { publicKey } = seedOf(1);
  const identity = join(stick, 'depot.json');
  writeFileSync(identity, JSON.stringify({ format: 1, site: 'depot', keys: [publicKey], threshold: 1 }));
  const file = snapOf(offered('carrying', 1));
  const hello = { ...helloWith([file]), name: 'carrying', id: 'c'.repeat(32) };
  const release = { channel: 'latest/stable', slot: 'amd64', architecture: 'amd64', revision: 1 };
  const at = new Date().toISOString();
  const transfer = example([file], {
    created: at,
    expires: new Date(Date.now() + days(9)).toISOString(),
    packages: [{ ...hello, channels: [{ ...release, 'released-at': at }] }],
  });
  const [part = ''] = await written(transfer, stick);
  const id = idOf(transfer.bytes);
  let isDoubted = false;
  let unsigned = '';
  const root = await store.as('root');
  const settled = async (path: string, input?: object): Promise<Tried> => {
    const { status, body } = await root.post(`/internal/v1/transfers/${path}`, input);
    return { text: JSON.stringify(body), done: status === 200 };
  };
  const fetched = join(stick, 'fetched');
  mkdirSync(fetched);
  await download(fetched, offered('unsigned', 1));
  const rotated = join(stick, 'rotated.json');
  const rotation = { format: 1, site: 'depot', rotation: 1, keys: [seedOf(2).publicKey], threshold: 1 };
  writeFileSync(rotated, await signEnvelope(rotation, 'application/vnd.larder.rotation.v1+json', seedOf(1)));
  return [
    {
      is: 'cli/sites/trust.ts trust_source',
      what: 'a new source',
      go: typed(`site trust ${identity} --fingerprint ${fingerprintOf([publicKey])[0] ?? ''}`),
    },
    {
      is: 'transfers/receive/receive.ts settle_floor',
      what: 'that nobody knows what was let in last',
      async go() {
        const entry = { at, actor: 'test', action: 'restore_store', object: 'store' };
        if (!isDoubted) await store.beside.records.change(entry, (tx) => tx.transferSources.doubtFloors());
        isDoubted = true;
        return typed(`transfer receive ${part} --floor-lost`)();
      },
    },
    {
      is: 'cli/sites/trust.ts trust_source',
      what: 'a source that is let in by itself',
      go: typed(`site trust ${identity} --fingerprint ${fingerprintOf([publicKey])[0] ?? ''} --accept automatic`),
    },
    {
      is: 'transfers/accept/acceptance.ts accept_transfer',
      what: 'a transfer',
      async go() {
        const { code, err } = await run(`transfer receive ${part}`);
        if (code !== 0) throw new Error(err);
        return typed(`transfer accept ${id} --yes`)();
      },
    },
    {
      is: 'transfers/accept/acceptance.ts accept_transfer',
      what: 'a folder that nobody has signed, over HTTP',
      async go() {
        const { code, out, err } = await run(`transfer receive --unsigned ${fetched} --release edge --json`);
        if (code !== 0) throw new Error(err);
        ({ id: unsigned } = JSON.parse(out) as { id: string });
        const { digest: seen } = (await root.get(`/internal/v1/transfers/${unsigned}`)).body as { digest: string };
        return settled(`${unsigned}/accept`, { seen });
      },
    },
    {
      is: 'transfers/accept/desk.ts withdraw_transfer',
      what: 'its withdrawal, over HTTP',
      go: () => settled(`${unsigned}/withdraw`),
    },
    {
      is: 'cli/transfers/settle.ts withdraw_transfer',
      what: 'the withdrawal of a transfer',
      go: typed(`transfer withdraw ${id} --yes`),
    },
    {
      is: 'cli/sites/reset-floor.ts reset_floor',
      what: 'an older number of a source',
      go: typed('site reset-floor depot --to 0 --yes'),
    },
    {
      is: 'transfers/follow-rotation.ts rotate_source',
      what: 'other keys of a source',
      go: typed(`site trust ${rotated}`),
    },
  ];
}
