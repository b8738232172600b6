// A site with its key in a device, and another site that trusts it: the checks that every device must pass.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Test } from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { folder } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { parseReceipt } from '#transfers/accept/receipts.ts';
import { offered, trust, twoSites, type Sites, type SiteUnderTest } from './sites.ts';

export interface KeyDevice {
  /** The path of the key manager. */
  manager: string;
  env: Record<string, string>;
  /** The name of an ECDSA P-384 key in it. */
  key: string;
  pull(): void;
  insert(): void;
}

/** A store that uses the device. */
export function withDevice<Store extends SiteUnderTest>(store: Store, { manager, env }: KeyDevice): Store {
  changeConfig(join(store.data, 'larder.toml'), {
    'keys.manager': manager,
    'keys.environment': Object.keys(env),
    'keys.timeout_seconds': 60,
  });
  const run = (line: string) => larder(line, { env: { ...env, LARDER_DATA: store.data } });
  return {
    ...store,
    larder: run,
    async done(line: string) {
      const { code, out, err } = await run(`${line} --json`);
      if (code !== 0) throw new Error(`${line}: ${err || out}`);
      return JSON.parse(out) as unknown;
    },
  };
}

export interface DeviceSites extends Sites {
  /** The fingerprint of the key in the device. */
  fingerprint: string;
}

/** A depot that moves its key into the device, and a site that follows by the statement of the rotation. */
export async function moveIntoDevice(t: Test, device: KeyDevice): Promise<DeviceSites> {
  const sites = await twoSites(t);
  const depot = withDevice(sites.depot, device);
  await trust(depot, sites.here, join(sites.stick, 'site-a.json'));
  await sites.carry(offered('hello-on', 12));
  const before = await depot.done('site show');
  t.match(before.site, { format: 1, 'manager-key': null });
  const statement = join(sites.stick, 'rotated.json');
  const rotated = await depot.done(`site rotate ${statement} --in-manager '${device.key}' --yes`);
  const { site } = await depot.done('site show');
  t.match(site, { format: 2, fingerprints: [rotated.fingerprint], 'manager-key': device.key });
  t.match(site.keys[0], /^B[\w-]{129}$/);
  t.notMatch(rotated.fingerprint, before.site.fingerprints[0]);
  t.match((await depot.larder('site show')).out, `in the key manager as '${device.key}'`);
  t.match(await depot.larder(`site rotate ${join(sites.stick, 'same.json')} --in-manager '${device.key}' --yes`), {
    code: 1,
    err: /is the key of this site already/,
  });
  const followed = await sites.here.done(`site trust ${statement}`);
  t.match(followed, { name: 'depot', rotation: 1, fingerprints: [rotated.fingerprint] });
  return { ...sites, depot, fingerprint: rotated.fingerprint };
}

const signatureIn = /"signatures":\[\{"keyid":"[0-9a-f]{64}","sig":"[\w+/]{128}"\}\]/;

