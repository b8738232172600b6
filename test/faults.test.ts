// Every fault is produced for real and then asked for at every place that shows how a store is: none of them says that all is
// well, and all use the same words.
import { chmodSync, existsSync, globSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { days } from '#domain/clock.ts';
import { faultKinds, type Fault, type FaultCode } from '#src/faults.ts';
import { larder } from '#test/cli/world.ts';
import { startConsole, type ConsoleStore } from '#test/console/world.ts';
import { until } from '#test/fixtures/until.ts';

type Test = Parameters<NonNullable<Parameters<typeof t.test>[0]>>[0];

interface Row {
  code: FaultCode;
  /** How the fault comes about; what it returns removes it. */
  produce(store: ConsoleStore, t: Test): Promise<(() => Promise<void> | void) | undefined> | (() => void) | undefined;
  configure?: (text: string) => string;
  /** Part of the sentence. */
  says: RegExp;
}

const configuration = ({ directory }: ConsoleStore): string => join(directory, 'larder.toml');

function changeFile(file: string, change: (text: string) => string): () => void {
  const before = readFileSync(file, 'utf8');
  writeFileSync(file, change(before));
  return () => writeFileSync(file, before);
}

const rows: Row[] = [
  {
    code: 'sealed',
    says: /without the signing master key it signs nothing/,
    produce({ directory, appliance }) {
      const key = join(directory, 'master.key');
      renameSync(key, `${key}.aside`);
      appliance.reload();
      return () => {
        renameSync(`${key}.aside`, key);
        appliance.reload();
      };
    },
  },
  {
    code: 'configuration-refused',
    says: /The last reload was refused.*larder\.toml:\d+/,
    produce(store, t) {
      const undo = changeFile(configuration(store), (text) => `${text}\n[nonsense]\n`);
      t.throws(() => store.appliance.reload());
      return () => {
        undo();
        store.appliance.reload();
      };
    },
  },
  {
    code: 'administrator-credential',
    says: /auth\.store_admin_id is missing/,
    produce(store) {
      const undo = changeFile(configuration(store), (text) => text.replace(/^store_admin_id = .*$/m, ''));
      store.appliance.reload();
      return () => {
        undo();
        store.appliance.reload();
      };
    },
  },
  {
    code: 'backup-missing',
    says: /No backup was made yet/,
    produce:
      ({ directory }, t) =>
      async () => {
        t.match(await larder(`backup ${join(t.testdir(), 'one.tar')} --data ${directory}`), { code: 0 });
      },
  },
  {
    code: 'backup-overdue',
    says: /No backup was ever made of this store/,
    produce(store, t) {
      store.clock.advance(days(8));
      return async () => {
        store.clock.advance(-days(8));
        t.match(await larder(`backup ${join(t.testdir(), 'one.tar')} --data ${store.directory}`), { code: 0 });
      };
    },
  },
  {
    code: 'backup-failed',
    says: /The last backup failed at .*: cannot make the folder .*\/no\/such\/place/,
    async produce({ directory }, t) {
      const folder = t.testdir();
      t.match(await larder(`backup ${folder}/no/such/place --keep 2 --data ${directory}`), { code: 1 });
      return async () => {
        t.match(await larder(`backup ${folder}/made --keep 2 --data ${directory}`), { code: 0 });
        t.ok(existsSync(join(folder, 'made')), 'the folder is made');
      };
    },
  },
  {
    code: 'damaged-blobs',
    says: /damaged and out of service: bin\/tool revision 1/,
    async produce(store) {
      const ada = await store.as('ada');
      await ada.post('/v1/bin', { name: 'tool' });
      await ada.push('bin', 'tool', 'a tool');
      const { sha3_384 } = (await store.beside.records.revisions.find(
        (await store.beside.records.packages.find('bin', 'tool'))!.id,
        1,
      ))!;
      const [file = ''] = globSync(join(store.directory, 'blobs', '**', `*${sha3_384.slice(2)}`));
      chmodSync(file, 0o600);
      writeFileSync(file, 'b tool');
      // A start reads all blobs again.
      await store.restart();
      await until(async () => (await store.anyone.get('/readyz')).body.problems.length > 0);
      return undefined;
    },
  },
  {
    code: 'pending',
    says: /^1 upload waits for people/,
    async produce(store, t) {
      const ada = await store.as('ada');
      await ada.post('/v1/bin', { name: 'tool' });
      await larder(`package manual-review bin/tool on --data ${store.directory}`);
      const upload = await ada.upload('a tool');
      await ada.post('/v1/bin/tool/revisions', { 'upload-id': upload });
      await store.appliance.reviewed();
      const [waiting] = (
        JSON.parse((await larder(`review list --data ${store.directory} --json`)).out) as {
          uploads: Record<'upload-id', string>[];
        }
      ).uploads;
      return async () => {
        t.match(await larder(`review approve ${waiting!['upload-id']} --data ${store.directory}`), { code: 0 });
      };
    },
  },
  {
    code: 'unknown-proxy',
    says: /X-Forwarded-For from 127\.0\.0\.1/,
    async produce(store) {
      await store.anyone.get('/readyz', { 'x-forwarded-for': '10.0.0.9' });
      return () => {
        changeFile(configuration(store), (text) =>
          text.replace(/^# trusted_proxies = .*$/m, 'trusted_proxies = ["127.0.0.1"]'),
        );
        store.appliance.reload();
      };
    },
  },
  {
    code: 'clock',
    says: /more than a day after the time that it should show by now/,
    produce(store) {
      store.clock.step(days(3));
      return () => store.clock.step(-days(3));
    },
  },
  {
    code: 'tokens-ending',
    says: /^1 token in use for two weeks or more ends within the next two/,
    async produce(store) {
      await store.as('ada', { ttl: 20 * 86_400 });
      store.clock.advance(days(15));
      return undefined;
    },
  },
  {
    code: 'transfer-overdue',
    says: /No transfer was ever accepted here/,
    configure: (text) => text.replace(/^# expected_days = .*$/m, 'expected_days = 7'),
    produce: () => undefined,
  },
  {
    code: 'reserve-too-large',
    says: /The whole disk has \d+ MiB, and uploads\.reserve keeps \d+ MiB/,
    produce(store) {
      const undo = changeFile(configuration(store), (text) => text.replace(/^# reserve = .*$/m, 'reserve = "900 TiB"'));
      store.appliance.reload();
      return () => {
        undo();
        store.appliance.reload();
      };
    },
  },
  {
    code: 'damaged-row',
    says: /Row \S+ of revisions is not as it was written/,
    async produce(store) {
      const ada = await store.as('ada');
      await ada.post('/v1/bin', { name: 'tool' });
      await ada.push('bin', 'tool', 'a tool');
      const db = new SQLite(join(store.directory, 'larder.db'));
      db.prepare(`UPDATE revisions SET size = size + 1`).run();
      db.close();
      await ada.post('/v1/bin/tool/releases', [{ channel: 'edge', revision: 1 }]);
      return undefined;
    },
  },
  {
    code: 'approvals-not-in-force',
    says: /\[approvals\] in larder\.toml says is not in force: Waits for 2 more approvals/,
    configure: (text) => text.replace('# transfers = "0"', `transfers = "2 of ${'A'.repeat(32)}, ${'B'.repeat(32)}"`),
    async produce(store) {
      changeFile(configuration(store), (text) => text.replace(/^transfers = .*$/m, 'transfers = "0"'));
      store.appliance.reload();
      await until(async () => (await store.anyone.get('/readyz')).body.problems.length > 0);
      return undefined;
    },
  },
  {
    code: 'approvals-unmet',
    says: /The approval policy in force cannot be met\. The policy asks for 2 people, and 1 of the accounts that it names is/,
    configure: (text) => text.replace('# transfers = "0"', `transfers = "2 of ${'A'.repeat(32)}, ${'B'.repeat(32)}"`),
    async produce(store) {
      await store.disable('bob');
      store.appliance.reload();
      await until(async () => (await store.anyone.get('/readyz')).body.problems.length > 0);
      return undefined;
    },
  },
];

for (const { code, says, configure, produce } of rows) {
  t.test(`'${code}' shows at every place in the same words`, async (t) => {
    // The clock of the commands is the real one.
    const store = await startConsole(t, configure, new Date());
    const remove = await produce(store, t);
    const fault = await showsEverywhere(t, store, code);
    t.match(fault?.says, says);
    if (remove === undefined) return;
    await remove();
    await showsNowhere(t, store, code, fault);
  });
}

/** Asks every place; the fault as `larder status --json` has it. */
async function showsEverywhere(t: Test, store: ConsoleStore, code: FaultCode): Promise<Fault | undefined> {
  const isProblem = faultKinds[code].severity === 'problem';
  const { out } = await larder(`status --data ${store.directory} --json`);
  const fault = (JSON.parse(out) as { faults: Fault[] }).faults.find((one) => one.code === code);
  if (fault === undefined) {
    t.fail(`status does not show it: ${out}`);
    return undefined;
  }
  const { says, remedy } = fault;
  const ready = (await store.anyone.get('/readyz')).body as Record<'problems' | 'notices', string[]>;
  t.ok(ready[isProblem ? 'problems' : 'notices'].some(has(says, remedy)), '/readyz');
  t.ok(has(says, remedy)((await larder(`status --data ${store.directory}`)).out), 'status');
  const doctor = await larder(`doctor --data ${store.directory}`);
  t.ok(has(says, remedy)(doctor.out), 'doctor');
  if (isProblem) t.match(doctor, { code: 1, out: new RegExp(`WRONG ${fault.about}: `) }, 'doctor');
  else t.match(doctor.out, new RegExp(`(?:note |WRONG) ${fault.about}: `), 'doctor');
  const { text } = await (await store.visit('root')).open('/console');
  t.ok(has(says)(text), 'the console');
  t.notMatch(text, /All is well\./);
  t.ok(store.log.map((line) => (JSON.parse(line) as { msg: string }).msg).some(has(says, remedy)), 'the log');
  const figures = (await store.anyone.get('/metrics')).body as string;
  t.ok(figures.includes(`larder_${isProblem ? 'problems' : 'notices'}{code="${code}"} 1\n`), 'the metrics');
  return fault;
}

async function showsNowhere(t: Test, store: ConsoleStore, code: FaultCode, fault: Fault | undefined): Promise<void> {
  const says = fault?.says ?? '';
  const ready = (await store.anyone.get('/readyz')).body as Record<'problems' | 'notices', string[]>;
  t.notOk([...ready.problems, ...ready.notices].some(has(says)), 'and no longer in /readyz');
  for (const command of ['status', 'doctor'])
    t.notOk(has(says)((await larder(`${command} --data ${store.directory}`)).out), `nor in ${command}`);
  t.notOk(has(says)((await (await store.visit('root')).open('/console')).text), 'nor in the console');
  t.match((await store.anyone.get('/metrics')).body, `{code="${code}"} 0\n`, 'nor in the metrics');
}

/** Whether a text has these, however its lines are broken and its words are joined. */
const has =
  (...parts: string[]) =>
  (text: string): boolean =>
    parts.every((part) => flat(text).includes(flat(part)));
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ').toLowerCase();
