// Behaviour of the S3 engine only; door.test.ts checks the behaviour of every engine with it too.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  CreateMultipartUploadCommand,
  CreateBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutBucketAclCommand,
  PutBucketVersioningCommand,
} from '@aws-sdk/client-s3';
import fc from 'fast-check';
import t, { type Test } from 'tap';

import { makeAuthority, makeServerCertificate } from '#tls/certificates.ts';
import { UploadHandedOver, type ReceivedBlob } from '#blobs/blobs.ts';
import { createDigestPool } from '#blobs/digests.ts';
import { parseBucketAddress } from '#contract/bucket-address.ts';
import { S3Bucket } from '#blobs/s3/bucket.ts';
import { PartMemory } from '#blobs/s3/part-memory.ts';
import { partsOf, partSize, defaultSizes } from '#blobs/s3/parts.ts';
import { createLocalRemovals, type Removals } from '#blobs/s3/removals.ts';
import { inspectBucket } from '#blobs/s3/inspect-bucket.ts';
import { s3Blobs, type S3Blobs, type S3BlobsOptions } from '#blobs/s3.ts';
import { startCable } from '#test/fixtures/servers/cable.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { kill } from '#test/fixtures/processes/kill.ts';
import { pass, startFront } from '#test/fixtures/servers/front.ts';
import { sharedSwift, startSwift } from '#test/fixtures/servers/swift.ts';
import { until } from '#test/fixtures/until.ts';
import { onS3, sha3 } from '#test/blobs/engine.ts';
import type { LargeOnS3 } from './large-on-s3.ts';
import { passThrough, type Passage } from '#test/blobs/large.ts';
import { contentOf, filesBelow, from, listed, startDigestWorker, temporaryFolder } from '#test/blobs/store.ts';

const root = t;
const isLong = process.env['LARDER_LONG'] === '1';
t.setTimeout(isLong ? 3_600_000 : 600_000);

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;
const all = { limit: 100 * MiB };
const placeOf = (sha3_384: string): string => `sha3/${sha3_384.slice(0, 2)}/${sha3_384}`;
/** A response after more than five seconds, plus two for a busy machine, is too late. */
const inTime = <Result>(work: Promise<Result>): Promise<Result> =>
  Promise.race([work, sleep(7000, undefined, { ref: false }).then(() => Promise.reject(new Error('too late')))]);
/** The message to the administrator about a server without a clock. */
const whyNot = (blobs: S3Blobs): Promise<string> =>
  blobs.clock().then(
    () => '',
    (error: unknown) => blobs.whyNot(error),
  );
const unavailable = { code: 'remote-service-unavailable', status: 503, retryAfter: 5 };

t.test('parts follow each other, are large enough, and few enough for every server', async (t) => {
  fc.assert(
    fc.property(fc.nat({ max: 5 * 1024 * GiB }), (size) => {
      const each = partSize(size, defaultSizes.single);
      const parts = size < GiB ? partsOf(size, each) : undefined;
      const count = Math.max(1, Math.ceil(size / each));
      if (each % MiB !== 0 || each < 16 * MiB || each > 5 * GiB || count > 10_000) return false;
      if (size <= 62 * GiB && (count > 1000 || each > 64 * MiB)) return false;
      if (parts === undefined) return true;
      const follows = parts.every(({ start, number }, nth) => start === nth * each && number === nth + 1);
      return follows && parts.length === count && parts.at(-1)!.end === size;
    }),
    { examples: [[0], [1], [16 * MiB], [16 * MiB + 1], [32 * GiB], [62 * GiB], [625 * GiB + 1], [5 * 1024 * GiB]] },
  );
  t.equal(partSize(32 * GiB, defaultSizes.single), 33 * MiB, '32 GiB go in 993 parts');
  t.equal(partSize(6 * GiB, defaultSizes.copiedPart, Infinity), GiB);
  t.equal(partSize(5 * 1024 * GiB, defaultSizes.copiedPart, Infinity), 5243 * MiB - MiB + MiB);
});

t.test('memory for parts is used again, by one at a time, after no error, and not beyond the end', async (t) => {
  const memory = new PartMemory();
  const lent = (size = MiB) => memory.lend(size, (piece) => Promise.resolve(piece));
  await memory.during(async () => {
    const both = Array.from({ length: 2 }, () => Promise.withResolvers<undefined>());
    const pieces: Buffer[] = [];
    const under = both.map(({ promise }) => memory.lend(MiB, async (piece) => (pieces.push(piece), promise)));
    t.not(pieces[0], pieces[1], 'two at once have each their own');
    both[0]!.resolve(undefined);
    await under[0];
    t.equal(await lent(), pieces[0]);
    both[1]!.reject(new Error('cut off'));
    await t.rejects(under[1]!);
    t.equal(await lent(), pieces[0], 'what a connection may still have nobody gets');
    t.equal((await lent(2 * MiB)).length, 2 * MiB);
    t.not(await lent(), pieces[0], 'and what another size has made room for is gone');
  });
  const last = await memory.during(() => lent());
  t.not(await memory.during(() => lent()), last);
});

