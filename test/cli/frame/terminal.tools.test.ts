// How larder behaves before a person: questions, hidden passwords, colours, bars, narrow windows.
import t from 'tap';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '#configuration/config.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { atTerminal, plain } from '#test/fixtures/clients/terminal.ts';
import { folder, newStore, start } from '#test/cli/process.ts';

t.setTimeout(600_000);
/** A pseudo-terminal is made by Python. */
const withPython = { skip: withoutPrograms('python3') };
const colour = /\x1b\[(?:1|22|31|39)m/;

t.test(
  'at a terminal init asks for the address and an e-mail address, and asks again after a wrong answer',
  withPython,
  async (t) => {
    const data = join(folder(t), 'data');
    const { code, screen, left } = await atTerminal(['init', '--data', data], {
      steps: [
        { sees: 'The address that clients will use [https://', types: 'store.example/x\r' },
        { sees: 'is not http or https', types: 'http://127.0.0.1:9123\r' },
        { sees: 'e-mail address [admin@larder.invalid]: ', types: 'ada\r' },
        { sees: "'ada' is not an e-mail address.", types: 'ada@example.org\r' },
      ],
    });
    t.strictSame([code, left], [0, 0], screen);
    t.match(plain(screen), /serves it at http:\/\/127\.0\.0\.1:9123/);
    t.equal(readConfig(join(data, 'larder.toml')).http.base_url, 'http://127.0.0.1:9123');
  },
);

t.test('return takes the proposals', withPython, async (t) => {
  const data = join(folder(t), 'data');
  const { code, screen } = await atTerminal(['init', '--data', data], {
    steps: [
      { sees: 'The address that clients will use [https://', types: '\r' },
      { sees: 'e-mail address [', types: '\r' },
    ],
  });
  t.equal(code, 0, screen);
  t.match(readConfig(join(data, 'larder.toml')).http.base_url, /^https:\/\/[a-z0-9.-]+(?::8443)?$/);
});

t.test('with an option init asks nothing, at a terminal as elsewhere', withPython, async (t) => {
  const data = join(folder(t), 'data');
  const { code, screen } = await atTerminal(['init', '--data', data, '--base-url', 'http://127.0.0.1:8080']);
  t.equal(code, 0);
  t.notMatch(screen, /\]: /);
});

t.test('Ctrl-C and Ctrl-D at a question end the command, and nothing was done', withPython, async (t) => {
  for (const [typed, code, message] of [
    ['\x03', 130, 'interrupted; nothing was done'],
    ['\x04', 1, 'no answer; nothing was done'],
  ] as const) {
    const data = join(folder(t), 'data');
    const ended = await atTerminal(['init', '--data', data], { steps: [{ sees: 'clients will use [', types: typed }] });
    t.equal(ended.code, code);
    t.match(plain(ended.screen), message);
    t.notOk(existsSync(data));
  }
});

t.test('a command that shuts an account out asks first; only yes confirms it', withPython, async (t) => {
  const { data, json } = await newStore(t);
  await json('account create --id ada-lovelace --email ada@example.org --username ada --display-name Ada');
  const disabled = async (): Promise<unknown> =>
    ((await json('account list')) as { accounts: { id: string; 'disabled-at'?: string }[] }).accounts.find(
      ({ id }) => id === 'ada-lovelace',
    )?.['disabled-at'] ?? undefined;
  const disable = ['account', 'disable', 'ada-lovelace', '--data', data];
  const answered = (types: string) =>
    atTerminal(disable, { steps: [{ sees: 'cannot log in, and its tokens are refused. Continue? [y/N]: ', types }] });
  for (const no of ['\r', 'yesterday\r']) {
    const { code, screen } = await answered(no);
    t.equal(code, 1);
    t.match(plain(screen), 'not confirmed; nothing was done');
  }
  t.match(await answered('\x03'), { code: 130 });
  t.equal(await disabled(), undefined);
  t.match(await start(t, disable).ended, {
    code: 2,
    err: /'account disable' asks for confirmation, and there is no terminal; add --yes to confirm\. From the next request/,
  });
  t.equal(await disabled(), undefined);
  const agreed = await answered('Y\r');
  t.match(agreed, { code: 0 });
  t.match(plain(agreed.screen), /Ends while it is disabled: nothing\.\s+Stays: nothing\./, 'and is told of first');
  t.ok(await disabled());
  await json('account enable ada-lovelace');
  t.match(await start(t, [...disable, '--yes']).ended, { code: 0 });
  t.ok(await disabled());
});

t.test(
  'a command for scripts runs without a question, and asks if a person is at the terminal',
  withPython,
  async (t) => {
    const { data } = await newStore(t);
    const before = readFileSync(join(data, 'admin.macaroon'), 'utf8');
    const { code } = await atTerminal(['admin-macaroon', '--data', data], {
      steps: [{ sees: '--add keeps them. Continue? [y/N]: ', types: 'n\r' }],
    });
    t.equal(code, 1);
    t.equal(readFileSync(join(data, 'admin.macaroon'), 'utf8'), before);
    t.match(await start(t, ['admin-macaroon', '--data', data]).ended, { code: 0 });
    t.not(readFileSync(join(data, 'admin.macaroon'), 'utf8'), before);
  },
);

