// larder package import: snaps of another store are imported with their assertions, and keep their ids and revisions.
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { stream } from '#assertions/format/assertion.ts';
import { openStore } from '#data/store.ts';
import { changeConfig } from '#configuration/config.ts';
import { account, accountKey, adasAccount, adasKey, made, storeKey, timestamp } from '#test/assertions/world.ts';
import { largeTest } from '#test/fixtures/large.ts';
import {
  assertionsOf,
  declaration,
  download,
  nameOfRevision,
  offered,
  publisher,
  rootsFile,
  snapOf,
  snapRevision,
} from '#test/fixtures/packages/online-store.ts';
import { examplesIn } from '#test/fixtures/guides.ts';
import { snapPath } from '#test/review/fixtures.ts';
import { folder, newStore, start, withoutOthers } from '#test/cli/process.ts';

t.setTimeout(600_000);

/** A store that trusts the made-up online store, and a stick with files from that store. */
async function world(t: Test) {
  const store = await newStore(t);
  const [stick, files] = [folder(t), folder(t)];
  changeConfig(join(store.data, 'larder.toml'), { 'assertions.trusted': [rootsFile(files)] });
  const handle = await openStore({ directory: store.data });
  t.teardown(handle.close);
  const file = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(stick, name), content);
    return join(stick, name);
  };
  return { ...store, stick, file, records: handle.records };
}

t.test('a snap is imported with its id, name, publisher and revision number', async (t) => {
  const { json, larder, stick, records } = await world(t);
  const hello = offered('hello-on', 12, { developer: 'helper' });
  const { snap } = await download(stick, hello);
  const seen = await json(`package import ${stick} --preview`);
  t.match(seen, {
    preview: true,
    revisions: [
      {
        file: snap,
        package: 'snap/hello-on',
        id: hello.id,
        revision: 12,
        version: '0.12',
        publisher: { id: 'maker', username: 'maker' },
        'is-here': false,
        notes: ['new package'],
      },
    ],
    refused: [],
  });
  t.equal(await records.packages.find('snap', 'hello-on'), undefined, 'a preview changes nothing');
  t.equal(await records.unclaimedUploads.count(), 0);
  const came = await larder(`package import ${stick} --release stable,edge`);
  t.match(came, {
    code: 0,
    err: '',
    out: /^Imported 1 revision:\n.*\nsnap\/hello-on +12 +0\.12 .*maker +new package\n/,
  });

  const subject = (await records.packages.find('snap', 'hello-on'))!;
  t.match(subject, { id: hello.id, publisherId: 'maker', private: false, summary: 's', status: 'published' });
  t.match(await records.revisions.find(hello.id, 12), {
    status: 'released',
    version: '0.12',
    size: snapOf(hello).length,
    createdBy: 'helper',
    details: { architectures: ['amd64'], base: 'core22', confinement: 'strict' },
  });
  t.match(await records.revisions.numbered(hello.id, 12), { assertion: nameOfRevision(snapOf(hello)) });
  t.match(await json('status snap/hello-on'), {
    channels: [
      { channel: 'latest/edge', revision: 12 },
      { channel: 'latest/stable', revision: 12 },
    ],
  });
  const [row] = (await records.audit.list(0, 100)).filter(({ action }) => action === 'import_package');
  t.match(row, {
    object: 'snap/hello-on',
    details: /"revision":12,"publisher":"maker".*snap-declaration.*snap-revision/,
  });
  const exported = await larder(`assertion export ${nameOfRevision(snapOf(hello)).replaceAll('/', ' ')}`);
  t.match(exported.out, /type: account-key\n[^]*type: snap-declaration\n[^]*type: snap-revision\n/);
  t.equal(await records.unclaimedUploads.count(), 0, 'what brought the content is not left');

  t.match(await json(`package import ${stick}`), { revisions: [{ 'is-here': true }], assertions: [], refused: [] });
  t.equal((await records.audit.list(0, 100)).filter(({ action }) => action === 'import_package').length, 1);
  t.match(await larder('verify'), { code: 0 });
});

