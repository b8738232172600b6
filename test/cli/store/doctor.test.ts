// larder doctor: every check is reported, in any state of the store.
import t from 'tap';
import { chmodSync, chownSync, copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';

import { errorNameIn } from '#test/fixtures/system-words.ts';
import { newStore, type NewStore } from '#test/cli/process.ts';

interface Finding {
  what: string;
  level: 'well' | 'notice' | 'wrong' | 'not looked at';
  good: boolean;
  says: string;
  mend?: string;
}

const findingsOf = async ({ json }: NewStore): Promise<Finding[]> =>
  ((await json('doctor')) as { findings: Finding[] }).findings;
const finding = async (store: NewStore, name: string): Promise<Finding | undefined> =>
  (await findingsOf(store)).find((entry) => entry.what === name);

t.test('every check is reported, in any state of the store', async (t) => {
  const whole = [
    'Owner',
    'Permissions',
    'Configuration',
    'Disk',
    'Site key',
    'Records',
    'Database server',
    'Signing key',
    'Administrator',
    'Certificate',
    'Clock',
    'Blobs',
    'Server of the files',
    'Registry',
    'Tokens',
    'Backups',
    'Pending',
    'Approvals',
    'Closure',
    'Store assertion',
    'Device trust',
    'Transfers',
    'Acceptances',
    'Feeds',
    'Server',
    'Jobs',
    'Scrub',
    'Core dumps',
  ];
  const states: Record<string, (data: string) => void> = {
    'as it was made': () => undefined,
    'without a configuration': (data) => {
      rmSync(join(data, 'larder.toml'));
    },
    'with a wrong line in it': (data) => {
      writeFileSync(join(data, 'larder.toml'), '[http]\nlisten = 7\n');
    },
    'without its database': (data) => {
      rmSync(join(data, 'larder.db'));
    },
    'with a database that is none': (data) => {
      writeFileSync(join(data, 'larder.db'), Buffer.alloc(8192));
    },
    'without its site key': (data) => {
      rmSync(join(data, 'site.key'));
    },
  };
  for (const [state, bring] of Object.entries(states)) {
    const store = await newStore(t);
    bring(store.data);
    const findings = await findingsOf(store);
    t.same(
      findings.map(({ what: name }) => name),
      whole,
      state,
    );
    for (const { what: name, level, says, good } of findings) {
      t.equal(good, level !== 'wrong', name);
      if (level === 'not looked at') t.match(says, /^could not be looked at because /, `${state}: ${name}`);
      t.equal(errorNameIn(says), undefined, `${state}: ${name}`);
      t.notMatch(says, /SQLITE_|not a database file|unable to open/, `${state}: ${name}`);
    }
    const { code } = await store.larder('doctor');
    t.equal(code, state === 'as it was made' ? 0 : 1, state);
  }
});

t.test('checks that depend on a failed check say so and do not pass', async (t) => {
  const store = await newStore(t);
  writeFileSync(join(store.data, 'larder.toml'), '[http]\nlisten = 7\n');
  t.match(await finding(store, 'Configuration'), {
    level: 'wrong',
    says: /larder\.toml:2/,
    mend: /^Correct larder\.toml, then start the store/,
  });
  t.match(await finding(store, 'Clock'), {
    level: 'not looked at',
    says: 'could not be looked at because larder.toml is not good',
  });
  rmSync(join(store.data, 'larder.toml'));
  t.match(await finding(store, 'Configuration'), { level: 'wrong', says: /there is no such file/, mend: undefined });
});

t.test('foreign files in the data directory are named, with the command that repairs it', async (t) => {
  if (process.getuid?.() !== 0) {
    t.comment('only root can make files of somebody else');
    return;
  }
  const store = await newStore(t);
  t.match(await finding(store, 'Owner'), { level: 'well', says: /^everything belongs to / });
  chownSync(join(store.data, 'larder.toml'), 1234, 1234);
  t.match(await finding(store, 'Owner'), {
    level: 'wrong',
    says: 'the directory belongs to root, and larder.toml to 1234',
    mend: `Run as root: 'chown -R root:root ${store.data}'.`,
  });
});

t.test('a credential that cannot be exchanged is reported, with the missing key', async (t) => {
  const store = await newStore(t);
  const file = join(store.data, 'larder.toml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/^store_admin_id = .*$/m, ''));
  t.match(await finding(store, 'Administrator'), { level: 'wrong', says: /auth\.store_admin_id is missing/ });
  writeFileSync(file, text.replace(/^store_admin_id = .*$/m, 'store_admin_id = "nobody-there"'));
  t.match(await finding(store, 'Administrator'), {
    level: 'wrong',
    says: /'nobody-there', and there is no such account/,
  });
});

t.test("another store's site.key is refused by every command, named by fingerprint", async (t) => {
  const [mine, other] = [await newStore(t), await newStore(t)];
  const of = async (store: NewStore): Promise<string> =>
    ((await store.json('status')) as Record<string, string>)['site-key-fingerprint']!;
  const [expected, actual] = [await of(mine), await of(other)];
  t.match(expected, /^([0-9a-f]{4}-){3}[0-9a-f]{4}$/);
  t.not(expected, actual);

  const key = join(mine.data, 'site.key');
  const own = readFileSync(key);
  chmodSync(key, 0o600);
  copyFileSync(join(other.data, 'site.key'), key);
  const says = new RegExp(
    `this site\\.key is of another store: its fingerprint is ${actual}, and that of this store's ${expected}`,
    'i',
  );
  for (const line of ['status', 'serve --listen 127.0.0.1:0', 'token issue --account larder-admin']) {
    const { code, out, err } = await mine.larder(line);
    t.match({ code, text: (out + err).replaceAll(/\s+/g, ' ') }, { code: 1, text: says }, line);
  }
  t.match(await finding(mine, 'Site key'), { level: 'wrong', says });
  chmodSync(key, 0o600); // the copy came with its mode
  writeFileSync(key, own);
  t.match(await finding(mine, 'Site key'), { level: 'well', says: new RegExp(expected) });
});

t.test('records without a key check are checked by their sealed values', async (t) => {
  const [mine, other] = [await newStore(t), await newStore(t)];
  t.match(await mine.larder('token issue --account larder-admin'), { code: 0 });
  const db = new SQLite(join(mine.data, 'larder.db'));
  db.prepare(`DELETE FROM appliance WHERE name = 'site-key-check'`).run();
  db.close();
  t.match(await mine.larder('status'), { code: 0 });
  const key = join(mine.data, 'site.key');
  chmodSync(key, 0o600);
  copyFileSync(join(other.data, 'site.key'), key);
  t.match(await mine.larder('status'), { code: 1, out: /Problem\s+This site\.key is of another store/ });
});

t.test('a store without its database is not taken for a new one', async (t) => {
  const store = await newStore(t);
  const file = join(store.data, 'larder.db');
  for (const [bring, word] of [
    [
      () => {
        writeFileSync(file, '');
      },
      'empty',
    ],
    [
      () => {
        rmSync(file);
      },
      'missing',
    ],
  ] as const) {
    bring();
    for (const line of ['serve --listen 127.0.0.1:0', 'status', 'doctor']) {
      const { code, out, err } = await store.larder(line);
      t.equal(code, 1, line);
      t.match(
        (out + err).replaceAll(/\s+/g, ' '),
        new RegExp(`the database ${file} is ${word}; put it back, or move .* aside and restore`),
        line,
      );
    }
    t.equal(existsSync(file), word === 'empty', 'and none is made');
  }
});
