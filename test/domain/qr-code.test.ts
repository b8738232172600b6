// QR codes, held against what another program draws of the same texts: a version with one block and one with several, with and
// without alignments, with the version in the corner, and with the longer count of bytes.
import { createHash } from 'node:crypto';

import t from 'tap';

import { qrCode } from '#domain/qr-code.ts';

const text = (length: number): string => 'otpauth://totp/'.repeat(60).slice(0, length);

t.test('a text is drawn as every reader expects it', (t) => {
  const known: [length: number, size: number, digest: string][] = [
    [1, 21, '9ca0cf6f7e5a35628355ba6d1908bd1e30340f27271b55d2090a3d5a4fe7f56f'],
    [41, 29, 'd0f49223d32769eadacc76814e26dbd43a6f4b8155984cea725ef85f88fefeca'],
    [100, 41, '3907f6b62bb0e43bce1501902ac6387061d4aad779c4241564c67597f9d63f48'],
    [130, 49, 'bef52ff48e638d251373f9b52490e9323cdf552d827519ab32d4dbb552032065'],
    [200, 57, '2faeb5f658ed1b2d942b60f02967833b211657efae7d253a139b24723d344c08'],
    [300, 69, 'd6cdc917079d6ab59607293bc59eb6697e45b8aec8ddd97d9958d3bf1eb057b8'],
    [450, 81, 'b42866d5837a2e0e62b732a714acd7092f8b6c96ea58f212f5609ff3e786a6fb'],
    [660, 97, '5ead8b639a9b6de8e15f22aa806429d25a75638897e6d319d1ecec7dcca01c08'],
  ];
  for (const [length, size, digest] of known) {
    const rows = qrCode(text(length)).map((row) => row.map(Number).join(''));
    t.equal(rows.length, size, String(length));
    t.equal(createHash('sha256').update(JSON.stringify(rows)).digest('hex'), digest, String(length));
  }
  t.end();
});

t.test('a text that is too long is refused', (t) => {
  t.equal(qrCode('ä'.repeat(333)).length, 97);
  t.throws(() => qrCode('x'.repeat(667)), /holds no 667 bytes/);
  t.end();
});
