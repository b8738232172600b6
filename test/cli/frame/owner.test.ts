import t, { type Test } from 'tap';
import { chownSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { becomeOwner, suspendRoot } from '#cli/frame/owner.ts';

/** The user of this process, and its calls to change that. */
function processOf(user: number, { unknown = false } = {}) {
  const did: [string, ...unknown[]][] = [];
  const note =
    (name: string) =>
    (...args: unknown[]) =>
      void did.push([name, ...args]);
  const initgroups = unknown
    ? () => {
        throw new Error('User identifier does not exist');
      }
    : note('initgroups');
  return {
    did,
    getuid: () => user,
    initgroups,
    setgroups: note('setgroups'),
    setgid: note('setgid'),
    setuid: note('setuid'),
    setegid: note('setegid'),
    seteuid: note('seteuid'),
  };
}

/** The users of this machine, as the fields of their lines. */
const accounts = (): string[][] =>
  readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));

/** A data directory of a user other than root, even if root runs the tests. */
function ownedFolder(t: Test, content = {}): { data: string; uid: number; gid: number } {
  const data = t.testdir(content);
  if (process.getuid?.() === 0) chownSync(data, 1234, 2345);
  const { uid, gid } = statSync(data);
  return { data, uid, gid };
}

t.test('root becomes the owner of the data directory, groups before user', async (t) => {
  const { data, uid, gid } = ownedFolder(t);
  const root = processOf(0);
  becomeOwner(data, root);
  t.strictSame(root.did, [
    ['initgroups', uid, gid],
    ['setgid', gid],
    ['setuid', uid],
  ]);
  const nameless = processOf(0, { unknown: true });
  becomeOwner(data, nameless);
  t.strictSame(
    nameless.did,
    [
      ['setgroups', [gid]],
      ['setgid', gid],
      ['setuid', uid],
    ],
    'also when the list of users does not know the owner',
  );
});

t.test('the owner runs as the owner, and another user is refused', async (t) => {
  const { data, uid } = ownedFolder(t, { file: '' });
  const owner = processOf(uid);
  becomeOwner(data, owner);
  t.strictSame(owner.did, []);
  const bob = processOf(uid + 1);
  const [name] = accounts().find(([, , id]) => id === String(uid)) ?? [];
  const user = name === undefined ? `with id ${String(uid)}` : `'${name}'`;
  t.throws(() => becomeOwner(data, bob), {
    name: 'Failure',
    message: `belongs to the user ${user}; run this as that user or as root, such as with 'sudo larder …'`,
  });
  t.strictSame(bob.did, []);
  const none = join(data, 'not there');
  t.throws(() => becomeOwner(none, owner), {
    name: 'Failure',
    message: `there is no store in ${none}; 'larder init --data "${none}"' makes one`,
  });
  t.throws(() => becomeOwner(join(data, 'file'), owner), { name: 'Failure', message: /^there is no store in / });
  t.throws(() => becomeOwner(join(data, 'file/below'), owner), { name: 'Failure', message: /^there is no store in / });
});

t.test('root drops its privileges, and takes them back for one piece of work at a time', async (t) => {
  const { data, uid, gid } = ownedFolder(t);
  const root = processOf(0);
  const asCaller = suspendRoot(data, root);
  const aside = [
    ['initgroups', uid, gid],
    ['setegid', gid],
    ['seteuid', uid],
  ];
  t.strictSame(root.did, aside);
  const back = [
    ['seteuid', 0],
    ['setegid', 0],
  ];
  const again = [
    ['setegid', gid],
    ['seteuid', uid],
  ];
  root.did.length = 0;
  t.equal(await asCaller(() => root.did.length), 2, 'the work is done in between');
  t.strictSame(root.did, [...back, ...again]);
  root.did.length = 0;
  await t.rejects(
    asCaller(() => Promise.reject(new Error('no room'))),
    { message: 'no room' },
  );
  t.strictSame(root.did, [...back, ...again], 'also when it fails');

  const owner = processOf(uid);
  t.equal(await suspendRoot(data, owner)(() => 'done'), 'done');
  t.strictSame(owner.did, [], 'the owner has nothing to set aside');
  t.throws(() => suspendRoot(data, processOf(uid + 1)), {
    name: 'Failure',
    message: /run this as that user or as root/,
  });
});
