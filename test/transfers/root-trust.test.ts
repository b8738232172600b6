// The roots of trust of a site count as they are when a transfer is accepted, whatever they were when it arrived.
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { approveProposal } from '#acts/approvals/proposals.ts';
import { changeConfig } from '#configuration/config.ts';
import { folder } from '#test/cli/process.ts';
import { askingSite } from '#test/fixtures/accounts/approvers.ts';
import { rootsFile } from '#test/fixtures/packages/online-store.ts';
import { offered, twoSites } from './sites.ts';

t.setTimeout(600_000);

const stages = ['received', 'previewed', 'proposed', 'approved'] as const;

/** A depot, and a site that asks bob about its transfers, with roots that vouch for the snaps of the depot. */
async function sites(t: Test) {
  const { depot, stick, carry } = await twoSites(t);
  const { store, run } = await askingSite(t, 'transfers = "1 of B"');
  const roots = [rootsFile(folder(t))];
  const trustRoots = (files: string[]): void =>
    changeConfig(join(store.directory, 'larder.toml'), { 'assertions.trusted': files });
  const approve = async (number: number): Promise<void> => {
    const login = { accountId: store.ids.bob, at: store.clock.now.toISOString() };
    await store.beside.acts.do(approveProposal, { actor: store.ids.bob }, { number, login });
  };
  const identity = join(stick, 'source.json');
  const shown = (await depot.done(`site show --export ${identity}`)) as { site: { fingerprints: string[] } };
  const trust = `site trust ${identity} --fingerprint ${shown.site.fingerprints[0] ?? ''}`;
  await run('site init site-b');
  await run(trust);
  await approve(1);
  await run(trust);
  /** Proposes the acceptance, or does it; the number of the proposal that waits. */
  const accept = async (id: string): Promise<number | 'accepted'> => {
    const { code, err } = await run(`transfer accept ${id} --yes`);
    const [, number] = /Waits for 1 more approval \(proposal (\d+)/.exec(err) ?? [];
    if (code !== 0 && number === undefined) throw new Error(err);
    return code === 0 ? 'accepted' : Number(number);
  };
  /** Brings a transfer of a new snap to a stage; the number of its proposal. */
  const bring = async (stage: (typeof stages)[number], name: string) => {
    trustRoots(roots);
    await carry(offered(name, 12));
    const file = join(stick, `${name}.tar`);
    const { id } = (await depot.done(`transfer make ${file} --packages snap/${name}`)) as { id: string };
    await run(`transfer receive ${file}`);
    if (stage !== 'received') t.match((await run(`transfer preview ${id}`)).out, / upstream\b/);
    const number = stage === 'proposed' || stage === 'approved' ? await accept(id) : undefined;
    if (stage === 'approved') await approve(Number(number));
    return { id, number };
  };
  return { records: store.beside.records, run, trustRoots, approve, accept, bring };
}

t.test('after a root is distrusted, it vouches for nothing in a waiting transfer, at any stage', async (t) => {
  const { records, run, trustRoots, approve, accept, bring } = await sites(t);
  for (const [at, stage] of stages.entries()) {
    const { id, number } = await bring(stage, `hello-o${String(at)}`);
    if (number !== undefined)
      t.match(
        (await run(`approval show ${String(number)}`)).out,
        /\(roots\): nothing → trusted roots vouch for /,
        stage,
      );
    // Those of the public online store, which say nothing of these snaps.
    trustRoots([]);
    const other = await accept(id);
    t.not(other, 'accepted', `${stage}: no approval was given for this`);
    t.not(other, number, `${stage}: another proposal, because another change would be approved`);
    t.notMatch((await run(`approval show ${String(other)}`)).out, /trusted roots/, stage);
    await approve(Number(other));
    t.equal(await accept(id), 'accepted', stage);
    t.match((await records.transfers.find(id))?.receipt, /no assertion that this site believes/, stage);
  }
});

t.test('an approval counts while the same roots are trusted', async (t) => {
  const { accept, bring } = await sites(t);
  const { id } = await bring('approved', 'hello-on');
  t.equal(await accept(id), 'accepted');
});
