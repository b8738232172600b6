// Every fault of transfers is produced for real, and every place is asked about it.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { larder } from '#test/cli/world.ts';
import { folder } from '#test/cli/process.ts';
import type { ConsoleStore } from '#test/console/world.ts';
import { rootsFile } from '#test/fixtures/packages/online-store.ts';
import { first, rotateCommand, second, sent, thief, third, trustCommand } from '#test/transfers/two-of-three.ts';
import type { Test } from './places.ts';
import { reconfigure, testRows, type Row } from './rows.ts';

const commandsOn =
  (t: Test, { directory }: ConsoleStore) =>
  async (line: string): Promise<void> => {
    const { code, err } = await larder(`${line} --data ${directory}`);
    t.equal(code, 0, err);
  };

const watching = (store: ConsoleStore, watched: string): (() => void) =>
  reconfigure(store, (text) => text.replace(/^# watch = .*$/m, `watch = ${JSON.stringify(watched)}`));

const rows: Row[] = [
  {
    code: 'transfer-held',
    says: /^Number 1 of depot waits for a decision and was not accepted automatically: snap\/hello-on is new here/,
    async produce(store, t) {
      reconfigure(store, (text) =>
        text.replace(/^# trusted = .*$/m, `trusted = [${JSON.stringify(rootsFile(folder(t)))}]`),
      );
      const run = commandsOn(t, store);
      await run('site init site-a');
      await run(`${trustCommand(t)} --accept automatic`);
      const { part, id } = await sent(t, { sequence: 1 });
      await run(`transfer receive ${part}`);
      return () => run(`transfer accept ${id} --yes`);
    },
  },
  {
    code: 'source-key-copied',
    says: /Two different rotations with one number prove that a key of 'depot' was copied/,
    async produce(store, t) {
      const run = commandsOn(t, store);
      await run('site init site-a');
      await run(trustCommand(t));
      await run(rotateCommand(t, { keys: [thief], by: [first, second] }));
      const other = rotateCommand(t, { keys: [third], by: [first, second] });
      t.match(await larder(`${other} --data ${store.directory}`), { code: 1 });
      return () => run('site distrust depot --yes');
    },
  },
  {
    code: 'former-store-key',
    says: /adopted a former store; the key that it used is in .*\/adopting/,
    produce({ directory }) {
      const adoptingFolder = join(directory, 'adopting');
      mkdirSync(adoptingFolder, { mode: 0o700 });
      return () => rmSync(adoptingFolder, { recursive: true });
    },
  },
  {
    code: 'watched-folder-gone',
    says: /^The watched folder .*\/media cannot be read, so no transfer is received from it: there is no .*\/media/,
    produce(store, t) {
      const media = join(folder(t), 'media');
      mkdirSync(media);
      watching(store, media);
      renameSync(media, `${media}.away`);
      return () => renameSync(`${media}.away`, media);
    },
  },
  {
    code: 'watched-folder',
    says: /bad\.tar in the watched folder was not received/,
    limits: { watchMs: 10 },
    runsJobs: true,
    isNoticedLater: true,
    produce(store, t) {
      const media = folder(t);
      const bad = join(media, 'bad.tar');
      writeFileSync(bad, 'nothing');
      watching(store, media);
      return () => rmSync(bad);
    },
  },
];

testRows(rows);