t.test('older and newer revisions are imported in turn, with gaps, and the newest is released', async (t) => {
  const { json, larder, stick, records } = await world(t);
  for (const revision of [30, 7]) await download(stick, offered('hello-on', revision));
  t.match(await json(`package import ${stick} --release stable`), {
    revisions: [{ revision: 7 }, { revision: 30 }],
    released: [{ package: 'snap/hello-on', revisions: [30] }],
  });
  await download(stick, offered('hello-on', 12));
  const outcome = await larder(`package import ${stick} --release stable`);
  t.match(outcome.out, /snap\/hello-on +12 .*older than revision 30, which is here\n2 revisions are here already\.\n$/);
  t.match(await json('status snap/hello-on'), { channels: [{ revision: 30 }] });
  const { id } = offered('hello-on', 1);
  t.same(
    (await records.revisions.list(id, 10)).map(({ revision }) => revision),
    [30, 12, 7],
  );
  t.match((await records.packages.byId(id))?.summary, 's');
  t.match(await larder('release snap/hello-on 12 beta'), { code: 0 });
  t.match(await json('revision delete snap/hello-on --keep 2 --yes'), {});
  const back = await larder(`package import ${join(stick, 'hello-on_7.snap')} ${join(stick, 'hello-on_7.assert')}`);
  t.match(back.out, /snap\/hello-on +7 .*was deleted, and comes back/);
  t.ok(await records.revisions.find(id, 7));
});

