// larder package register
import t from 'tap';
import { changeConfig } from '#configuration/config.ts';
import { openStore } from '#data/store.ts';
import { newStore } from '#test/cli/process.ts';

const people = async (larder: (line: string) => Promise<unknown>) => {
  for (const name of ['ada', 'bob']) {
    await larder(
      `account create --email ${name}@example.org --username ${name} --display-name ${name} --id ${name}-id`,
    );
  }
};

t.test('a name is registered with a new id, or with the one of the online store', async (t) => {
  const { data, json, larder } = await newStore(t);
  await people(larder);
  t.match(await json('package register snap/hello --account ada-id'), {
    id: /^[a-zA-Z0-9]{32}$/,
    namespace: 'snap',
    name: 'hello',
  });
  t.strictSame(
    await json('package register snap/core22 --account bob-id --id amcUKQILKXHHTlmSa7NMdnXSx02dNeeT --private'),
    {
      id: 'amcUKQILKXHHTlmSa7NMdnXSx02dNeeT',
      namespace: 'snap',
      name: 'core22',
    },
  );
  t.match(await larder('package register charm/landscape --type bundle --account ada-id'), {
    code: 0,
    out: /^The name charm\/landscape is registered for ada-id \(ada\); its id is \w{32}\.\n$/,
  });
  const { records, close } = await openStore({ directory: data });
  t.teardown(close);
  const core22 = await records.packages.find('snap', 'core22');
  t.match(core22, { type: 'snap', publisherId: 'bob-id', private: true, status: 'registered' });
  t.match(await records.tracks.list(core22!.id), [{ name: 'latest' }]);
  t.match(await records.packages.find('charm', 'landscape'), { type: 'bundle', private: false });
});

t.test('a reserved name can be registered on the host', async (t) => {
  const { data, json, larder } = await newStore(t);
  await people(larder);
  changeConfig(`${data}/larder.toml`, { 'names.reserved': ['core22'] });
  t.match(await json('package register snap/core22 --account ada-id'), { name: 'core22' });
});

t.test('a name or an id that is taken is refused as register_name does', async (t) => {
  const { json, larder } = await newStore(t);
  await people(larder);
  const { id } = (await json('package register snap/hello --account ada-id')) as { id: string };
  t.strictSame(await json('package register snap/hello --account ada-id'), {
    error: "This account has already registered the name 'hello'.",
    code: 'already-owned',
  });
  t.strictSame(await json('package register snap/hello --account bob-id'), {
    error: "The name 'hello' is taken.",
    code: 'already-registered',
  });
  t.strictSame(await json(`package register snap/other --account bob-id --id ${id}`), {
    error: `The package id '${id}' is taken.`,
    code: 'conflict',
  });
  t.match(await json('package register charm/hello --account bob-id'), { name: 'hello' }, 'another namespace');
});

t.test('a name that cannot be registered is refused with the mistake', async (t) => {
  const { larder } = await newStore(t);
  await people(larder);
  const cases: [string, number, string][] = [
    ['hello', 2, "a package is named NAMESPACE/NAME, such as snap/hello, not 'hello'"],
    ['snaps/hello', 2, "there is no namespace 'snaps'; did you mean 'snap'?"],
    ['zebra/hello', 2, "there is no namespace 'zebra'; there is bin, charm, snap, rock, sdk, source"],
    ['snap/Hello', 2, "The package name 'Hello' may hold only lower-case letters, digits and dashes."],
    ['snap/a/b', 2, "The package name 'a/b' may hold only lower-case letters, digits and dashes."],
    ['snap/hello --type charm', 2, "--type is one of snap here, not 'charm'"],
    ['snap/hello --id short', 2, "--id is a package id, 32 letters and digits, not 'short'"],
  ];
  for (const [line, code, message] of cases) {
    const outcome = await larder(`package register ${line} --account ada-id`);
    t.strictSame([outcome.code, outcome.err.split('\n')[0]], [code, `larder: ${message}`]);
  }
  t.match(await larder('package register snap/hello --account nobody'), {
    code: 1,
    err: /There is no account with the id/,
  });
});

t.test('packages of a disabled account are listed by its user name, its e-mail address and its id', async (t) => {
  const { larder, json } = await newStore(t);
  const { id } = (await json('account create --username zoe --email Zoe@example.com --display-name Zoe')) as {
    id: string;
  };
  t.equal((await larder(`package register snap/hello --account ${id}`)).code, 0);
  t.equal((await larder(`account disable ${id} --yes`)).code, 0);
  for (const name of [id, 'zoe', 'zoe@EXAMPLE.com']) {
    t.match(await json(`package list --publisher ${name}`), { packages: [{ name: 'hello' }] }, name);
  }
  t.match(await larder('account show zoe'), { code: 1, err: new RegExp(`that is a name of the account ${id}`) });
});
