// Own process: the S3 client reads the environment once per process.
// The S3 client takes its options from the configuration of the store only.
import t from 'tap';

import { connect } from '#blobs/s3/client.ts';
import { codeOf } from '#blobs/s3/errors.ts';
import { parseBucketAddress } from '#contract/bucket-address.ts';
import { freePort } from '#test/fixtures/free-port.ts';

t.test('the client looks for no option in the files of the user', async (t) => {
  const read = new Set<string | symbol>();
  const { env } = process;
  process.env = new Proxy(env, { get: (names, name) => (read.add(name), Reflect.get(names, name)) as string });
  t.teardown(() => void (process.env = env));

  const address = parseBucketAddress(`http://127.0.0.1:${String(await freePort())}/files`);
  const access = { region: 'us-east-1', accessKeyId: 'ada', secretAccessKey: 'secret' };
  const { sdk, client, reader, close } = await connect(address, access);
  t.teardown(close);
  const object = { Bucket: 'files', Key: 'a' };
  const failed = [
    client.send(new sdk.PutObjectCommand({ ...object, Body: Buffer.from('a') })),
    client.send(new sdk.DeleteObjectCommand(object)),
    client.send(new sdk.ListObjectsV2Command({ Bucket: 'files' })),
    reader.send(new sdk.GetObjectCommand(object)),
  ].map((sent) => (sent as Promise<unknown>).catch((error: unknown) => codeOf(error)));
  t.strictSame(new Set(await Promise.all(failed)), new Set(['ECONNREFUSED']));
  t.ok(read.has('AWS_EXECUTION_ENV'), 'what the client reads is seen');
  // An option that is set nowhere sends the client to these, in turn.
  for (const name of ['AWS_PROFILE', 'AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE']) t.notOk(read.has(name), name);
});
