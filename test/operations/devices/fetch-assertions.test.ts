// Responses to a device that requests newer assertions: their addresses, and the missing ones.
import t from 'tap';

import { joined, type Assertion } from '#assertions/format/assertion.ts';
import { rightsOf } from '#access/device-access.ts';
import { assertionsFor } from '#access/device-assertions.ts';
import type { WantedAssertion } from '#contract/wire.ts';
import { fetchAssertions } from '#operations/devices/fetch-assertions.ts';
import { account, made, timestamp } from '#test/assertions/world.ts';
import { keep, modelOf, serialOf, startForDevices } from './world.ts';

const snapId = 'S'.repeat(32);
const set = (sequence: number, revision = '0'): Promise<Assertion> =>
  made('ada', 'acme', 'validation-set', {
    revision,
    series: '16',
    'account-id': 'acme',
    name: 'pumps',
    sequence: String(sequence),
    snaps: [{ name: 'hello', id: snapId }],
    timestamp,
  });

t.test('a device gets the addresses of assertions that are missing or older there', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const model = await modelOf({ revision: '3' });
  const sets = [await set(1), await set(2), await set(5, '1')];
  await keep(store, model, ...sets);
  const fetch = async (requests: WantedAssertion[], maxFormats = {}) =>
    fetchAssertions(requests, {
      maxFormats,
      assertions: assertionsFor(
        await rightsOf({ device: undefined, principal: undefined }, store.beside.records),
        store.beside.records,
      ),
      baseUrl: store.url,
    });
  /** The texts behind the addresses. */
  const texts = async (...requests: WantedAssertion[]): Promise<string[]> => {
    const fetched = await fetch(requests);
    t.same(fetched['error-list'], []);
    const replies = fetched['assertion-stream-urls'].map((url) => anyone.get(url.slice(store.url.length)));
    return (await Promise.all(replies)).map(({ body }) => body as string);
  };
  const modelKey = { type: 'model', 'primary-key': ['16', 'acme', 'pump'] };
  t.same(await texts(modelKey, { type: 'account', 'primary-key': ['acme'] }), [
    joined(model),
    joined(await account('acme')),
  ]);
  t.same(await texts({ ...modelKey, 'if-newer-than': 2 }), [joined(model)]);
  t.same(await texts({ ...modelKey, 'if-newer-than': 3 }), [], 'nothing newer');

  const pumps = { type: 'validation-set', 'sequence-key': ['16', 'acme', 'pumps'] };
  const [, second, fifth] = sets.map(joined);
  t.same(await texts(pumps), [fifth]);
  t.same(await texts({ ...pumps, sequence: 2 }), [second]);
  t.same(await texts({ ...pumps, sequence: 2, 'if-newer-than': 0 }), []);
  t.same(await texts({ ...pumps, 'if-sequence-equal-or-newer-than': 2, 'if-newer-than': 7 }), [fifth]);
  t.same(await texts({ ...pumps, 'if-sequence-equal-or-newer-than': 5, 'if-newer-than': 0 }), [fifth]);
  t.same(await texts({ ...pumps, 'if-sequence-equal-or-newer-than': 5, 'if-newer-than': 1 }), []);
  t.same(await texts({ ...pumps, 'if-sequence-equal-or-newer-than': 6 }), []);
  t.same(await texts({ ...pumps, 'if-sequence-newer-than': 4 }), [fifth]);
  t.same(await texts({ ...pumps, 'if-sequence-newer-than': 5 }), []);
});

t.test('an assertion that is missing, or not for this device, is named beside the rest', async (t) => {
  const { store } = await startForDevices(t);
  const declaration = await made('store', 'authority', 'snap-declaration', {
    format: '2',
    series: '16',
    'snap-id': snapId,
    'snap-name': 'hello',
    'publisher-id': 'acme',
    timestamp,
  });
  await keep(store, await serialOf(), declaration);
  const { records } = store.beside;
  const declared = { type: 'snap-declaration', 'primary-key': ['16', snapId] };
  const sequence = { type: 'validation-set', 'sequence-key': ['16', 'acme', 'pumps'] };
  const ofSerial = { type: 'serial', 'primary-key': ['acme', 'pump', '0001'] };
  const requests: WantedAssertion[] = [
    { type: 'account', 'primary-key': ['acme'] },
    { ...sequence, 'if-sequence-newer-than': 1 },
    ofSerial,
    declared,
    { type: 'nonsense', 'primary-key': ['1'] },
    { type: 'model', 'sequence-key': ['16', 'acme', 'pump'] },
    { type: 'account' },
    { type: 'repair', 'primary-key': ['canonical', '1'] },
    { type: 'cluster', 'sequence-key': ['bc3c0a19'] },
  ];
  const options = {
    maxFormats: {},
    assertions: assertionsFor(await rightsOf({ device: undefined, principal: undefined }, records), records),
    baseUrl: store.url,
  };
  const { 'assertion-stream-urls': urls, 'error-list': errors } = await fetchAssertions(requests, options);
  t.equal(urls.length, 1);
  t.match(errors, [
    { code: 'not-found', ...sequence },
    { code: 'not-found', ...ofSerial },
    { code: 'not-found', ...declared },
    { code: 'api-error', type: 'nonsense' },
    { code: 'api-error', type: 'model' },
    { code: 'api-error', type: 'account' },
    { code: 'not-found', type: 'repair', message: "This store does not serve assertions of type 'repair'." },
    { code: 'not-found', type: 'cluster', 'sequence-key': ['bc3c0a19'] },
  ]);
  t.equal(errors.length, 8);
  const device = { brand: 'acme', model: 'pump', serial: '0001' };
  const own = {
    ...options,
    maxFormats: { 'snap-declaration': 6 },
    assertions: assertionsFor(await rightsOf({ device, principal: undefined }, records), records),
  };
  t.match(await fetchAssertions([ofSerial, declared], own), {
    'assertion-stream-urls': [
      `${store.url}/v2/assertions/serial/acme/pump/0001?max-format=0`,
      `${store.url}/v2/assertions/snap-declaration/16/${snapId}?max-format=6`,
    ],
    'error-list': [],
  });
});