largeTest('a snap that cannot be imported is reported with the reason, and the others are imported', async (t) => {
  const { json, larder, stick, file, records } = await world(t);
  await larder('account create --id ada --email ada@example.org --username ada --display-name Ada');
  await larder('package register snap/named-no --account ada');
  await download(stick, offered('hello-on', 1));
  const cases: Record<string, { files: string[]; why: RegExp; more?: string[] }> = {};
  const add = (name: string, pattern: RegExp, ...files: string[]): void => void (cases[name] = { files, why: pattern });

  add(
    'alone',
    /^No assertion speaks of this file: .*'snap download' writes it/,
    file('alone', snapOf(offered('alone-no', 1))),
  );
  add(
    'another',
    /^It speaks of revision 5 of the snap '[0-9a-f]{32}', whose file \(SHA3-384 [0-9a-f]{96}\) was not named\.$/,
    file('another', stream(await assertionsOf(offered('elsewher', 5)))),
  );
  const taken = await download(stick, offered('named-no', 3));
  add(
    'taken',
    /^The name 'named-no' is registered here for ada, with the id '\w+' and not .*'larder package set-id/,
    taken.snap,
  );
  const renamed = offered('tiny-app', 4, { declared: { 'snap-name': 'other-it' } });
  add(
    'renamed',
    /^The file does not match its assertions: it is called 'tiny-app', and not 'other-it'\.$/,
    file('renamed', snapOf(renamed)),
    file('renamed.assert', stream(await assertionsOf(renamed))),
  );
  const gone = offered('gone-now', 4, { declared: { 'snap-name': '' } });
  add(
    'gone',
    /^The snap '\w+' was withdrawn by the store that publishes it/,
    file('gone', snapOf(gone)),
    file('gone.assert', stream(await assertionsOf(gone))),
  );
  const size = offered('size-off', 4, { revised: { 'snap-size': '17' } });
  add(
    'size',
    /^The file does not match its assertions: it has the size '\d+', and not '17'\.$/,
    file('size', snapOf(size)),
    file('size.assert', stream(await assertionsOf(size))),
  );
  const factory = offered('from-fac', 4, { revised: { provenance: 'factory' } });
  add(
    'provenance',
    /says that it is of the provenance 'global-upload', but .* speaks of 'factory'\.$/,
    file('provenance', snapOf(factory)),
    file('provenance.assert', stream(await assertionsOf(factory))),
  );
  const changed = stream(await assertionsOf(offered('changed1', 4))).replace('snap-revision: 4', 'snap-revision: 5');
  add(
    'changed',
    /changed after it was signed/,
    file('changed', snapOf(offered('changed1', 4))),
    file('changed.assert', changed),
  );
  const stranger = await made('ada', 'ada', 'snap-revision', {
    ...(await snapRevision(offered('stranger', 4))).headers,
    'authority-id': 'ada',
  });
  add(
    'stranger',
    /'ada' is not an authority that may say this/,
    file('stranger', snapOf(offered('stranger', 4))),
    file(
      'stranger.assert',
      stream([...(await assertionsOf(offered('stranger', 4))).slice(0, -1), adasAccount, adasKey, stranger]),
    ),
  );
  const lost = offered('no-decla', 4);
  add(
    'undeclared',
    /the snap-declaration of its snap is neither in the upload nor already here/,
    file('lost', snapOf(lost)),
    file('lost.assert', stream([storeKey, await publisher('maker'), await snapRevision(lost)])),
  );
  const broken = Buffer.concat([Buffer.from('hsqs'), Buffer.alloc(5000)]);
  add(
    'broken',
    /./,
    file('broken', broken),
    file('broken.assert', stream([...(await assertionsOf(offered('broken-1', 4), broken))])),
  );
  add('empty', /^neither a snap nor assertions$/, file('hsqs-no.snap', ''));
  add('text', /^neither a snap nor assertions$/, file('note.snap', 'nothing of the kind'));
  add('crlf', /carriage|CR|line/i, file('crlf.assert', stream([storeKey]).replaceAll('\n', '\r\n')));
  add('missing', /there is no/i, join(stick, 'is-not-there'));
  for (const [name, { files, why: pattern }] of Object.entries(cases)) {
    const asserted = name === 'taken' ? [taken.assert] : [];
    const result = await json(`package import ${[...files, ...asserted].join(' ')}`);
    t.match(result.revisions, [], name);
    const [refused] = result.refused as { file: string; why: string }[];
    t.match(refused, { file: name === 'provenance' || name === 'stranger' ? /./ : files[0], why: pattern }, name);
  }
  file('README', 'what is on this stick');
  mkdirSync(join(stick, 'deeper'));
  await download(join(stick, 'deeper'), offered('deep-one', 2));
  symlinkSync('/etc/passwd', join(stick, 'link'));
  const all = await larder(`package import ${stick}`);
  t.match(all, { code: 1, out: /^Imported 2 revisions:\n[^]*deep-one[^]*hello-on[^]*Refused:/ });
  t.match(all.out, /Passed over:\n[^]*README: neither a snap nor assertions\n[^]*link: a symbolic link\n/);
  t.equal(await records.unclaimedUploads.count(), 0);
  t.equal((await records.packages.find('snap', 'gone-now')) ?? undefined, undefined);
});

t.test('other bytes under a number that is here are refused, and the same bytes under another one', async (t) => {
  const { json, larder, stick, file, records } = await world(t);
  await larder('account create --id maker --email maker@example.org --username maker --display-name Maker');
  const tinyApp = offered('tiny-app', 1);
  await larder(`package register snap/tiny-app --account maker --id ${tinyApp.id}`);
  t.match(await json(`package push ${snapPath('app-xz')}`), { revision: 1 });
  await download(stick, tinyApp);
  t.match(await json(`package import ${stick}`), {
    refused: [{ why: /^Revision 1 of 'tiny-app' is stored here with other content \(SHA3-384 [0-9a-f]{96}\), so it/ }],
  });
  const pushed = readFileSync(snapPath('app-xz'));
  const again = offered('tiny-app', 9);
  const assert = file('again.assert', stream(await assertionsOf(again, pushed)));
  t.match(await json(`package import ${snapPath('app-xz')} ${assert}`), {
    refused: [
      { why: /^The same content is stored here as revision 1 of 'tiny-app', and cannot be revision 9 as well\.$/ },
    ],
  });
  const both = [
    file('a', snapOf(offered('two-same', 3))),
    file('b', Buffer.concat([snapOf(offered('two-same', 3)), Buffer.from('x')])),
  ];
  const other = readFileSync(both[1]!);
  const assertionStream = stream([
    ...(await assertionsOf(offered('two-same', 3))),
    await snapRevision(offered('two-same', 3), other),
  ]);
  t.match(await json(`package import ${both.join(' ')} ${file('both.assert', assertionStream)}`), {
    revisions: [{ revision: 3 }],
    refused: [{ why: /is revision 3 of 'two-same' as well\.$/ }],
  });
  const [row] = await records.revisions.list(tinyApp.id, 5);
  t.equal(row?.revision, 1);
});