t.test('an address is parsed, or refused with the mistake', async (t) => {
  const local = { endpoint: 'https://s3.site:8443', host: 's3.site:8443', bucket: 'blobs' };
  t.same(parseBucketAddress('https://s3.site:8443/blobs/larder/main'), { ...local, prefix: 'larder/main/' });
  t.same(parseBucketAddress('https://s3.site:8443/blobs/larder/'), { ...local, prefix: 'larder/' });
  t.same(parseBucketAddress('https://s3.site:8443/blobs'), { ...local, prefix: '' });
  for (const [text, pattern] of [
    ['s3://blobs/larder', /not of the form/],
    ['blobs', /not of the form/],
    ['https://ada:secret@s3.site/blobs', /put them into a file/],
    ['https://s3.site/blobs?x=1', /must not have a query/],
    ['https://s3.site/', /has no bucket/],
    ['https://s3.site/Blobs', /has no bucket/],
    ['https://s3.site/blobs/a//b', /prefix/],
    ['https://s3.site/blobs/%2e%2e/b', /has no bucket|prefix/],
    ['https://s3.site/blobs/a b', /prefix/],
  ] as const) {
    t.throws(() => parseBucketAddress(text), pattern, text);
  }
});

/** All that came of large content is as it should be. */
function isWell(t: Test, passage: Passage, size: number): void {
  t.equal(passage.taken.size, size);
  t.same(passage.wrong, [], 'every byte came back as it was sent, also by ranges');
  t.same(passage.beyond, ['RangeError', 'RangeError', 'RangeError']);
  t.same(passage.told, [size, size]);
  t.same(passage.verdicts, ['good', 'good']);
  t.same([passage.removed, passage.isLeft], [true, false]);
}

