// The files that a desktop leaves on a stick.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const appleDouble = Buffer.concat([Buffer.from('0005160700020000', 'hex'), Buffer.from('Mac OS X        ')]);

/** The files that macOS leaves in a folder, with one beside each existing file. */
export function seenByMac(folder: string): void {
  for (const name of readdirSync(folder)) writeFileSync(join(folder, `._${name}`), appleDouble);
  writeFileSync(join(folder, '.DS_Store'), 'Bud1');
  mkdirSync(join(folder, '.Spotlight-V100'));
  writeFileSync(join(folder, '.Spotlight-V100', 'store.tar'), appleDouble);
}