t.test('a revision that was pushed here under its right number gets its assertions', async (t) => {
  const { json, larder, stick, records } = await world(t);
  await larder('account create --id maker --email maker@example.org --username maker --display-name Maker');
  const tinyApp = offered('tiny-app', 1);
  await larder(`package register snap/tiny-app --account maker --id ${tinyApp.id}`);
  const { snap } = await download(stick, tinyApp);
  t.match(await json(`package push ${snap}`), { revision: 1 });
  t.match(await json(`package import ${stick}`), { revisions: [{ 'is-here': false, notes: [] }], refused: [] });
  t.match(await records.revisions.numbered(tinyApp.id, 1), { assertion: nameOfRevision(snapOf(tinyApp)) });
  t.match(await records.revisions.find(tinyApp.id, 1), { createdBy: 'maker' });
});

largeTest(
  'the imported publisher keeps its id, without a login here until an administrator gives it one',
  async (t) => {
    const { json, larder, stick, records } = await world(t);
    await larder('account create --email bob@example.org --username maker --display-name Bob');
    await download(stick, offered('tiny-app', 5));
    await json(`package import ${stick}`);
    t.match(
      await records.accounts.find('maker'),
      {
        username: 'maker.2',
        displayName: 'The maker',
        validation: 'verified',
      },
      'who has the name here keeps it',
    );
    t.match(await larder('account list'), {
      out: /maker +maker\.2 +maker@foreign\.invalid +The maker +\(of another store\)/,
    });
    t.match(await json('account enable maker'), {
      code: 'conflict',
      error: /belongs to another store .*'larder account create --id maker'/,
    });
    t.match(await json('account invite maker'), { code: 'conflict' });

    const pushed = await json(`package push ${snapPath('app-xz')} --quiet`);
    t.match(pushed, {
      code: 'rejected',
      error: /'tiny-app' is published in another store by maker\.2, .*'larder package import'/,
    });
    t.match(await json('account create --id maker --email maker@example.org --username smith --display-name Smith'), {
      id: 'maker',
      username: 'smith',
    });
    t.match(await records.accounts.find('maker'), { email: 'maker@example.org', username: 'smith' });
    t.equal(await records.accounts.disabledAt('maker'), null);
    t.match(
      await json(`package push ${snapPath('app-zstd')}`),
      { revision: 6 },
      'and what he pushes here has a number above those that are known from there',
    );
  },
);

t.test('a revision number that is made here is higher than the numbers that only have an assertion here', async (t) => {
  const { json, larder, stick } = await world(t);
  await larder('account create --id maker --email maker@example.org --username maker --display-name Maker');
  const { assert } = await download(stick, offered('tiny-app', 41));
  await larder(`assertion import ${assert}`);
  await larder('package register snap/tiny-app --account maker');
  t.match(await json(`package push ${snapPath('app-xz')}`), { revision: 42 });
});

