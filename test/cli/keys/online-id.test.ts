// A request for a key speaks of an account that the online store must know; larder says so before it is carried out.
import t from 'tap';

import { newStore } from '#test/cli/process.ts';

t.test('a key of a brand with an id from this store is not requested by mistake', async (t) => {
  const store = await newStore(t);
  const made = await store.json('account create --email ada@example.org --username ada --display-name Ada');
  const { id } = made as { id: string };
  const unknown = new RegExp(`The account id ${id} was created by this store. The online store does not know it`);
  t.match(await store.larder(`brand create --account ${id} --name Acme`), { code: 0, out: unknown });
  t.match(await store.larder(`key create ${id} serials`), { code: 0, out: unknown });
  t.match(await store.larder(`key request serials --brand ${id}`), { code: 1, out: '', err: unknown });
  const listed = JSON.stringify(await store.json('key list'));
  t.notMatch(listed, /"requested-at":"/, 'it does not count as requested');
  t.match(await store.larder(`key request serials --brand ${id} --local`), {
    code: 0,
    out: new RegExp(`^type: account-key-request\n[^]*account-id: ${id}\n`),
  });
});

t.test('a brand with its online id gives no warning', async (t) => {
  const store = await newStore(t);
  await store.json('account create --email acme@example.org --username acme --display-name Acme --id acme');
  t.match(
    (await store.larder('brand create --account acme --name Acme')).out,
    /^The account acme is now the brand Acme[^\n]*\n$/,
  );
  t.match((await store.larder('key create acme serials')).out, /\nIt is registered with: larder key request serials/);
  t.match(await store.larder('key request serials'), { code: 0, out: /^type: account-key-request\n/ });
});
