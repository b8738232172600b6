// A transfer that people approved with keys of their own: its receipt alone shows later that they did.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { readSshKey } from '#domain/approvals/ssh-key.ts';
import { readSshSignature } from '#domain/approvals/ssh-signature.ts';
import { signedTransfer } from './signed-world.ts';

t.setTimeout(600_000);

interface Approval {
  username: string;
  signature: string;
}

t.test('a receipt contains the approved text and its signatures', async (t) => {
  const { run, id, there: receiptFolder, text, pairs } = await signedTransfer(t);
  const envelope = JSON.parse(readFileSync(join(receiptFolder, 'receipt.json'), 'utf8')) as { payload: string };
  const receipt = JSON.parse(Buffer.from(envelope.payload, 'base64').toString()) as {
    'signed-text': string;
    approvals: Approval[];
  };
  t.equal(receipt['signed-text'], text);
  t.same(receipt.approvals.map(({ username }) => username).sort(), ['bob', 'carol']);
  for (const { username, signature } of receipt.approvals) {
    const read = readSshSignature(signature);
    t.equal(read?.key.line, readSshKey(pairs.get(username)?.publicKey ?? '')?.line);
    t.ok(read?.isOf(Buffer.from(text)));
  }
  const page = join(receiptFolder, 'receipt.html');
  t.match(await run(`transfer receipt ${id} ${page} --html`), { code: 0 });
  t.match(readFileSync(page, 'utf8'), /\(bob, \w+\) at \S+, signed with SHA256:/);
});