t.test('content with a revision number in an imported assertion is not pushed under another number', async (t) => {
  const { json, larder, stick } = await world(t);
  await larder('account create --id maker --email maker@example.org --username maker --display-name Maker');
  const { assert, snap } = await download(stick, offered('tiny-app', 5));
  await larder(`assertion import ${assert}`);
  await larder('package register snap/tiny-app --account maker');
  t.match(await json(`package push ${snap} --quiet`), {
    code: 'rejected',
    error: /These bytes are revision 5 of 'tiny-app' by an imported assertion, .*'larder package import'/,
  });
  t.match(await json(`package import ${stick}`), { revisions: [{ revision: 5 }], refused: [] }, 'which is the way');
});

t.test('a package of another publisher here stays with that publisher', async (t) => {
  const { json, larder, stick } = await world(t);
  const tinyApp = offered('tiny-app', 5);
  await larder('account create --id bob --email bob@example.org --username bob --display-name Bob');
  await larder(`package register snap/tiny-app --account bob --id ${tinyApp.id}`);
  await download(stick, tinyApp);
  t.match(await json(`package import ${stick}`), {
    refused: [{ why: /^The package snap\/tiny-app is published here by bob, but its declaration names 'maker'\. / }],
  });
  await larder('package register snap/other-it --account bob');
  const { id } = await json('package show snap/other-it');
  t.ok(id);
  const elsewhere = await download(stick, offered('moved-on', 5, { id }));
  t.match(await json(`package import ${elsewhere.snap} ${elsewhere.assert}`), {
    refused: [{ why: `The id '${id}' belongs to snap/other-it here, not to snap/moved-on.` }],
  });
});

t.test('a package that changed hands there changes hands here, with the newest of its declarations', async (t) => {
  const { json, file, stick, records } = await world(t);
  const before = offered('tiny-app', 5);
  await download(stick, before);
  await json(`package import ${stick}`);
  const after = offered('tiny-app', 6, { publisher: 'heir', declared: { revision: '3' } });
  await download(stick, after);
  t.match(await json(`package import ${stick}`), { refused: [] });
  t.match(await records.packages.byId(before.id), { publisherId: 'heir' });
  const [stored] = await records.assertions.ofSnap('tiny-app');
  t.match(stored, { revision: 3 });
  const older = file('older.assert', stream(await assertionsOf(before)));
  t.match(await json(`package import ${older} ${join(stick, 'tiny-app_5.snap')}`), {
    revisions: [{ 'is-here': true }],
    refused: [],
  });
  t.match(await records.packages.byId(before.id), { publisherId: 'heir' }, 'an older declaration changes nothing');
  const revoked = await declaration({ ...after, declared: { revision: '4', 'snap-name': '' } });
  t.match(await json(`package import ${file('revoked.assert', stream([revoked]))}`), {
    assertions: [{ name: `snap-declaration/16/${after.id}`, revision: 4 }],
    refused: [],
  });
});

t.test('foreign keys, accounts, models and sets are imported if a root vouches for them, else not', async (t) => {
  const { json, file, records } = await world(t);
  const model = await made('ada', 'ada', 'model', {
    series: '16',
    'brand-id': 'ada',
    model: 'pump',
    architecture: 'amd64',
    gadget: 'pc',
    kernel: 'pc-kernel',
    timestamp,
  });
  const set = await made('ada', 'ada', 'validation-set', {
    series: '16',
    'account-id': 'ada',
    name: 'tested',
    sequence: '3',
    snaps: [{ name: 'hello-on', id: 'c'.repeat(32), revision: '7' }],
    timestamp,
  });
  const good = file('good.assert', stream([storeKey, adasAccount, adasKey, model, set]));
  t.match(await json(`package import ${good} --preview`), { assertions: [{}, {}, {}, {}, {}], refused: [] });
  t.equal(await records.assertions.find('model/16/ada/pump'), undefined);
  t.match(await json(`package import ${good}`), { assertions: [{}, {}, {}, {}, {}], refused: [] });
  t.ok(await records.assertions.find('model/16/ada/pump'));
  t.ok(await records.assertions.find('validation-set/16/ada/tested/3'));

  const own = await accountKey('second', 'mallory', 'own', {}, 'second', 'mallory');
  const mallory = await account('mallory', 'second', 'mallory');
  const bad = file('bad.assert', stream([own, mallory]));
  const also = file('also.assert', stream([await publisher('bob')]));
  t.match(await json(`package import ${bad} ${also}`), {
    assertions: [{ name: 'account/bob' }],
    refused: [
      {
        file: bad,
        why: /^The assertion 'account mallory' cannot be taken: 'mallory' is not an authority that may say this\.$/,
      },
      { file: bad, why: /account-key .*'mallory' is not an authority/ },
    ],
  });
  t.equal(await records.assertions.find('account/mallory'), undefined);
});

