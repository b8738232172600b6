// The client of snapd is told to retry later.
import t from 'tap';
import { buildClient, snapdClientMissing } from '#test/assertions/judge.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { withoutPackages } from '#test/fixtures/programs.ts';
import { begin, withLargeSnap } from './large.ts';

const downloads = (maximum: number) => (text: string) =>
  text.replace('# max_downloads = 500', `max_downloads = ${maximum}`);

const skip = withoutPackages(...snapdClientMissing());

t.test("snapd's own client reports too many requests", { skip }, async (t) => {
  const client = buildClient();
  const port = await freePort();
  const { store, path } = await withLargeSnap(t, (text) =>
    downloads(1)(text).replace('127.0.0.1:0', `127.0.0.1:${port}`).replaceAll(':8080', `:${port}`),
  );
  const held = await begin(store.url + path);
  const file = `${t.testdir()}/large.snap`;
  t.match(await client(store.url, 'install', 'large', 'stable', file), { status: 1, stderr: /429|too many/i });
  held.response.destroy();
});
