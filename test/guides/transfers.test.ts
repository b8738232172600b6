// The guide for transfers, typed unchanged at two sites with one stick between them.
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { parse } from 'smol-toml';
import t from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { askingSite } from '#test/fixtures/accounts/approvers.ts';
import { snapInfo } from '#test/fixtures/packages/fetched.ts';
import { examplesIn, examplesOf, missingOutput } from '#test/fixtures/guides.ts';
import { download, offered, rootsFile } from '#test/fixtures/packages/online-store.ts';
import { folder, newStore, type NewStore } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { buildIn, keysOf, makeRelease, newSigner } from '#test/transfers/larder-release/releases.ts';

t.setTimeout(600_000);

const root = join(import.meta.dirname, '../..');

/** The examples in the order of use: a round needs the setup from further down. */
function examplesInOrder(): string[][] {
  const examples = examplesOf('transfers').filter(({ language }) => language !== 'text');
  const round = examples.filter(({ section }) => section === 'A round');
  const others = examples.filter((example) => !round.includes(example));
  const after = others.findLastIndex(({ section }) => section === 'Request what a site needs') + 1;
  return [...others.slice(0, after), ...round, ...others.slice(after)].map(({ lines }) => lines);
}

const fingerprintIn = (text: string): string => /fingerprint ((?:[0-9a-f]{4}-){7}[0-9a-f]{4})/.exec(text)?.[1] ?? '';

/** A site that requires approval for unsigned folders. */
async function asking(t: Parameters<typeof newStore>[0]): Promise<Pick<NewStore, 'data'>> {
  const { store } = await askingSite(t, 'unsigned_folders = "1 of B"');
  // The clock of this store stands still; the commands of the guide read that of the host.
  await larder(`clock accept --yes --data ${store.directory}`);
  return { data: store.directory };
}

/** Puts the settings of a block into the configuration, which has the sections already. */
function configured({ data }: Pick<NewStore, 'data'>, text: string): void {
  for (const [section, keys] of Object.entries(parse(text) as Record<string, Record<string, string | string[]>>)) {
    const values = Object.entries(keys).map(([key, value]) => [`${section}.${key}`, value]);
    changeConfig(join(data, 'larder.toml'), Object.fromEntries(values) as Record<string, string | string[]>);
  }
}

/** Runs a line in a shell; a command of larder by itself runs in this process, which takes a tenth of the time. */
async function runTyped(line: string, bin: string, variables: Record<string, string>): Promise<string> {
  const filledIn = line.replaceAll(/\$([A-Z]+)\b/g, (_, name: string) => variables[name] ?? '');
  if (/^larder [^$|<>;&*`]*$/.test(filledIn)) {
    const { code, out, err } = await larder(filledIn.replace(/^larder /, ''), { env: variables });
    if (code !== 0) throw new Error(`${line}: ${err}`);
    return out;
  }
  const env = { ...process.env, ...variables, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  return (await promisify(execFile)('sh', ['-ec', line], { env })).stdout;
}

t.test('the lines of the guide bring a snap from one site to the other, and back', async (t) => {
  const [depot, receiver, fresh, careful] = [await newStore(t), await newStore(t), await newStore(t), await asking(t)];
  const [stick, downloaded, bin] = [folder(t), folder(t), folder(t)];
  for (const { data } of [depot, receiver, fresh, careful])
    changeConfig(join(data, 'larder.toml'), { 'assertions.trusted': [rootsFile(bin)] });
  await download(downloaded, offered('hello-on', 12));
  await depot.json(`package import ${downloaded} --release stable --yes`);
  writeFileSync(
    join(bin, 'larder'),
    `#!/bin/sh\nexec env -u NODE_OPTIONS '${process.execPath}' '${join(root, 'src/main.ts')}' "$@"\n`,
  );
  chmodSync(join(bin, 'larder'), 0o755);
  const desk = { data: join(folder(t), 'collector') };
  mkdirSync(join(stick, 'fetched'));
  await download(join(stick, 'fetched'), offered('hello-on', 13));
  writeFileSync(join(stick, 'fetched', 'info.json'), JSON.stringify(snapInfo(offered('hello-on', 13), 'stable')));
  const signer = newSigner(bin);
  buildIn(t, keysOf(signer));
  renameSync(makeRelease(bin, signer), join(stick, 'larder-1.2.0'));
  const sites: Record<string, Pick<NewStore, 'data'>> = {
    'at the depot': depot,
    'at site-a': receiver,
    'at the desk': desk,
    'at the new site': fresh,
    anywhere: depot,
    'at the careful site': careful,
  };
  // A filled folder replaces the downloads: the downloading programs are foreign, and the line is tested with them
  // elsewhere.
  const typed = (line: string): string =>
    line.replace(
      /^larder transfer fetch (\S+) (\S+)$/,
      `larder transfer gather ${downloaded} $2 --request $1 --release stable`,
    );
  const outputs: string[] = [];
  const variables: Record<string, string> = {};
  for (const [where = '', ...lines] of examplesInOrder()) {
    const site = sites[where.replace(/^# (?:larder\.toml )?/, '')];
    if (site === undefined) throw new Error(`the guide says nothing of where this is typed: ${where}`);
    if (where.startsWith('# larder.toml ')) {
      configured(site, lines.join('\n'));
      continue;
    }
    for (const line of lines) {
      const stdout = await runTyped(typed(line).replaceAll('/media/stick', stick), bin, {
        ...variables,
        LARDER_DATA: site.data,
      });
      outputs.push(stdout);
      // Text that a person reads on one screen and types at the next.
      if (line.startsWith('larder site init desk')) variables['DESK_FINGERPRINT'] = fingerprintIn(stdout);
      variables['FINGERPRINT'] ??= fingerprintIn(stdout);
      variables['ID'] = /Transfer ([0-9a-f]{12}),/.exec(stdout)?.[1] ?? variables['ID'] ?? '';
      if (line.startsWith('larder transfer accept')) {
        t.match(await receiver.json('package show snap/hello-on'), { name: 'hello-on' }, 'it is at the other site');
      }
    }
  }
  t.ok(existsSync(join(stick, 'receipt.json')));
  t.ok(existsSync(join(stick, 'round-receipt.json')), 'the round ends with its receipt');
  t.ok(existsSync(join(stick, 'round-backup.tar')));
  t.match(
    examplesIn('transfers', 'A round', 3).at(-1)?.at(-1),
    /^larder backup \S+ --check$/,
    'the round ends with a backup that is checked',
  );
  t.same(missingOutput('transfers', 'A round', outputs.join('\n')), []);
  t.same(missingOutput('transfers', 'Make a transfer', outputs.join('\n')), []);
  t.match(outputs.join('\n'), /Transfers of desk are no longer trusted\./);
  t.match(outputs.join('\n'), /revision 12/);
  t.match(outputs.join('\n'), /are withdrawn: 1 release\./);
  t.match(outputs.join('\n'), /The transfer is for request 1 of site-a/);
  t.match(outputs.join('\n'), /It was accepted automatically: \d+ changes\./);
  t.match(outputs.join('\n'), /It has the label restricted/);
  t.match(outputs.join('\n'), /It is not signed: it can be accepted only with the approvals/);
  t.ok(existsSync(join(stick, 'larder-request/fetch.sh')) && existsSync(join(stick, 'from-desk.tar')));
  t.ok(outputs.some((output) => /larder\/statement\.json\nlarder\/signatures\.json/.test(output)));
  t.match(await fresh.json('package show snap/hello-on'), { name: 'hello-on' }, 'the former store is taken over');
});