t.test('large content is sent in parts, and copied in parts for quarantine and restore', async (t) => {
  const sizes = { single: 5 * MiB, copied: 6 * MiB, copiedPart: 5 * MiB };
  const { blobs, server, address, places, beside: openAlongside } = await onS3(t, { sizes });
  const reader = await openAlongside();
  const digests = createDigestPool(startDigestWorker, 2);
  t.teardown(() => digests.close());
  const size = 13 * MiB + 16;
  const seen: [string, string[]][] = [];
  const passage = await passThrough({
    size,
    part: sizes.single,
    blobs,
    reader,
    digests,
    async step(name, work) {
      const result = await work();
      if (name === 'receive') {
        const key = address.prefix + placeOf((result as ReceivedBlob).sha3_384);
        const { ETag } = await server.client.send(new HeadObjectCommand({ Bucket: server.bucket, Key: key }));
        t.match(ETag, /-3"$/, 'three parts');
      }
      seen.push([name, await places()]);
      return result;
    },
  });
  isWell(t, passage, size);
  const { sha3_384 } = passage.taken;
  t.same(Object.fromEntries(seen)['take out of service'], [`quarantine/${sha3_384}`]);
  t.same(Object.fromEntries(seen)['put back'], [placeOf(sha3_384)]);
  t.same(await places(), []);
  t.match(Object.fromEntries(blobs.traffic().requests), {
    UploadPart: 3,
    UploadPartCopy: 6,
    CompleteMultipartUpload: 3,
  });
  t.equal(blobs.traffic().errors.size, 0);
  t.ok(blobs.traffic().bytesSent > 13 * MiB && reader.traffic().bytesReceived > 13 * MiB);
});

t.test('a multipart upload that never ended is abandoned after a day', async (t) => {
  const { blobs, server, address, beside: openAlongside } = await onS3(t);
  const where = { Bucket: server.bucket };
  await server.client.send(new CreateMultipartUploadCommand({ ...where, Key: `${address.prefix}sha3/ab/abandoned` }));
  await server.client.send(new CreateMultipartUploadCommand({ ...where, Key: 'of-somebody-else' }));
  const left = async () =>
    (await server.client.send(new ListMultipartUploadsCommand(where))).Uploads?.map(({ Key }) => Key) ?? [];
  t.equal(await blobs.sweepTemporary(() => false), 0);
  t.equal((await left()).length, 2);
  const later = await openAlongside({ now: () => new Date(Date.now() + 25 * 3600_000) });
  t.equal(await later.sweepTemporary(() => false), 1);
  t.same(await left(), ['of-somebody-else']);
});

const long = isLong ? { timeout: 3_600_000 } : { skip: 'LARDER_LONG=1 sends 6 GiB' };
/**
 * MiB of memory, a fifth more than was measured: during the upload, and the maximum afterwards, before any garbage
 * collection.
 */
const limitsMiB = { receive: 272, else: 340 };

t.test('six GiB pass through all that a bucket does with them, and memory does not grow with them', long, async (t) => {
  const { places, address, server, directory } = await onS3(t);
  const program = join(import.meta.dirname, 'large-on-s3.ts');
  const line = [program, directory, String(6 * GiB), JSON.stringify({ address, access: server.access })];
  // Without the options for child processes of the test runner, which take memory too.
  const child = spawn('/usr/bin/env', ['-u', 'NODE_OPTIONS', process.execPath, ...line], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => kill(child));
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  await once(child, 'close');
  const { requests, steps, ...passage } = JSON.parse(out) as LargeOnS3;
  isWell(t, passage, 6 * GiB);
  t.same(await places(), []);
  t.match(requests, { UploadPart: 384, UploadPartCopy: 12, CompleteMultipartUpload: 3 });
  t.notOk('CopyObject' in requests, 'so large an object no server copies in one request');
  for (const { step, seconds, cpu, peak } of steps) {
    t.ok(
      peak < (step === 'receive' ? limitsMiB.receive : limitsMiB.else),
      `${step}: ${seconds.toFixed(0)} s, ${cpu.toFixed(0)} s of processors, ${peak} MiB at most`,
    );
  }
});

t.test('a list continues after the end of a response', async (t) => {
  const { blobs } = await onS3(t, { sizes: { listed: 3 } });
  const taken = [];
  for (let nth = 0; nth < 10; nth++) taken.push(await blobs.put(Buffer.from(`content ${nth}`), { id: `u${nth}` }));
  t.same(
    (await listed(blobs.list())).map(({ sha3_384 }) => sha3_384),
    taken.map(({ sha3_384 }) => sha3_384).sort(),
  );
});

t.test('the bucket folder of another store is refused, and nothing is changed there', async (t) => {
  const { beside: openAlongside, keys, read, write, remove, server } = await onS3(t);
  const mark = await read('larder-store.json');
  t.same(JSON.parse(mark.toString()), { larder: 1, store: 'store-of-ada' });
  await t.rejects(openAlongside({ store: 'store-of-bob' }), {
    message: /^cannot open http:.*: it belongs to another store; give this one a prefix of its own$/,
  });
  await write('larder-store.json', Buffer.from('{"larder": 1}'));
  await t.rejects(openAlongside(), {
    message: /not a marker of larder; check that object, remove it, and run 'larder bucket accept'/,
  });
  await write('larder-store.json', Buffer.alloc(2000));
  await t.rejects(openAlongside(), { message: /not a marker of larder/ });
  await remove('larder-store.json');
  await write('letters/1', Buffer.from('dear bob'));
  await t.rejects(openAlongside(), {
    message: /it contains objects already \(letters\/1\), but no marker of larder; .* run 'larder bucket accept'$/,
  });
  t.same(await keys(), ['letters/1']);
  const isNew = () => Promise.resolve(false);
  await t.rejects(openAlongside({ address: server.newPlace(), isNew }), {
    message: /it is empty, but this store has content already; move the content there with 'larder move'/,
  });
});

t.test('each problem at the start is one sentence', async (t) => {
  const { beside: openAlongside, address, server } = await onS3(t);
  const { access } = server;
  const at = (endpoint: string) => ({ ...address, endpoint, host: endpoint.slice(7) });
  const nobody = await freePort();
  for (const [options, pattern] of [
    [{ address: at(`http://127.0.0.1:${nobody}`) }, /: no server listens there; check that the server runs/],
    [{ address: at('http://nowhere.invalid') }, /: this machine cannot resolve nowhere\.invalid$/],
    [
      { address: { ...address, bucket: 'no-such-bucket' } },
      /: the server has no bucket no-such-bucket; create it there/,
    ],
    [{ access: { ...access, accessKeyId: 'larder:eve' } }, / access_key_id/],
    [
      { access: { ...access, secretAccessKey: 'wrong' } },
      /: the secret_access_key of credentials_file does not belong/,
    ],
    [{ address: at(`https://127.0.0.1:${server.port}`) }, /: the server does not speak the protocol of the address/],
  ] as const) {
    await t.rejects(inTime(openAlongside(options)), { message: pattern });
  }
});

t.test('credentials that may read and not write are reported at the start', async (t) => {
  const server = await sharedSwift(root);
  const { beside: openAlongside, keys } = await onS3(t);
  const before = await keys();
  const bob = { ...server.access, accessKeyId: 'larder:bob', secretAccessKey: 'secret-of-bob' };
  await t.rejects(openAlongside({ access: bob, tries: true }), {
    message: /do not permit listing, reading, writing and removing in the bucket/,
  });
  const grant = { Bucket: server.bucket, GrantRead: 'id="larder:bob"', GrantFullControl: 'id="larder:ada"' };
  await server.client.send(new PutBucketAclCommand(grant));
  await t.rejects(openAlongside({ access: bob, tries: true }), {
    message: /do not permit listing, reading, writing and removing in the bucket/,
  });
  t.same(await keys(), before);
  const ada = await openAlongside({ tries: true });
  t.ok(ada);
  t.same(await keys(), before, 'and of the trial nothing is left');
});

t.test('the lifecycle rules of a bucket are reported, and a wrong clock of its server', async (t) => {
  const server = await sharedSwift(root);
  const bucket = 'larder-rules';
  await server.client.send(new CreateBucketCommand({ Bucket: bucket }));
  // Swift has no lifecycle rules. A stub of S3 answers this one request.
  let rules = '';
  const front = createServer((client) => {
    const onward = connect(server.port, '127.0.0.1');
    t.teardown(() => [client, onward].forEach((socket) => socket.destroy()));
    onward.pipe(client);
    client.on('data', (bytes) => {
      if (!/^GET \S+\?lifecycle/.test(bytes.toString('latin1'))) return onward.write(bytes);
      const text = rules === '' ? '<Error><Code>NoSuchLifecycleConfiguration</Code></Error>' : rules;
      const head = `HTTP/1.1 ${rules === '' ? '404 Not Found' : '200 OK'}\r\ncontent-type: application/xml`;
      return client.write(`${head}\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
    });
  }).listen(0, '127.0.0.1');
  await once(front, 'listening');
  t.teardown(() => front.close());
  const host = `127.0.0.1:${(front.address() as AddressInfo).port}`;
  const { prefix } = server.newPlace();
  const address = { endpoint: `http://${host}`, host, bucket, prefix };
  const look = async (late = 0, isNew = false) => {
    const now = (): Date => new Date(Date.now() - late);
    const opening = { store: 'store-of-ada', isNew: () => Promise.resolve(isNew) };
    const { wrong, notices } = await inspectBucket(address, server.access, { ...opening, now });
    return { wrong, notices: notices.filter((notice) => !/is not encrypted and can be read and changed/.test(notice)) };
  };
  const rule = (id: string, filter: string, status = 'Enabled', days = 30): string =>
    `<Rule><ID>${id}</ID><Status>${status}</Status>${filter}<Expiration><Days>${days}</Days></Expiration></Rule>`;
  const say = (...some: string[]): string =>
    `<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${some.join('')}</LifecycleConfiguration>`;

  await t.rejects(look(), { message: /it is empty, but this store has content already/ });
  const becomes = 'it is empty; the store starts using it when it is first served';
  t.same(await look(0, true), { wrong: [], notices: [becomes] });
  const { Contents } = await server.client.send(new ListObjectsV2Command({ Bucket: bucket }));
  t.same(Contents ?? [], [], 'which nobody does by looking');
  await onS3(t, { address });
  t.same(await look(), { wrong: [], notices: [] });

  const removes = (id: string, below: string): string =>
    `its rule ${id} removes objects below '${below}' after some time, including files of the store`;
  rules = say(
    rule('all', '<Filter><Prefix></Prefix></Filter>'),
    rule('older-form', `<Prefix>${prefix}sha3/</Prefix>`),
    rule('both', `<Filter><And><Prefix>store-</Prefix><Tag><Key>a</Key><Value>b</Value></Tag></And></Filter>`),
    rule('off', '<Filter><Prefix></Prefix></Filter>', 'Disabled'),
    rule('of-others', '<Filter><Prefix>letters/</Prefix></Filter>'),
    '<Rule><ID>parts</ID><Status>Enabled</Status><Filter><Prefix></Prefix></Filter><AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>',
  );
  const wrong = [removes('all', ''), removes('older-form', `${prefix}sha3/`), removes('both', 'store-')];
  t.same(await look(), { wrong, notices: [] });
  rules = '';

  const versions = { Bucket: bucket, VersioningConfiguration: { Status: 'Enabled' as const } };
  await server.client.send(new PutBucketVersioningCommand(versions));
  const keeps = 'it keeps older versions, so files that the store removes still take space there';
  t.same(await look(), { wrong: [], notices: [keeps] });

  t.match(await look(60_000), {
    wrong: [],
    notices: [/^its clock and the clock of this machine are [56]\d seconds apart$/, keeps],
  });
  t.match(await look(-600_000), { wrong: [/^its clock and the clock of this machine are 60\d seconds apart$/] });
});

t.test('the certificate of the server is verified with the authority', async (t) => {
  const folder = await temporaryFolder(t);
  const now = new Date();
  const [authority, other] = [await makeAuthority('of the server', now), await makeAuthority('of another one', now)];
  const made = await makeServerCertificate(authority, ['127.0.0.1'], now);
  const [certificate, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(certificate, made.certificate);
  writeFileSync(key, made.key);
  const server = await startSwift({ certificate, key, authority: authority.certificate });
  t.teardown(() => server.end());
  const open = (pem: string | undefined) => {
    const address = server.newPlace();
    const common = { directory: folder, reserve: 0, digests: undefined as never, fatal: () => undefined };
    const marker = { store: 'store-of-ada', isNew: () => Promise.resolve(true) };
    return s3Blobs({ ...common, ...marker, address, access: { ...server.access, authority: pem } });
  };
  for (const pem of [undefined, other.certificate]) {
    await t.rejects(open(pem), { message: /no trusted authority has signed its certificate; name the authority in/ });
  }
  // It has no bucket: so far the connection is trusted.
  await t.rejects(open(authority.certificate), { message: /the server has no bucket larder-tests/ });
});

t.test('without its marker no object counts as absent', async (t) => {
  const { blobs, keys, remove, write, read } = await onS3(t);
  const { sha3_384 } = await blobs.put(Buffer.from('hello'), { id: 'u1' });
  const unknown = sha3(Buffer.from('never sent'));
  t.equal(await blobs.stat(unknown), undefined);
  const marker = await read('larder-store.json');
  await remove('larder-store.json');
  const calls: (() => Promise<unknown>)[] = [
    () => blobs.stat(unknown),
    () => blobs.put(Buffer.from('more'), { id: 'u2' }),
    () => blobs.open(unknown),
    () => blobs.open(unknown, { start: 0, end: 1 }),
    () => blobs.prove(unknown),
    () => blobs.makeLocalCopy(unknown),
    () => blobs.remove(unknown),
    () => blobs.quarantine(unknown),
  ];
  for (const call of calls) {
    await t.rejects(call(), unavailable);
  }
  t.same(await keys(), [placeOf(sha3_384)], 'and nothing is taken in that no start of the store would find');
  t.match(await whyNot(blobs), /larder-store.json, is not in .* any more/);
  await remove(placeOf(sha3_384));
  await t.rejects(listed(blobs.list()), unavailable, 'nor is it empty');
  const ofAnother = Buffer.from(`${JSON.stringify({ larder: 1, store: 'store-of-bob' })}\n`);
  await write('larder-store.json', ofAnother);
  for (const call of calls) await t.rejects(call(), unavailable);
  t.match(await whyNot(blobs), /it belongs to another store/, 'nor is the place of another store ours');
  await write('larder-store.json', marker);
  t.match(await blobs.put(Buffer.from('more'), { id: 'u3' }), { size: 4 });
  await blobs.remove(sha3(Buffer.from('more')));
  t.equal(await blobs.stat(unknown), undefined);
  t.same(await listed(blobs.list()), []);
});

t.test('a connection that is lost cuts, and never pads, and proves nothing', async (t) => {
  const corruptDigests: string[] = [];
  const server = await sharedSwift(root);
  const cable = await startCable(server.port);
  t.teardown(() => cable.end());
  const address = { ...server.newPlace(), endpoint: `http://127.0.0.1:${cable.port}`, host: `127.0.0.1:${cable.port}` };
  const { blobs, beside: openAlongside, directory } = await onS3(t, { address });
  const bytes = randomBytes(3 * MiB);
  const { sha3_384 } = await blobs.receive(from(bytes), { id: 'u1', ...all });
  const other = await openAlongside({ damaged: (blob) => void corruptDigests.push(blob.sha3_384) });
  for (const reader of [blobs, other]) {
    cable.cutAfter = MiB;
    const opened = await reader.open(sha3_384);
    t.equal(opened!.size, bytes.length);
    let got = Buffer.alloc(0);
    await t.rejects(
      (async () => {
        for await (const piece of opened!.stream) got = Buffer.concat([got, piece as Buffer]);
      })(),
      unavailable,
    );
    t.ok(got.length < bytes.length && bytes.subarray(0, got.length).equals(got));
    await t.rejects(reader.makeLocalCopy(sha3_384), unavailable);
    cable.cutAfter = Infinity;
  }
  cable.cutAfter = MiB;
  await t.rejects(other.prove(sha3_384), unavailable);
  cable.cutAfter = Infinity;
  t.same(corruptDigests, [], 'nobody was told of damage');
  t.equal(await other.prove(sha3_384), true);
  t.same(await filesBelow(join(directory, 'blobs')), [], 'and nothing is left here');
});

t.test('a removal that comes late is refused by the server', async (t) => {
  const { server, address, blobs } = await onS3(t);
  const { sha3_384 } = await blobs.put(Buffer.from('hello'), { id: 'u1' });
  const bucket = await S3Bucket.connect(address, server.access, { marker: 'larder-store.json' });
  t.teardown(() => bucket.close());
  const { at } = (await bucket.inspect(placeOf(sha3_384)))!;
  t.ok(Math.abs(at!.getTime() - Date.now()) < 60_000, 'the clock of the server is known');
  const late = new Date(at!.getTime() - 32_000);
  await t.rejects(bucket.remove(placeOf(sha3_384), { at: late }), { message: /expired/ });
  t.match(await blobs.stat(sha3_384), { size: 5 });
  await bucket.remove(placeOf(sha3_384), { at });
  t.equal(await blobs.stat(sha3_384), undefined);
});

t.test(
  'a removal that takes its time, as that of many parts does, is waited for while the server answers others',
  async (t) => {
    const server = await sharedSwift(root);
    const place = server.newPlace();
    const slow = await startFront(t, (request, answer) => {
      const goOn = (): void => pass(request, answer, new URL(place.endpoint));
      // Longer than anything short may take.
      if (request.method === 'DELETE') setTimeout(goOn, 5000);
      else goOn();
    });
    const { host } = new URL(slow);
    const { blobs } = await onS3(t, { address: { ...place, endpoint: slow, host } });
    const { sha3_384 } = await blobs.put(Buffer.from('hello'), { id: 'u1' });
    t.equal(await blobs.remove(sha3_384), true);
    t.equal(blobs.traffic().errors.size, 0);
    const bucket = await S3Bucket.connect(place, server.access, { marker: 'larder-store.json' });
    t.teardown(() => bucket.close());
    t.equal(await bucket.inspect(placeOf(sha3_384)), undefined);
  },
);

/** The responses of a front instead of the server: a status with a code of S3, or nothing, or a cut connection. */
type Said = [status: number, code: string] | 'cut' | undefined;

/** A store that reaches its server through a front, which may answer in its place. */
async function fronted(t: Test, options: Partial<S3BlobsOptions> = {}) {
  const server = await sharedSwift(root);
  const front: { says: (request: IncomingMessage) => Said | Promise<Said> } = { says: () => undefined };
  const hand = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const reply = await front.says(request);
    if (reply === undefined) pass(request, response, new URL(server.endpoint));
    else if (reply === 'cut') request.destroy();
    else {
      request.resume();
      const text = request.method === 'HEAD' ? '' : `<Error><Code>${reply[1]}</Code></Error>`;
      response.writeHead(reply[0], { 'content-type': 'application/xml' }).end(text);
    }
  };
  const endpoint = await startFront(t, (request, response) => void hand(request, response));
  const address = { ...server.newPlace(), endpoint, host: endpoint.slice('http://'.length) };
  return { front, ...(await onS3(t, { ...options, address })) };
}

const busy: Said = [503, 'SlowDown'];
/** Answers like this as often as given for matching requests, then passes them on. */
const times =
  (count: number, reply: Said, isFor: (request: IncomingMessage) => boolean) => (request: IncomingMessage) =>
    isFor(request) && count-- > 0 ? reply : undefined;

t.test('a server that asks for fewer requests is asked again later, and is reported if that fails', async (t) => {
  const { front, blobs } = await fronted(t);
  front.says = times(4, busy, ({ method }) => method === 'PUT');
  const { sha3_384 } = await blobs.put(Buffer.from('hello'), { id: 'u1' });
  front.says = times(4, busy, ({ method }) => method === 'HEAD');
  t.match(await blobs.stat(sha3_384), { size: 5 });
  t.equal(blobs.trouble(), undefined);
  front.says = () => busy;
  const opened = t.rejects(inTime(blobs.open(sha3_384)), unavailable);
  t.ok(await inTime(blobs.clock()), 'the server answers, so the host is not avoided');
  await opened;
  t.match(blobs.trouble(), /^The server of the bucket has refused requests .*\(503 SlowDown\)/);
  front.says = () => [503, 'ServiceUnavailable'];
  t.equal(await inTime(whyNot(blobs)), 'the server has failed; check its log');
});

t.test('a bucket that refuses writes is reported, and serves its blobs', async (t) => {
  const { front, blobs } = await fronted(t, { sizes: { single: 5 * MiB } });
  const { sha3_384 } = await blobs.put(Buffer.from('hello'), { id: 'u1' });
  front.says = ({ method }) => (/^(?:PUT|POST)$/.test(method!) ? [403, 'AccessDenied'] : undefined);
  for (const work of [
    () => blobs.put(Buffer.from('more'), { id: 'u2' }),
    () => blobs.receive(from(randomBytes(6 * MiB)), { id: 'u3', ...all }),
  ]) {
    await t.rejects(work(), { status: 503, retryAfter: 300, message: /refuses this request/ });
  }
  t.equal((await contentOf((await blobs.open(sha3_384))!.stream)).toString(), 'hello');
  await blobs.clock();
  t.match(
    blobs.trouble(),
    /^The bucket of the store refuses changes: the credentials in credentials_file do not permit .* writing/,
  );
  front.says = () => undefined;
  await until(async () => {
    await blobs.clock();
    return blobs.trouble() === undefined;
  });
  t.match(
    await blobs.put(Buffer.from('more'), { id: 'u4' }),
    { size: 4 },
    'it is tried again, whether anybody writes or not',
  );
});

t.test('credentials that are replaced are read again when the server refuses the old ones', async (t) => {
  const { beside: openAlongside, server } = await onS3(t);
  const { accessKeyId, secretAccessKey } = server.access;
  let credentials = { accessKeyId, secretAccessKey: 'one before' };
  let isBroken = false;
  const renewed = () => {
    if (isBroken) throw new Error('it is being written');
    return credentials;
  };
  const access = { ...server.access, ...credentials, renewed };
  const wrong = { message: /the secret_access_key of credentials_file does not belong to its access_key_id/ };
  await t.rejects(openAlongside({ access }), wrong);
  isBroken = true;
  await t.rejects(openAlongside({ access }), wrong);
  [isBroken, credentials] = [false, { accessKeyId, secretAccessKey }];
  const blobs = await openAlongside({ access });
  const { sha3_384 } = await blobs.put(Buffer.from('hello'), { id: 'u1' });
  t.match(
    await (await fetch((await blobs.addressOf!(sha3_384, 'hello_1.snap'))!.address)).text(),
    'hello',
    'what is handed out is signed by them too',
  );
  t.equal(await blobs.remove(sha3_384), true);
  t.match(Object.fromEntries(blobs.traffic().errors), { GetObject: 1 }, 'of all requests the first one was refused');
  t.equal(blobs.traffic().errors.size, 1);
});

t.test('slow readers do not delay other clients', async (t) => {
  const { blobs } = await onS3(t);
  const { sha3_384 } = await blobs.put(randomBytes(1000), { id: 'u1' });
  const slow: Readable[] = [];
  for (let nth = 0; nth < 66; nth++) slow.push((await inTime(blobs.open(sha3_384)))!.stream);
  t.ok(await inTime(blobs.clock()));
  t.match(await inTime(blobs.put(Buffer.from('hello'), { id: 'u2' })), { size: 5 });
  for (const stream of slow) t.equal((await contentOf(stream)).length, 1000, { diagnostic: false });
});

t.test('a sending of large content outlives a server that is away for less than it has taken so far', async (t) => {
  const sizes = { single: 5 * MiB };
  const { front, blobs } = await fronted(t, { sizes });
  const isPart = ({ url, method }: IncomingMessage) => method === 'PUT' && /partNumber=/.test(url!);
  let parts = 0;
  front.says = async (request) => {
    if (!isPart(request)) return undefined;
    // Four go at once: they take their time, and before the next ones the server goes away.
    if (++parts <= 4) await sleep(1500);
    return parts > 4 && parts <= 9 ? 'cut' : undefined;
  };
  const bytes = randomBytes(22 * MiB);
  const { sha3_384 } = await blobs.receive(from(bytes), { id: 'u1', ...all });
  t.ok(parts >= 10, 'that part was cut more often than the client of S3 alone would have tried again');
  t.ok(bytes.equals(await contentOf((await blobs.open(sha3_384))!.stream)));
  front.says = (request) => (isPart(request) ? 'cut' : undefined);
  await t.rejects(
    inTime(blobs.receive(from(randomBytes(6 * MiB)), { id: 'u2', ...all })),
    unavailable,
    'one that begins is refused at once',
  );
});

t.test('a server with slow uploads serves many at once, and refuses all in time when it stops', async (t) => {
  const { front, blobs } = await fronted(t);
  let [concurrency, maximum, isAway] = [0, 0, false];
  const away = Promise.withResolvers<undefined>();
  t.teardown(() => away.resolve(undefined));
  front.says = async ({ method }) => {
    if (method === 'PUT') {
      maximum = Math.max(maximum, ++concurrency);
      await sleep(3000);
      concurrency--;
    }
    if (isAway) await away.promise;
    return undefined;
  };
  const receive = (nth: number) => blobs.receive(from(Buffer.from(`content ${nth}`)), { id: `u${nth}`, ...all });
  // As many as connections are kept for, and more.
  const sent = Array.from({ length: 80 }, (_, nth) => receive(nth));
  t.match(await inTime(blobs.stat((await sent[0]!).sha3_384)), { size: 9 });
  t.ok(await inTime(blobs.clock()), 'the server is known to answer while the other requests wait');
  t.equal(new Set((await Promise.all(sent)).map(({ sha3_384 }) => sha3_384)).size, 80);
  t.ok(maximum > 8 && maximum <= 32, `${maximum} at once`);

  const late = Array.from({ length: 80 }, (_, nth) => receive(100 + nth));
  await until(() => Promise.resolve(concurrency === maximum));
  isAway = true;
  const codeOf = (error: unknown): unknown => (error as { code?: string }).code ?? error;
  const refusals = await Promise.all(late.map((upload) => inTime(upload).then(() => 'taken', codeOf)));
  t.same([...new Set(refusals)], [unavailable.code]);
});

t.test('a blob that one process receives again is not removed by the cleanup of another', async (t) => {
  let now = new Date('2026-05-04T03:00:00Z');
  const bytes = Buffer.from('hello');
  const sha3_384 = sha3(bytes);
  const shared = createLocalRemovals();
  let sent = Promise.withResolvers<void>();
  const waits: Removals = {
    ...shared,
    none(digest) {
      sent.resolve();
      return shared.none(digest);
    },
  };
  const store = await onS3(t, { now: () => now, removals: waits });
  const firstBlobs = store.blobs;
  await firstBlobs.put(bytes, { id: 'u1' });
  const storedBefore = (now = new Date('2026-05-04T04:00:00Z'));

  for (const when of ['before the look', 'after the look'] as const) {
    sent = Promise.withResolvers();
    let crossing: Promise<unknown> = Promise.resolve();
    /** Sends the same; when this is over, it waits for the end of the removal, or has been acknowledged already. */
    const cross = async (): Promise<void> => {
      crossing = firstBlobs.put(bytes, { id: when.replaceAll(' ', '-') });
      await Promise.race([sent.promise, crossing]);
    };
    const crossed: Removals = {
      ...shared,
      alone: (digest, work) =>
        shared.alone(digest, (certain) =>
          work((look) =>
            certain(async () => {
              if (when === 'before the look') await cross();
              const result = await look();
              if (when === 'after the look') await cross();
              return result;
            }),
          ),
        ),
    };
    const other = await store.beside({ removals: crossed });
    const late = when === 'before the look' ? storedBefore : new Date(now.getTime() + 1);
    t.equal(await other.remove(sha3_384, { storedBefore: late }), when === 'after the look', when);
    await crossing;
    t.match(await firstBlobs.stat(sha3_384), { size: 5 }, `what was acknowledged is there: it came ${when}`);
  }
  t.same(await contentOf((await firstBlobs.open(sha3_384))!.stream), bytes);
});

for (const isDamaged of [true, false]) {
  const etag = isDamaged ? 'another ETag' : 'the same ETag';
  t.test(`content that arrives again during a quarantine, with ${etag}, does not go out of service`, async (t) => {
    const bytes = Buffer.from('hello');
    const shared = createLocalRemovals();
    const store = await onS3(t, { removals: shared });
    const { sha3_384 } = await store.blobs.put(bytes, { id: 'u1' });
    if (isDamaged) await store.overwrite(sha3_384, Buffer.from('jello'));
    let arrived = 0;
    const crossed: Removals = {
      ...shared,
      alone: (digest, work) =>
        shared.alone(digest, (certain) =>
          work((look) =>
            certain(async () => {
              arrived++;
              await (await store.beside({ removals: createLocalRemovals() })).put(bytes, { id: 'u2' });
              return look();
            }),
          ),
        ),
    };
    const other = await store.beside({ removals: crossed });
    t.equal(await other.quarantine(sha3_384), false);
    t.equal(arrived, 1);
    t.equal(await store.blobs.prove(sha3_384), true);
  });
}

t.test('without the server every call is refused within five seconds, and works again when it is back', async (t) => {
  const server = await startSwift();
  t.teardown(() => server.end());
  const { blobs } = await onS3(t, {}, server);
  const bytes = randomBytes(20 * MiB);
  const { sha3_384 } = await blobs.receive(from(bytes), { id: 'u0', ...all });
  let nth = 0;
  const calls: [string, () => Promise<unknown>][] = [
    ['receive', () => blobs.receive(from(Buffer.from('hello')), { id: `u${++nth}`, ...all })],
    ['receive much', () => blobs.receive(from(bytes), { id: `u${++nth}`, ...all })],
    ['put', () => blobs.put(Buffer.from('hello'), { id: `u${++nth}` })],
    ['stat', () => blobs.stat(sha3_384)],
    ['open', () => blobs.open(sha3_384)],
    ['prove', () => blobs.prove(sha3_384)],
    ['makeLocalCopy', () => blobs.makeLocalCopy(sha3_384)],
    ['list', () => listed(blobs.list())],
    ['remove', () => blobs.remove(sha3_384)],
    ['sweep', () => blobs.sweepTemporary(() => false)],
  ];
  const refused = async (how: string): Promise<void> => {
    await Promise.all(calls.map(([name, call]) => t.rejects(inTime(call()), unavailable, `${name}, ${how}`)));
  };
  const works = async (how: string): Promise<void> => {
    await until(() => blobs.stat(sha3_384).then(Boolean, () => false));
    t.match(await blobs.put(Buffer.from('hello'), { id: `u${++nth}` }), { size: 5 }, how);
    await blobs.clock();
    t.ok(bytes.equals(await contentOf((await blobs.open(sha3_384))!.stream)));
  };
  const opened = await blobs.open(sha3_384);
  const reading = contentOf(opened!.stream);
  server.freeze();
  await t.rejects(reading, unavailable, 'and who reads is not kept waiting either');
  await refused('while it is silent');
  await t.rejects(inTime(blobs.clock()), unavailable, 'which is what a load balancer is told');
  server.goOn();
  await works('after it was silent');
  await server.stop();
  await refused('while it is down');
  await server.start();
  await works('after it was down');
});

t.test('another host continues an interrupted upload, and a third host completes it', async (t) => {
  const { blobs, beside: openAlongside, keys, places } = await onS3(t, { sizes: { single: 5 * MiB } });
  const bytes = randomBytes(13 * MiB + 7);
  /** So much of it comes, is flushed, and is left to others. */
  const begun = async (host: typeof blobs, start: number, end: number): Promise<void> => {
    const source = async function* () {
      yield [bytes.subarray(start, end)];
      yield [];
      throw new UploadHandedOver();
    };
    const how = { id: 'u1', ...(start > 0 && { resume: start }), ...all };
    await t.rejects(host.receive(source(), how), { message: /another process continues/ });
  };
  const hosts = await Promise.all(
    Array.from({ length: 3 }, async () => openAlongside({ directory: await temporaryFolder(t) })),
  );
  await begun(hosts[0]!, 0, 6 * MiB);
  await begun(hosts[1]!, 6 * MiB, 12 * MiB);
  t.match(await keys(), [/^arriving\/u1\//, /^arriving\/u1\//, 'larder-store.json']);
  const taken = await hosts[2]!.receive(from(bytes.subarray(12 * MiB)), { id: 'u1', resume: 12 * MiB, ...all });
  t.equal(taken.sha3_384, sha3(bytes));
  t.same(await places(), [placeOf(taken.sha3_384)], 'nothing is left of it on its way');

  await begun(hosts[0]!, 0, 4);
  const gone = hosts[1]!.receive(from(bytes.subarray(9, 12)), { id: 'u1', resume: 9, ...all });
  await t.rejects(gone, { code: 'blob-upload-unknown' }, 'what never came is not made up');
  await begun(hosts[0]!, 0, 4);
  t.equal(await blobs.sweepTemporary(() => true), 0);
  const later = await openAlongside({ now: () => new Date(Date.now() + 2 * 24 * 60 * 60 * 1000) });
  t.equal(await later.sweepTemporary(() => true), 1, 'what nobody goes on with is swept after a day');
  t.same(await places(), [placeOf(taken.sha3_384)]);
});
