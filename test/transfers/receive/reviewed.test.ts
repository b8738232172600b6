// The content of a transfer is reviewed while more of it is received.
import t, { type Test } from 'tap';

import { trustSource } from '#acts/sites/sites.ts';
import type { TransferReceiveContext } from '#transfers/receive/receive.ts';
import { folder } from '#test/cli/process.ts';
import { example, goodNow, written } from '#test/transfers/statement/example.ts';
import { receiver } from './receiver.ts';
import { site } from '#test/transfers/sites.ts';

const findings = { refused: 'It is not looked at here.' };

/** A site, and a transfer of three revisions of one package for it. */
async function arranged(t: Test, findingsOf: TransferReceiveContext['findingsOf']) {
  const { attempt, store } = await receiver(t, await site(t, 'site-a'), findingsOf);
  const files = ['one', 'two', 'three'].map((name) => Buffer.alloc(100_000, name));
  const transfer = example(files, { source: 'maker', ...goodNow() });
  const source = { name: 'maker', keys: [transfer.seed.publicKey], threshold: 1, packages: ['*/*'], mayRelease: true };
  await store.acts.do(trustSource, { actor: 'cli:ada' }, source);
  const contents = transfer.statement.packages.at(0)!.revisions.map(({ content }) => content['sha3-384']);
  return { attempt, store, contents, files: await written(transfer, folder(t)) };
}

t.test('a revision is reviewed before the last one has come, and each of them once', async (t) => {
  const first = Promise.withResolvers<undefined>();
  const seen: string[] = [];
  const { attempt, store, contents, files } = await arranged(t, (_, sha3_384) => {
    seen.push(sha3_384);
    first.resolve(undefined);
    return Promise.resolve(findings);
  });
  const { id } = await attempt(files, (part) => ({
    ...part,
    async *pieces() {
      let number = 0;
      for await (const piece of part.pieces()) {
        if (++number === 3) await first.promise;
        yield piece;
      }
    },
  }));
  t.same(seen.toSorted(), contents.toSorted());
  t.equal((await store.records.transfers.reviewed(id)).size, 3);
  await attempt(files);
  t.equal(seen.length, 3, 'and not again when the same transfer is received again');
});

t.test('content that cannot be reviewed in that time is reviewed with the rest, or reported there', async (t) => {
  let failures = 2;
  const { attempt, store, files } = await arranged(t, () =>
    failures-- > 0 ? Promise.reject(new Error('cannot review: no thread is left')) : Promise.resolve(findings),
  );
  const { id } = await attempt(files);
  t.equal((await store.records.transfers.reviewed(id)).size, 3);
  failures = Infinity;
  const other = await arranged(t, () => Promise.reject(new Error('cannot review: no thread is left')));
  await t.rejects(other.attempt(other.files), { message: 'cannot review: no thread is left' });
});
