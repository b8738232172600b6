// A snap that states that it is unfinished, by its grade or its confinement, gets into stable and candidate by no door.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { stream } from '#assertions/format/assertion.ts';
import { everyDevice } from '#domain/releases/channel-map.ts';
import { days } from '#domain/clock.ts';
import { riskProblem } from '#domain/releases/risk-problem.ts';
import { changeConfig } from '#configuration/config.ts';
import { askingSite } from '#test/fixtures/accounts/approvers.ts';
import { assertionsOf, offered, rootsFile, snapOf } from '#test/fixtures/packages/online-store.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { until } from '#test/fixtures/until.ts';
import { folder } from '#test/cli/process.ts';
import { idOf } from '#transfers/statement/statement.ts';
import { fingerprintOf } from '#transfers/site.ts';
import { example, helloWith, seedOf, written } from '#test/transfers/statement/example.ts';

t.setTimeout(600_000);

t.test('grade devel and confinement devmode are for beta and edge', async (t) => {
  t.equal(riskProblem({ grade: 'devel' }, 'stable'), "its grade is 'devel', which only beta and edge take");
  t.equal(
    riskProblem({ confinement: 'devmode' }, 'candidate'),
    "its confinement is 'devmode', which only beta and edge take",
  );
  t.match(
    riskProblem({ grade: 'devel', confinement: 'devmode' }, 'stable'),
    /^its grade is 'devel' and its confinement /,
  );
  for (const risk of ['beta', 'edge'] as const) t.notOk(riskProblem({ grade: 'devel', confinement: 'devmode' }, risk));
  for (const finished of [{}, { grade: 'stable', confinement: 'strict' }, { grade: 'stable', confinement: 'classic' }])
    t.notOk(riskProblem(finished, 'stable'), JSON.stringify(finished));
});

/** The image of a snap with a snap.yaml that marks it as unfinished. It has the same length as the original image. */
const unfinished = (name: string, revision: number): Buffer =>
  Buffer.from(snapOf(offered(name, revision)).toString('latin1').replace('grade: stable', 'grade: devel '), 'latin1');

interface Attempt {
  /** The name of the snap. */
  snap: string;
  done: boolean;
  text: string;
}

interface Door {
  /** The file of the source that is this door. */
  is: string;
  name: string;
  /** Tries to get an unfinished snap into a channel. */
  release: (channel: string) => Promise<Attempt>;
}

/** The files beside the acts that do an act which fills channels. */
function doorsInSource(): string[] {
  const source = join(import.meta.dirname, '../../../src');
  const fills = /^import \{[^}]*\b(?:pushReleases|acceptTransfer|withdrawTransfer)\b[^}]*\} from '#acts\//m;
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('acts/'))
    .filter((file) => fills.test(readFileSync(join(source, file), 'utf8')))
    .sort();
}

/** Doors to the same acts that only close channels, or that restore the earlier content. Another test covers these. */
const others = ['operations/dashboard/close.ts', 'cli/transfers/settle.ts', 'transfers/accept/desk.ts'];

type Site = Awaited<ReturnType<typeof askingSite>>;

