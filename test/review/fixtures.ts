// The small real snaps of test/fixtures/snaps, made by mksquashfs, and their content.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const snapsFolder = join(import.meta.dirname, '../fixtures/snaps');

export const snapNames = readdirSync(snapsFolder)
  .filter((file) => file.endsWith('.snap'))
  .map((file) => file.slice(0, -'.snap'.length));

export const snapPath = (name: string) => join(snapsFolder, `${name}.snap`);
export const snapBytes = (name: string) => new Uint8Array(readFileSync(snapPath(name)));

export interface Expected {
  compression: string;
  fields?: {
    name: string;
    version: string;
    type: string;
    base: string | null;
    grade: string;
    confinement: string;
    architectures: string[];
    apps: string[];
  };
}

export const expected = JSON.parse(readFileSync(join(snapsFolder, 'expected.json'), 'utf8')) as Record<
  string,
  Expected
>;
