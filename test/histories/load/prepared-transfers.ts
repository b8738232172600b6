// Signed transfers of another site, made before a history begins. Each has a snap of its own.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { changeConfig } from '#configuration/config.ts';
import { folder } from '#test/cli/process.ts';
import { download, offered, rootsFile } from '#test/fixtures/packages/online-store.ts';
import { site } from '#test/transfers/sites.ts';

export interface PreparedTransfer {
  id: string;
  /** The file with all of its parts. */
  file: string;
}

/** What another site has made, and how it is trusted. */
export interface TransferSource {
  /** The file and the fingerprints for `larder site trust`. */
  file: string;
  fingerprints: readonly string[];
  /** The authority of its assertions, for `assertions.trusted`. */
  roots: string;
  /** The transfer that brings the assertions that all others need; received and accepted before the history begins. */
  first: PreparedTransfer;
  transfers: readonly PreparedTransfer[];
}

/** More in the long form of the lane. */
const transferCount = process.env['LARDER_LONG'] === '1' ? 40 : 6;

const snapName = (number: number): string => `pump-${String(number).padStart(3, '0')}`;

export async function prepareTransfers(t: { teardown(work: () => unknown): void }): Promise<TransferSource> {
  const [depot, stick] = [await site(t, 'depot'), folder(t)];
  const online = join(stick, 'online');
  mkdirSync(online);
  for (let number = 0; number <= transferCount; number++) await download(online, offered(snapName(number), 1));
  await depot.done(`package import ${online} --release stable --yes`);
  const made: PreparedTransfer[] = [];
  for (let number = 0; number <= transferCount; number++) {
    const file = join(stick, `${number}.tar`);
    const { id } = (await depot.done(`transfer make ${file} --packages snap/${snapName(number)}`)) as { id: string };
    made.push({ id, file });
  }
  const [first, ...transfers] = made;
  const file = join(stick, 'depot.json');
  await depot.done(`site show --export ${file}`);
  const { site: shown } = (await depot.done('site show')) as { site: { fingerprints: string[] } };
  return { file, fingerprints: shown.fingerprints, roots: rootsFile(stick), first: first!, transfers };
}

/** Runs `larder` with these arguments on a host of the store; returns its JSON output. */
export type RunCommand = (...args: string[]) => Promise<unknown>;

/** The settings of a store that receives from the source. */
export const trustRoots = (data: string, { roots }: TransferSource): void =>
  changeConfig(join(data, 'larder.toml'), { 'assertions.trusted': [roots] });

/** Has a store trust the source, and accept its first transfer. */
export async function trustSource(run: RunCommand, { file, fingerprints, first }: TransferSource): Promise<void> {
  await run('site', 'init', 'site-a');
  await run('site', 'trust', file, ...fingerprints.flatMap((fingerprint) => ['--fingerprint', fingerprint]));
  await run('transfer', 'receive', first.file);
  await run('transfer', 'accept', first.id, '--yes');
}
