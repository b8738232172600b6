// The part of the approvals guide about signatures, typed unchanged, with ssh-keygen.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';
import { examplesIn } from '#test/fixtures/guides.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { until } from '#test/fixtures/until.ts';
import { folder } from '#test/cli/process.ts';
import { published } from './approvals-world.ts';

t.test('and sign their approvals, if the guide requires it', { skip: withoutPrograms('ssh-keygen') }, async (t) => {
  const { run, configured, fourDaysLater, asPerson } = await published(t);
  const [making = [], registering = [], config = [], proposing = [], signing = [], approving = []] = examplesIn(
    'approvals',
    'Approve with signatures',
    7,
  );
  const home = folder(t);
  const atHome = ([, ...lines]: string[]): void => {
    for (const line of lines) {
      // A new key needs a passphrase, typed twice.
      const input = line.includes(' -t ') ? "printf '\\n\\n' | " : '';
      execFileSync('sh', ['-c', input + line], { cwd: home, stdio: 'ignore' });
    }
  };
  // The files are carried to and fro in a folder.
  const carried = (line: string): string => line.replace(/ (?=\S+\.(?:pub|sig)$|proposal-1$)/, ` ${home}/`);
  atHome(making);
  for (const line of registering) t.match(await run(carried(line)), { code: 0 }, line);
  configured(config);
  await until(async () => /^releases \S+ +2 signed /m.test((await run('approval policy')).out));
  await fourDaysLater();
  const [release = '', show = ''] = proposing;
  t.match(await run(release), { code: 1, err: /Waits for 2 more approvals .* Each approval must be signed\./ });
  t.match(await run(carried(show)), { code: 0, out: /proposal-1 holds the text that an approver signs/ });
  atHome(signing);
  t.match(readFileSync(join(home, 'proposal-1'), 'utf8'), /^larder approval 1\nstore: "harbour"\n/);
  const [bobs = '', carols = '', again = ''] = approving;
  t.match((await run('approver-key list carol')).out, /SHA256:\S+ +ssh-ed25519/);
  t.match(await asPerson(carried(bobs), 'bob'), { code: 0, out: /bob, \S+, signed with SHA256:/ });
  t.match(await asPerson(carried(carols), 'carol'), { code: 0, out: /Proposal 1 approved/ });
  t.match(await run(again), { code: 0 });
});