t.test('a file that is changed between the look and the taking is not taken', async (t) => {
  const { larder, stick, records } = await world(t);
  const { snap, assert } = await download(stick, offered('hello-on', 12));
  appendFileSync(snap, 'more');
  t.match(await larder(`package import ${snap} ${assert}`), { code: 1, out: /No assertion speaks of this file/ });
  t.equal(await records.packages.find('snap', 'hello-on'), undefined);
  rmSync(snap);
  t.match(await larder('package import'), { code: 2, err: /name the snaps/ });
});

t.test("the lines of the administrator's guide about imports work unchanged", async (t) => {
  const { larder, json, stick } = await world(t);
  const hello = offered('hello-on', 12);
  await download(stick, hello);
  const lines = examplesIn('administrator', 'Import snaps from another store', 1).flat();
  const typed = lines.map((line) => line.replace('larder ', ''));
  t.equal(typed.length, 3);
  for (const line of typed) {
    const { code, err } = await larder(line.replace('/media/stick', stick).replace('SNAP-ID', hello.id));
    t.match({ code, err }, { code: 0, err: '' }, line);
  }
  t.match(await json('status snap/hello-on'), { channels: [{ channel: 'latest/stable', revision: 12 }] });
});

t.test('content that is here already is not copied again', async (t) => {
  const { data, larder, json, stick } = await world(t);
  const { snap } = await download(stick, offered('hello-on', 12));
  await larder('account create --id ada --email ada@example.org --username ada --display-name Ada');
  await larder('package register bin/copy --account ada');
  const { 'sha3-384': digest } = await json(`package push ${snap} --package bin/copy --quiet`);
  const content = join(data, 'blobs/sha3', String(digest).slice(0, 2), String(digest));
  const before = statSync(content);
  t.match(await json(`package import ${stick}`), { revisions: [{ revision: 12, 'sha3-384': digest }], refused: [] });
  const after = statSync(content);
  t.same([after.ino, after.mtimeMs], [before.ino, before.mtimeMs]);
});

largeTest(
  'files that only root may read are carried in by root to the store of another user',
  { skip: withoutOthers() },
  async (t) => {
    const { data, stick } = await world(t);
    const { snap, assert } = await download(stick, offered('hello-on', 12));
    const give = (path: string): void => {
      chownSync(path, 1234, 1234);
      if (statSync(path).isDirectory()) for (const name of readdirSync(path)) give(join(path, name));
    };
    give(data);
    chmodSync(join(data, '..'), 0o755);
    // The roots of trust are read by the owner of the store.
    const roots = join(data, 'roots');
    renameSync(rootsFile(stick), roots);
    chownSync(roots, 1234, 1234);
    changeConfig(join(data, 'larder.toml'), { 'assertions.trusted': [roots] });
    give(data);
    for (const path of [snap, assert]) chmodSync(path, 0o600);
    chmodSync(stick, 0o700);
    const { code, err } = await start(t, ['package', 'import', stick, '--data', data]).ended;
    t.equal(code, 0, err);
    const owners = readdirSync(data, { recursive: true, encoding: 'utf8' }).map(
      (name) => statSync(join(data, name)).uid,
    );
    t.same([...new Set(owners)], [1234]);
  },
);