t.test(
  'an unfinished snap is released to beta and edge by each door, and to stable and candidate by none',
  async (t) => {
    const site = await askingSite(t, '');
    changeConfig(join(site.store.directory, 'larder.toml'), { 'assertions.trusted': [rootsFile(folder(t))] });
    const doors = [...(await releasing(site)), ...pushing(site, folder(t)), ...(await carrying(site, folder(t)))];
    t.strictSame([...new Set([...doors.map(({ is }) => is), ...others])].sort(), doorsInSource(), 'there is no other');
    const { records } = site.store.beside;
    const held = async (snap: string): Promise<string[]> => {
      const subject = await records.packages.find('snap', snap);
      return subject === undefined ? [] : (await records.releases.held(subject.id)).map(({ channel }) => channel);
    };
    for (const { name, release } of doors) {
      for (const channel of ['stable', 'latest/candidate', 'stable/fix']) {
        const { snap, done, text } = await release(channel);
        t.notOk(done, `${name} to ${channel}`);
        t.match(text, /its grade is (?:'|\\u0027|&#39;)devel/, `${name} to ${channel}`);
        t.notMatch((await held(snap)).join(), /stable|candidate/, `${name} to ${channel}`);
      }
      for (const channel of ['beta', 'edge/fix']) {
        const { snap, done, text } = await release(channel);
        t.ok(done, `${name} to ${channel}: ${text}`);
        t.ok((await held(snap)).includes(`latest/${channel}`), `${name} to ${channel}`);
      }
    }
  },
);

/** A revision that is here already, released. */
async function releasing({ store, run }: Site): Promise<Door[]> {
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  await addRevision(store, id, 1, { details: { grade: 'devel', confinement: 'strict' } });
  const called = async (path: string, body: unknown): Promise<Attempt> => {
    const { status, body: reply } = await ada.post(path, body);
    if (status !== 200) t.equal(status, 400, `${path}: ${JSON.stringify(reply)}`);
    return { snap: 'hello', done: status === 200, text: JSON.stringify(reply) };
  };
  return [
    {
      is: 'operations/releases/release-request.ts',
      name: 'a release over HTTP',
      release: (channel) => called('/v1/snap/hello/releases', [{ channel, revision: 1 }]),
    },
    {
      is: 'operations/releases/release-request.ts',
      name: 'a progressive release over HTTP',
      release: (channel) =>
        called('/v1/snap/hello/releases', [{ channel, revision: 1, progressive: { percentage: 20, paused: false } }]),
    },
    {
      is: 'operations/dashboard/snap-release.ts',
      name: 'a release or a promotion by the older tools',
      release: (channel) =>
        called('/dev/api/snap-release/', { name: 'hello', series: '16', revision: '1', channels: [channel] }),
    },
    {
      is: 'cli/releases/release.ts',
      name: 'a release from the host',
      async release(channel) {
        const { code, out, err } = await run(`release snap/hello 1 ${channel}`);
        return { snap: 'hello', done: code === 0, text: out + err };
      },
    },
    {
      is: 'console/releases/release.ts',
      name: 'a release in the console',
      release: (channel) => pressed(store, channel),
    },
  ];
}

/** The page with the changes of a release shows it as well, and has no button for it. */
async function pressed(store: Site['store'], channel: string): Promise<Attempt> {
  const { browsers } = store.beside.authority;
  const session = await browsers.begin(store.ids.ada, { address: '127.0.0.1', requestId: 'x' });
  const form = '/console/packages/snap/hello/release';
  const headers = { cookie: `larder-session=${session}` };
  const preview = await (await fetch(`${store.url}${form}?revision=1&channels=${channel}`, { headers })).text();
  const token = (await browsers.find(session)).formToken(form);
  const body = new URLSearchParams({ revision: '1', channels: channel, 'form-token': token });
  const sent = await fetch(store.url + form, { method: 'POST', headers, body, redirect: 'manual' });
  const done = /\?done=released$/.test(sent.headers.get('location') ?? '');
  t.equal(/<button>Release revision 1/.test(preview), done, 'a button for what can be done');
  return { snap: 'hello', done, text: done ? '' : /its grade is[^<]*/.exec(preview)![0] + (await sent.text()) };
}

/** A file that is pushed for a channel; another snap each time, because each push makes a revision. */
function pushing({ store, run }: Site, place: string): Door[] {
  let pushes = 0;
  const next = (): { name: string; file: string; bytes: Buffer } => {
    const name = `push-${String((pushes += 1)).padStart(2, '0')}x`;
    const [file, bytes] = [join(place, `${name}.snap`), unfinished(name, 1)];
    writeFileSync(file, bytes);
    return { name, file, bytes };
  };
  return [
    {
      is: 'cli/uploads/push.ts',
      name: 'a push from the host that releases',
      async release(channel) {
        const { name, file } = next();
        await run(`package register snap/${name} --account ${store.ids.ada}`);
        const { code, out, err } = await run(`package push ${file} --release ${channel} --yes`);
        return { snap: name, done: code === 0, text: out + err };
      },
    },
    {
      is: 'jobs/uploads/finish-pushes.ts',
      name: 'a push with channels',
      async release(channel) {
        const { name, bytes } = next();
        const ada = await store.as('ada');
        await ada.post('/v1/snap', { name });
        const body = {
          name,
          series: '16',
          updown_id: await ada.upload(bytes),
          binary_filesize: 1,
          channels: [channel],
        };
        const { status_details_url: url } = (await ada.post('/dev/api/snap-push/', body)).body as Record<
          string,
          string
        >;
        const status = new URL(url ?? '').pathname;
        await store.appliance.reviewed();
        await until(async () => ((await ada.get(status)).body as { processed: boolean }).processed);
        const statusBody = (await ada.get(status)).body as { errors?: unknown };
        return { snap: name, done: statusBody.errors === undefined, text: JSON.stringify(statusBody) };
      },
    },
    {
      is: 'cli/packages/import/import-snaps.ts',
      name: 'an import that releases',
      async release(channel) {
        const { name, bytes } = next();
        const online = join(place, name);
        mkdirSync(online);
        writeFileSync(join(online, `${name}_1.snap`), bytes);
        writeFileSync(join(online, `${name}_1.assert`), stream(await assertionsOf(offered(name, 1), bytes)));
        const { code, out, err } = await run(`package import ${online} --release ${channel} --yes`);
        t.ok(await store.beside.records.packages.find('snap', name), 'it comes in nevertheless');
        return { snap: name, done: code === 0, text: out + err };
      },
    },
  ];
}

/** Sends what a depot has made of the snap 'carrying': revision 1 is unfinished, revision 2 is not. */
async function depot({ run }: Pick<Site, 'run'>, stick: string) {
  const { publicKey } = seedOf(1);
  const identity = join(stick, 'depot.json');
  writeFileSync(identity, JSON.stringify({ format: 1, site: 'depot', keys: [publicKey], threshold: 1 }));
  await run(`site trust ${identity} --fingerprint ${fingerprintOf([publicKey])[0] ?? ''}`);
  const files = [unfinished('carrying', 1), snapOf(offered('carrying', 2))];
  let sequence = 0;
  return async (channel: string, revision: number): Promise<string> => {
    const at = new Date().toISOString();
    const released = { channel, slot: 'amd64', architecture: 'amd64', revision, 'released-at': at };
    const hello = { ...helloWith(files), name: 'carrying', id: 'c'.repeat(32), channels: [released] };
    const transfer = example(files, {
      sequence: (sequence += 1),
      created: at,
      expires: new Date(Date.now() + days(9)).toISOString(),
      packages: [hello],
    });
    const [part = ''] = await written(transfer, stick);
    const { code, err } = await run(`transfer receive ${part}`);
    if (code !== 0) throw new Error(err);
    return idOf(transfer.bytes);
  };
}

/** A transfer from a source that has the revision in a channel. The plan says that it cannot be released. */
async function carrying(site: Site, stick: string): Promise<Door[]> {
  const send = await depot(site, stick);
  const accepted = async (line: string): Promise<Attempt> => {
    const { code, out, err } = await site.run(`transfer accept ${line} --yes`);
    return { snap: 'carrying', done: code === 0, text: out + err };
  };
  const is = 'transfers/accept/acceptance.ts';
  return [
    {
      is,
      name: 'a transfer',
      release: async (channel) => accepted(await send(channel.replace(/^(?!latest\/)/, 'latest/'), 1)),
    },
    {
      is,
      name: 'a transfer whose channels get other names here',
      release: async (channel) =>
        accepted(`${await send('latest/edge', 1)} --as-channel edge=${channel.replace('latest/', '')}`),
    },
  ];
}

t.test('a snap that an older larder released to stable stays there, and is not restored there', async (t) => {
  const { store, run } = await askingSite(t, '');
  const send = await depot({ run }, folder(t));
  const accept = async (id: string): Promise<number> => (await run(`transfer accept ${id} --yes`)).code;
  t.equal(await accept(await send('latest/edge', 1)), 0);
  const [id, at] = ['c'.repeat(32), store.clock.now.toISOString()];
  const { records } = store.beside;
  const inStable = async () =>
    (await records.releases.inChannel(id, 'latest/stable', at)).map(({ revision }) => revision);
  const [heldRelease] = await records.releases.held(id);
  await store.beside.records.change({ at, actor: 'test', action: 'release', object: 'snap/carrying' }, (tx) =>
    tx.releases.fill({ ...heldRelease!, channel: 'latest/stable', progressive: everyDevice }),
  );
  t.match(await run('release snap/carrying 1 stable'), { code: 1, err: /its grade is 'devel'/ });
  t.equal(await accept(await send('latest/stable', 1)), 0, 'a transfer that says the same of it changes nothing');
  t.strictSame(await inStable(), [1]);
  const last = await send('latest/stable', 2);
  t.equal(await accept(last), 0);
  t.match(await run(`transfer withdraw ${last} --yes`), { code: 1, err: /its grade is 'devel'/ });
  t.strictSame(await inStable(), [2]);
});
