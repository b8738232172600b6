// A site that receives transfers and serves devices; its depot is a site too, or a key that signs any text.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Test } from 'tap';

import type { TransferFleet, TransferFleetSetting, TransferPackage } from '#contract/wire.ts';
import { approveProposal } from '#acts/approvals/proposals.ts';
import { folder } from '#test/cli/process.ts';
import { askingSite } from '#test/fixtures/accounts/approvers.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';
import { offered, snapOf } from '#test/fixtures/packages/online-store.ts';
import { rowsOf, unapproved } from '#test/fixtures/records/approved-rows.ts';
import { idOf } from '#transfers/statement/statement.ts';
import { fingerprintOf } from '#transfers/site.ts';
import { contentOf, example, goodNow, helloWith, seedOf, written } from '../statement/example.ts';
import { site, trust } from '../sites.ts';

export interface Preview {
  lines: { package: string; kind: string; what: string; from: string | null; to: string | null; notes: string[] }[];
  problems: { what: string; why: string }[];
  'left-out': { what: string; why: string }[];
}

/** A depot, and a site that trusts it, serves devices, and by default requires the approval of bob for stable. */
export async function depotAndShip(t: Test, policy = 'releases = ["1 of B for */*:*/stable"]') {
  const [depot, stick, ship] = [await site(t, 'depot'), folder(t), await startShip(t, policy)];
  const { run, json, done } = ship;
  await trust({ ...depot, done: async (line: string) => (await done(line)).out }, depot, join(stick, 'depot.json'));
  let number = 0;
  /** Carries packages of the depot to the ship; returns the id and the preview. */
  const carry = async (...globs: string[]) => {
    const file = join(stick, `${String(++number)}.tar`);
    const { id } = (await depot.done(
      `transfer make ${file} ${globs.map((glob) => `--packages ${glob}`).join(' ')}`,
    )) as { id: string };
    const received = await run(`transfer receive ${file} --json`);
    if (received.code !== 0) throw new Error(received.err);
    return { id, received: received.out, preview: (await json(`transfer preview ${id}`)) as Preview };
  };
  return { ...ship, depot, carry, stick };
}

/** A site that serves devices, with a policy for bob. */
async function startShip(t: Test, policy: string) {
  const { store, run } = await askingSite(t, policy, servingSnaps);
  const approve = async (number: number) => {
    const login = { accountId: store.ids.bob, at: store.clock.now.toISOString() };
    await store.beside.acts.do(approveProposal, { actor: store.ids.bob }, { number, login });
  };
  /** Runs a command; bob approves of it if it waits. Returns the lines that bob saw, and the output. */
  const done = async (line: string) => {
    const first = await run(`${line} --json`);
    const number = Number(/\(proposal (\d+),/.exec(first.err)?.[1] ?? 0);
    if (number === 0 && first.code !== 0) throw new Error(`${line}: ${first.err}`);
    if (number === 0) return { lines: [], out: JSON.parse(first.out) as unknown };
    const { lines } = (await store.beside.records.proposals.find(number))!;
    const before = await rowsOf(store);
    await approve(number);
    const second = await run(`${line} --json`);
    if (second.code !== 0) throw new Error(`${line}: ${second.err}`);
    const act = line.startsWith('transfer accept') ? 'accept_transfer' : 'withdraw_transfer';
    const unseen = line.startsWith('transfer') ? unapproved(act, { lines, before, after: await rowsOf(store) }) : [];
    if (unseen.length > 0) throw new Error(`${line}: ${unseen.join('\n')}`);
    const shown = lines
      .filter(({ kind }) => kind === 'releases')
      .map(({ on, part, from, to }) => `${on} ${part ?? ''}: ${from ?? '-'} → ${to ?? '-'}`);
    return { lines: shown, out: JSON.parse(second.out) as unknown };
  };
  const json = async (line: string) => JSON.parse((await run(`${line} --json`)).out) as unknown;
  await run('site init ship');
  return { store, run, done, json };
}

/** A signed transfer of fleets, with a snap: revision 1 in stable, 2 in edge, 3 withdrawn, and 4 without a release. */
export async function forging(t: Test, more = '', policy = '') {
  const ship = await startShip(t, policy);
  const { run, json } = ship;
  const [stick, { publicKey }] = [folder(t), seedOf(1)];
  const identity = join(stick, 'depot.json');
  writeFileSync(identity, JSON.stringify({ format: 1, site: 'depot', keys: [publicKey], threshold: 1 }));
  const trustDepot = (how: string) =>
    ship.done(`site trust ${identity} --fingerprint ${fingerprintOf([publicKey])[0] ?? ''} ${how}`);
  await trustDepot(more);
  const files = [1, 2, 3, 4].map((revision) => snapOf(offered('hello-on', revision)));
  const hello = { ...helloWith(files), name: 'hello-on', id: 'h'.repeat(32) };
  const released = { slot: 'amd64', architecture: 'amd64', 'released-at': '2026-01-01T00:00:00Z' };
  const channels = [
    { ...released, channel: 'latest/stable', revision: 1 },
    { ...released, channel: 'latest/edge', revision: 2 },
    { ...released, channel: 'latest/beta', revision: 3 },
  ];
  let sequence = 0;
  const send = async (fleets: TransferFleet[], changes: Partial<TransferPackage>[] = []) => {
    const packages = changes.map((change) => ({ ...hello, channels, ...change }));
    const sent = packages.length === 0 ? [] : files;
    const transfer = example(sent, {
      ...goodNow(),
      sequence: ++sequence,
      packages,
      ...(fleets.length > 0 && { fleets }),
    });
    const [part = ''] = await written(transfer, folder(t));
    const received = await run(`transfer receive ${part} --json`);
    const id = idOf(transfer.bytes);
    const preview = received.code === 0 ? ((await json(`transfer preview ${id}`)) as Preview) : undefined;
    return { received, accept: () => run(`transfer accept ${id} --yes`), preview: preview!, id };
  };
  const snap = { id: hello.id, name: hello.name };
  const pin = (revision: number, changes: Partial<TransferFleetSetting> = {}): TransferFleetSetting => {
    const content = { 'sha3-384': contentOf(files[(revision - 1) % 4]!)['sha3-384'] };
    return { snap, channel: 'latest/stable', slot: 'amd64', mode: 'pin', revision, ...content, ...changes };
  };
  const follow = (channel: string, follows: string): TransferFleetSetting => {
    return { snap, channel, follows, slot: '*', mode: 'follow' };
  };
  return { ...ship, trustDepot, send, snap, pin, follow };
}

/** A fleet by the serial of its own name. */
export const fleet = (name: string, channels: TransferFleetSetting[] = [], changes: Partial<TransferFleet> = {}) => ({
  name,
  kind: 'serial' as const,
  devices: [`acme/pump/${name}`],
  channels,
  hidden: [],
  ...changes,
});