t.test('a password is typed twice and never shows', withPython, async (t) => {
  const { data, json } = await newStore(t);
  await json('account create --id ada-lovelace --email ada@example.org --username ada --display-name Ada');
  const password = 'a kettle, two larks and rain';
  const { code, screen, left } = await atTerminal(['account', 'password', 'ada-lovelace', '--data', data], {
    steps: [
      { sees: 'New password: ', types: `${password}\r` },
      { sees: 'The same password again: ', types: 'something else entirely\r' },
      { sees: 'two different passwords.', types: `${password}\r` },
      { sees: 'The same password again: ', types: `${password}\r` },
    ],
  });
  t.strictSame([code, left], [0, 0], screen);
  t.match(plain(screen), 'The password of ada-lovelace (ada) is set.');
  for (const typed of ['kettle', 'something else']) t.notMatch(screen, typed);
});

t.test('a backup with its keys goes from host to host with a passphrase that is typed', withPython, async (t) => {
  const { data } = await newStore(t);
  const passphrase = 'a kettle, two larks and rain';
  const file = join(folder(t), 'moving.tar');
  const made = await atTerminal(['backup', file, '--include-keys', '--data', data], {
    steps: [
      { sees: 'New passphrase: ', types: `${passphrase}\r` },
      { sees: 'The same passphrase again: ', types: `${passphrase}\r` },
    ],
  });
  t.strictSame([made.code, made.left], [0, 0], made.screen);
  t.notMatch(made.screen, 'kettle');

  const target = join(folder(t), 'there');
  const restored = (typed: string) =>
    atTerminal(['restore', file, '--data', target], {
      steps: [{ sees: 'Passphrase of the keys in the backup: ', types: `${typed}\r` }],
    });
  t.match(await restored('another kettle, two larks'), { code: 1 });
  t.notOk(existsSync(target));
  t.match(await restored(passphrase), { code: 0, screen: /is restored in/ });
  t.strictSame(readFileSync(join(target, 'master.key')), readFileSync(join(data, 'master.key')));
});

t.test(
  'a long command shows a bar at a terminal, JSON lines for programs, and nothing when it is quiet',
  withPython,
  async (t) => {
    const { data } = await newStore(t);
    const place = mkdtempSync(join(tmpdir(), 'larder-terminal-'));
    t.teardown(() => rmSync(place, { recursive: true, force: true }));
    const file = join(place, 'a.tar');
    const bar = await atTerminal(['backup', file, '--data', data]);
    t.equal(bar.code, 0, bar.screen);
    t.match(bar.screen, /\r\x1b\[Kdatabase \[[# ]{24}\] +\d+ %\r\x1b\[K/, 'the bar, and then it is taken away');
    for (const words of [
      ['verify', '--data', data],
      ['restore', file, '--data', join(place, 'restored'), '--keys', data],
    ]) {
      const { code, screen } = await atTerminal(words);
      t.equal(code, 0, screen);
      t.match(screen, /\r\x1b\[K[a-z ]+ \[#+ *\] +\d+ %/, words[0] ?? '');
    }
    const lines = await atTerminal(['verify', '--data', data, '--json']);
    t.match(lines.screen, /\{"progress":"database","done":1,"total":1\}\r\n/);
    t.notMatch(lines.screen, '\x1b[K');
    t.equal((await atTerminal(['verify', '--data', data, '--quiet'])).screen, '');
    const elsewhere = await start(t, ['verify', '--data', data, '--json']).ended;
    t.match(elsewhere.err, /^\{"progress":"database"/);
    t.match(await start(t, ['verify', '--data', data]).ended, { code: 0, err: '' });
  },
);

t.test('in a narrow window the bar stays on its line, and the help is wrapped', withPython, async (t) => {
  const { data } = await newStore(t);
  const { screen } = await atTerminal(['verify', '--data', data], { columns: 20 });
  const bars = plain(screen)
    .split(/[\r\n]/)
    .filter((line) => line.includes(' ['));
  t.ok(bars.length > 0);
  for (const line of bars) t.ok(line.length < 20, line);
  const narrow = plain((await atTerminal(['help', 'init'], { columns: 60 })).screen).split('\n');
  const examples = narrow.indexOf('Examples');
  for (const line of narrow.slice(0, examples)) t.ok(line.length <= 60, line);
  t.ok(Math.max(...narrow.slice(0, examples).map(({ length }) => length)) > 40);
});

t.test('colours are for terminals that want them', withPython, async (t) => {
  t.match((await atTerminal(['help'])).screen, colour);
  t.match((await atTerminal(['zebra'])).screen, colour);
  for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
    t.notMatch((await atTerminal(['help'], { env })).screen, colour);
    t.notMatch((await atTerminal(['zebra'], { env })).screen, colour);
  }
  t.match((await atTerminal(['help'], { env: { NO_COLOR: '' } })).screen, colour, 'an empty one means nothing');
  t.notMatch((await start(t, ['help']).ended).out, colour);
});

t.test('the log of a server is text at a terminal and JSON elsewhere, unless it is set', withPython, async (t) => {
  const { data } = await newStore(t);
  const serve = ['serve', '--data', data, '--listen', '127.0.0.1:0'];
  const until = (sees: string) => ({ steps: [{ sees, types: '\x03' }] });
  t.match(await atTerminal(serve, until('INFO  serving url=')), { code: 0, left: 0, screen: /INFO {2}stopped\r\n$/ });
  const json = await atTerminal([...serve, '--log-format', 'json'], until('"msg":"serving"'));
  t.match(json, { code: 0, left: 0, screen: /"msg":"stopped"\}\r\n$/ });
  const elsewhere = start(t, [...serve, '--log-format=text']);
  await elsewhere.says(/INFO {2}serving url=/);
  elsewhere.child.kill('SIGTERM');
  t.match(await elsewhere.ended, { code: 0 });
  t.match(await start(t, [...serve, '--log-format', 'xml']).ended, { code: 2, err: /it is one of auto, json, text/ });
});