/** Transfers, receipts, requests and backups with the key in the device; then without the device, and with it again. */
export async function passesAsSite(t: Test, sites: DeviceSites, device: KeyDevice): Promise<void> {
  const { depot, here: receiver, stick, fingerprint } = sites;
  const part = join(stick, 'in.tar');
  const { id } = await depot.done(`transfer make ${part} --for site-a`);
  const text = readFileSync(part, 'latin1');
  t.match(text, signatureIn);
  t.match(text, /"format":2,/, 'a release without P-384 refuses the format by name');
  await refusesTampered(t, { here: receiver, stick, text });
  t.match(await receiver.done(`transfer receive ${part}`), { 'signed-with': [fingerprint] });
  await receiver.done(`transfer accept ${id} --yes`);

  const again = join(stick, 'again.tar');
  await depot.done(`transfer make ${again} --again 1`);
  t.match(await receiver.larder(`transfer receive ${again}`), { code: 0, out: /was already accepted/ });

  await signsReceipts(t, sites);
  const request = join(stick, 'request.tar');
  await depot.done(`transfer request ${request} --inventory none --yes`);
  const requestedPart = join(stick, 'asked.tar');
  t.match(await receiver.larder(`transfer make ${requestedPart} --request ${request} --packages snap/*`), {
    out: new RegExp(fingerprint),
  });
  writeFileSync(
    `${request}.changed`,
    readFileSync(request).toString('latin1').replace('"number":1', '"number":2'),
    'latin1',
  );
  t.match(await receiver.larder(`transfer make ${requestedPart}.2 --request ${request}.changed`), { code: 1 });

  const backup = join(folder(t), 'backup.tar');
  await depot.done(`backup ${backup}`);
  const check = (signer: string) =>
    larder(`backup ${backup} --check --signed-by ${signer} --data ${join(folder(t), 'none')}`);
  t.match(await check(fingerprint), { code: 0, out: /It is signed with the key/ });
  const [other] = (await receiver.done('site show')).site.fingerprints as [string];
  t.match(await check(other), { code: 1, err: /was not signed with this key/ });

  device.pull();
  const away = /The keys in the key manager are not available:\s/;
  t.match(await depot.larder(`transfer make ${join(stick, 'away.tar')}`), { code: 1, err: away });
  t.match(await depot.larder(`transfer request ${join(stick, 'away-request.tar')} --yes`), { code: 1, err: away });
  t.match(await depot.larder('status'), { out: away });
  const unsigned = join(folder(t), 'unsigned.tar');
  t.match(await depot.larder(`backup ${unsigned}`), {
    code: 0,
    out: /The site has not signed it\. The keys in the key/,
  });
  t.match(await depot.larder(`backup ${unsigned} --check`), { code: 0 });
  t.match(await depot.larder('site show'), { code: 0 }, 'the fingerprint needs no device');
  device.insert();
  t.match(await depot.larder(`transfer make ${join(stick, 'back.tar')}`), { code: 0 });
}

/** A receipt of the site with the device; it knows the signature again, also in a changed file. */
async function signsReceipts(t: Test, { depot, here: receiver, stick, fingerprint }: DeviceSites): Promise<void> {
  const [part, receipt] = [join(stick, 'up.tar'), join(stick, 'receipt.json')];
  const { id } = await receiver.done(`transfer make ${part} --for depot`);
  await depot.done(`transfer receive ${part}`);
  await depot.done(`transfer accept ${id} --receipt ${receipt} --yes`);
  const text = readFileSync(receipt, 'utf8');
  const { keys } = (await depot.done('site show')).site as { keys: [string] };
  t.match(parseReceipt(text, keys), { source: 'site-a', sequence: 1 });
  const { payload, ...envelope } = JSON.parse(text) as { payload: string };
  const changed = Buffer.from(payload, 'base64').toString().replace('"sequence":1', '"sequence":2');
  const forged = JSON.stringify({ ...envelope, payload: Buffer.from(changed).toString('base64') });
  t.equal(parseReceipt(forged, keys), undefined);
  t.match(await depot.larder(`transfer receipt ${id} --html ${join(stick, 'receipt.html')}`), { code: 0 });
  t.match(readFileSync(join(stick, 'receipt.html'), 'utf8'), fingerprint);
}

/** Each changed byte of the statement or of the signature is refused. */
async function refusesTampered(
  t: Test,
  { here: receiver, stick, text }: { here: SiteUnderTest; stick: string; text: string },
): Promise<void> {
  const [, sig = ''] = /"sig":"([\w+/]{128})"/.exec(text) ?? [];
  const other = sig.startsWith('A') ? 'B' : 'A';
  for (const [change, message] of [
    [text.replaceAll(sig, other + sig.slice(1)), /signed with 0 of the keys/],
    [text.replaceAll(sig, Buffer.alloc(96).toString('base64')), /signed with 0 of the keys/],
    [text.replaceAll(sig, Buffer.alloc(96, 255).toString('base64')), /signed with 0 of the keys/],
    [text.replaceAll('"sequence":1', '"sequence":7'), /signed with 0 of the keys|does not match the statement/],
    [text.replaceAll('"format":2', '"format":3'), /It has the format 3, which a newer release of larder reads/],
  ] as const) {
    const file = join(stick, 'changed.tar');
    writeFileSync(file, change, 'latin1');
    t.match(await receiver.larder(`transfer receive ${file}`), { code: 1, err: message });
  }
}
