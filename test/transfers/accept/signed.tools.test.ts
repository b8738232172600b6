// The lines of the approvals guide check the signatures of a receipt with only jq and ssh-keygen.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { examplesIn } from '#test/fixtures/guides.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { signedTransfer } from './signed-world.ts';

t.setTimeout(600_000);

const verifying = examplesIn('approvals', 'Approve with signatures', 7).find(
  ([where]) => where === '# where the receipt is',
);
const skip = withoutPrograms('jq', 'ssh-keygen');

t.test('the holder of the receipt sees the approvers, with only ssh-keygen', { skip }, async (t) => {
  const { there: receiptFolder, text, pairs } = await signedTransfer(t);
  writeFileSync(join(receiptFolder, 'bob.pub'), pairs.get('bob')?.publicKey ?? '');
  const typed = verifying!.join('\n');
  const shown = execFileSync('sh', ['-ec', typed], { cwd: receiptFolder, encoding: 'utf8' });
  t.match(shown, /^Good "larder-approval" signature for bob with ED25519 key SHA256:/);
  t.equal(readFileSync(join(receiptFolder, 'text'), 'utf8'), text);
  writeFileSync(join(receiptFolder, 'bob.pub'), pairs.get('carol')?.publicKey ?? '');
  t.not(spawnSync('sh', ['-ec', typed], { cwd: receiptFolder }).status, 0, 'and carol is not bob');
});
