// Feeds of advisories travel in transfers: by name only, reviewed on receipt, and never back in time.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { folder } from '#test/cli/process.ts';
import { osvZip, type AdvisorySketch } from '#test/fixtures/vulnerabilities/feeds.ts';
import { site, trust } from '../sites.ts';

const advisory = (modified: string, ...releases: string[]): AdvisorySketch => ({
  id: 'UBUNTU-CVE-2026-1001',
  modified,
  fixes: Object.fromEntries(releases.map((release) => [`Ubuntu:${release} openssl`, '3.0.2-0ubuntu1.20'])),
});

t.test(
  'a feed comes with a transfer, is in force after it, and an older or smaller one is not accepted unseen',
  async (t) => {
    const [depot, receiver] = [await site(t, 'depot'), await site(t, 'ship')];
    const stick = folder(t);
    await trust(receiver, depot, join(stick, 'depot.json'), '--accept automatic');
    const file = (name: string): string => join(stick, name);
    const importInto = async (into: typeof depot, sketch: AdvisorySketch, more = '') => {
      writeFileSync(file('osv.zip'), osvZip([sketch]));
      return into.done(`feed import ${file('osv.zip')} ${more}`);
    };
    await importInto(depot, advisory('2026-04-20T00:00:00Z', '22.04:LTS', '24.04:LTS'));
    const carry = async (name: string, more = '') => {
      const { id } = (await depot.done(`transfer make ${file(name)} --packages 'feed/*' ${more}`)) as { id: string };
      const received = await receiver.json(`transfer receive ${file(name)}`);
      return { id, received, preview: await receiver.json(`transfer preview ${id}`) };
    };

    const first = await carry('1.tar');
    t.match(first.received, { why: /feed\/ubuntu feed: new feed/ }, 'a new feed waits for a person');
    t.match(first.preview, {
      lines: [{ package: 'feed/ubuntu', kind: 'feed', from: null, to: /^2026-04-20T00:00:00\.000Z, 1 entry, sha256:/ }],
      problems: [],
    });
    const policy = (rule: string) => changeConfig(join(receiver.data, 'larder.toml'), { 'approvals.feeds': rule });
    policy('1');
    t.match(
      await receiver.json(`transfer accept ${first.id} --yes`),
      { error: /^The approval policy|approval/ },
      'a policy for feeds holds for transfers too',
    );
    t.same((await receiver.json('feed list')).feeds, []);
    policy('0');
    await receiver.done(`transfer accept ${first.id} --yes`);
    t.match(await receiver.json('feed list'), {
      feeds: [{ source: 'ubuntu', 'in-force': true, 'imported-by': /^cli:/ }],
    });
    t.match(await receiver.json('feed match'), { indexed: 0, unreadable: [] }, 'its review has made the index');

    await importInto(depot, advisory('2026-04-25T00:00:00Z', '22.04:LTS', '24.04:LTS'));
    t.match(
      (await carry('2.tar')).received,
      { automatic: /accepted automatically/, changes: 1 },
      'a newer one does not',
    );
    t.match(await receiver.json('feed list'), {
      feeds: [{ 'dated-at': '2026-04-25T00:00:00.000Z', 'in-force': true }],
    });

    await importInto(depot, advisory('2026-04-26T00:00:00Z', '24.04:LTS'), '--smaller');
    const smaller = await carry('3.tar');
    t.match(smaller.received, { why: /unlike the present feed, it does not cover ubuntu:22\.04/ });
    await importInto(receiver, advisory('2026-04-28T00:00:00Z', '22.04:LTS', '24.04:LTS'));
    t.match(await receiver.json(`transfer preview ${smaller.id}`), {
      lines: [],
      'left-out': [{ what: 'feed/ubuntu', why: /the present feed is newer/ }],
    });

    t.match(
      (await carry('4.tar', '--since-sent --for ship')).preview,
      { lines: [], problems: [] },
      'what was sent before needs no bytes',
    );
    t.match(
      await depot.json(`transfer make ${file('5.tar')}`),
      { code: 'resource-not-found' },
      'feeds are named, or stay',
    );
  },
);
