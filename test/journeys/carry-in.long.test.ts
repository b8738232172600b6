// Snaps are imported from another store, and the command is killed again and again. It resumes after each kill, and
// leaves no partial import.
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { parseAssertion, stream } from '#assertions/format/assertion.ts';
import { withPrerequisites } from '#assertions/prerequisites.ts';
import { openStore, type StoreHandle } from '#data/store.ts';
import { changeConfig } from '#configuration/config.ts';
import { requestedJudge } from '#test/assertions/judge.ts';
import { folder, newStore, serve, start } from '#test/cli/process.ts';
import { contentsOf, halfReceived } from '#test/fixtures/contents.ts';
import { download, offered, rootsFile } from '#test/fixtures/packages/online-store.ts';
import { until } from '#test/fixtures/until.ts';

const long = process.env['LARDER_LONG'] === '1';
/** How many snaps are on the stick, two revisions of each package, and how often the command is killed. */
const [snaps, kills] = long ? [2000, 40] : [16, 2];
t.setTimeout(long ? 3_000_000 : 600_000);
const judge = requestedJudge();

async function world(t: Test) {
  const store = await newStore(t);
  const [stick, files] = [join(folder(t), 'stick'), folder(t)];
  mkdirSync(stick);
  const roots = rootsFile(files);
  changeConfig(join(store.data, 'larder.toml'), { 'assertions.trusted': [roots] });
  for (let at = 0; at < snaps; at++) {
    const name = `p-${String(Math.floor(at / 2)).padStart(5, '0')}x`;
    await download(stick, offered(name, at % 2 === 0 ? 7 : 30));
  }
  return { ...store, stick, roots };
}

/** Each revision is complete; returns their number. */
async function isWhole(t: Test, { records, directory }: StoreHandle): Promise<number> {
  const entries = (await records.audit.list(0, 1_000_000)).filter(({ action }) => action === 'import_package');
  const wrong: string[] = [];
  const contents = new Set(contentsOf(directory));
  let count = 0;
  for (let at = 0; at < snaps / 2; at++) {
    const { id, name } = offered(`p-${String(at).padStart(5, '0')}x`, 7);
    const revisions = await records.revisions.list(id, 10);
    count += revisions.length;
    const subject = await records.packages.find('snap', name);
    if ((subject !== undefined) !== revisions.length > 0) wrong.push(`${name} is here without a revision`);
    for (const { revision, sha3_384 } of revisions) {
      const { assertion } = (await records.revisions.numbered(id, revision))!;
      const stored = await records.assertions.find(assertion ?? '');
      const chain =
        stored && (await withPrerequisites(parseAssertion(stored.text), (of) => records.assertions.listOf(of)));
      if (chain?.length !== 4) wrong.push(`${name} ${String(revision)} without its assertions`);
      if (!contents.has(sha3_384)) wrong.push(`${name} ${String(revision)} without content`);
    }
  }
  t.strictSame(wrong, []);
  t.equal(entries.length, count, 'each is in the audit log once');
  return count;
}

t.test('an import that is killed resumes, and ends with the same packages as at the source', async (t) => {
  const { data, json, stick, roots } = await world(t);
  const handle = await openStore({ directory: data });
  t.teardown(handle.close);
  let before = 0;
  for (let kill = 0; kill < kills; kill++) {
    const running = start(t, ['package', 'import', stick, '--release', 'edge', '--json', '--data', data]);
    const targetCount = before + 1 + Math.floor(Math.random() * (snaps / kills / 2));
    await until(
      async () => (await handle.records.counts.all()).revisions >= targetCount || running.child.exitCode !== null,
    );
    running.child.kill('SIGKILL');
    if (running.child.exitCode === null && running.child.signalCode === null) await once(running.child, 'exit');
    const count = await isWhole(t, handle);
    t.ok(count >= before, `${String(count)} are here`);
    before = count;
  }
  const { code, out, err } = await start(t, ['package', 'import', stick, '--release', 'edge', '--json', '--data', data])
    .ended;
  t.equal(code, 0, err);
  t.equal((JSON.parse(out) as { revisions: unknown[] }).revisions.length, snaps);
  t.equal(await isWhole(t, handle), snaps);
  t.match(await json('status snap/p-00000x'), { channels: [{ channel: 'latest/edge', revision: 30 }] });
  await serve(t, data);
  t.same(halfReceived(data), [], 'the next start takes away what was half received');
  t.match(await json('verify'), { good: true });
  const again = await json(`package import ${stick} --release edge`);
  t.ok((again.revisions as { 'is-here': boolean }[]).every((revision) => revision['is-here']));
  t.same(again.released, [], 'and what is released is not released again');

  const [name] = (await json('package list --limit 1')).packages.map((entry: { id: string }) => entry.id) as string[];
  const { assertion } = (await handle.records.revisions.numbered(name!, 30))!;
  const stored = (await handle.records.assertions.find(assertion!))!;
  const chain = await withPrerequisites(parseAssertion(stored.text), (of) => handle.records.assertions.listOf(of));
  const text = stream(chain);
  if (judge !== undefined) {
    const { status, stderr } = judge(text, '-trusted', roots);
    t.equal(status, 0, `a device takes what the store keeps of it ${stderr}`);
  }
});
