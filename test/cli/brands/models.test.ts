// larder model, serial-policy and remodel
import t from 'tap';

import { larder } from '#test/cli/world.ts';
import { vectorKey } from '#test/assertions/vectors.ts';
import { newBrandStore } from './brand-store.ts';

t.test('a model is created, gets the key of its serials, and is deleted', async (t) => {
  const { larder: run, json, data } = await newBrandStore(t);
  const { id: key } = vectorKey('rsa4096-a');
  t.match(await run('model list'), { code: 0, out: /There are no models/ });
  t.match(await run('model create my-brand pump-2'), { code: 0, out: /The brand my-brand has the model pump-2/ });
  t.match(await run('model create my-brand pump-2'), { code: 1, err: /has a model 'pump-2' already/ });
  t.match(await run('model create my-brand Pump'), { code: 1, err: /lower-case letters/ });
  t.match(await run('model create other pump'), { code: 1, err: /There is no brand 'other'/ });
  t.match(await run('model list'), { out: /my-brand +pump-2 +no +none: no serials/ });

  t.match(await run('serial-policy list my-brand pump-2'), { code: 0, out: /has no serial policy/ });
  t.match(await run('serial-policy add my-brand pump-2 nothing'), {
    code: 1,
    err: /There is no signing key 'nothing'/,
  });
  t.match(await json('serial-policy add my-brand pump-2 default'), { revision: 1, 'signing-key-sha3-384': key });
  await json('serial-policy add my-brand pump-2 second');
  t.match(await json('serial-policy list my-brand pump-2'), { policies: [{ revision: 2 }, { revision: 1 }] });
  t.match(await run('model list my-brand'), { out: new RegExp(vectorKey('rsa4096-b').id) });

  t.match(await run('model delete my-brand pump-2 --yes'), { code: 1, err: /still has serial policies/ });
  t.match(await json('serial-policy delete my-brand pump-2 2 --yes'), { revision: 2, current: 1 });
  t.match(await run('serial-policy delete my-brand pump-2 2 --yes'), { code: 1, err: /has no serial policy 2/ });
  t.match(await run('serial-policy delete my-brand pump-2 1 --yes'), { out: /its devices get no serials/ });
  t.match(await run('model delete my-brand pump-2 --yes'), { code: 0, out: /my-brand\/pump-2 is deleted/ });
  t.match(await json('model list my-brand'), { models: [] });
  const { entries } = (await json('audit list')) as { entries: { action: string }[] };
  const actions = entries.map(({ action }) => action);
  for (const action of ['create_model', 'create_serial_policy', 'delete_serial_policy', 'delete_model'])
    t.ok(actions.includes(action), action);
  t.match(await larder(`serial-policy list my-brand none --data ${data}`), { code: 1, err: /has no model 'none'/ });
});

t.test('the key that devices send is read from standard input, and printed by no command', async (t) => {
  const { data, json, larder: run } = await newBrandStore(t);
  const env = { LARDER_DATA: data };
  const created = await larder('model create my-brand pump --api-key-stdin --json', { env, stdin: ['s3cret\n'] });
  t.match(JSON.parse(created.out), { name: 'pump', 'has-api-key': true });
  t.notMatch(created.out + (await run('model list --json')).out + (await run('audit list --json')).out, /s3cret/);
  t.match(await run('model change my-brand pump'), { code: 2, err: /either --api-key-stdin or --no-api-key/ });
  const long = await larder('model change my-brand pump --api-key-stdin', { env, stdin: ['x'.repeat(257)] });
  t.match(long, { code: 1, err: /more than 256 characters/ });
  t.match(await json('model change my-brand pump --no-api-key'), { 'has-api-key': false });
  t.match(await run('model change my-brand pump-9 --no-api-key'), { code: 1, err: /has no model 'pump-9'/ });
});

t.test('a remodel is permitted for a model or for one serial, listed and removed', async (t) => {
  const { larder: run, json } = await newBrandStore(t);
  for (const model of ['pump-1', 'pump-2']) await json(`model create my-brand ${model}`);
  t.match(await run('remodel list my-brand'), { code: 0, out: /No device of my-brand may become another model/ });
  t.match(await run('remodel permit my-brand --from pump-1 --to pump-3'), { code: 1, err: /has no model 'pump-3'/ });
  t.match(await run("remodel permit my-brand --from pump-1 --serial 0001 --to pump-2 --description 'Test bench'"), {
    code: 0,
    out: /from pump-1 with the serial 0001 to pump-2/,
  });
  await json('remodel permit my-brand --from pump-1 --to pump-2');
  t.match(await run('remodel permit my-brand --from pump-1 --to pump-2'), { code: 1, err: /already/ });
  t.match(await run(`remodel permit my-brand --from pump-1 --to pump-2 --serial ${'1'.repeat(257)}`), { code: 2 });
  t.match(await json('remodel list my-brand'), {
    allowlist: [{ 'from-serial': null }, { 'from-serial': '0001', description: 'Test bench' }],
  });
  t.match(await run('model delete my-brand pump-2 --yes'), { code: 1, err: /remodel allowlist still names/ });
  await json('remodel remove my-brand --from pump-1 --to pump-2 --yes');
  t.match(await json('remodel list my-brand'), { allowlist: [{ 'from-serial': '0001' }] });
  t.match(await run('remodel remove my-brand --from pump-1 --to pump-2 --yes'), { code: 1, err: /has no remodel/ });
});
