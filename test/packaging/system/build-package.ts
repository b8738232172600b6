// Builds the Debian package for the tests that install it.
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Builds the package from a copy of the sources in this folder; its file. */
export function buildPackage(
  folder: string,
  environment: Readonly<Record<string, string>>,
  umask: number,
  ...args: string[]
): string {
  const before = process.umask(umask);
  try {
    const env = { ...process.env, ...environment };
    delete env['NODE_OPTIONS'];
    execFileSync(process.execPath, ['packaging/deb.ts', ...args], { cwd: folder, env, stdio: 'pipe' });
  } finally {
    process.umask(before);
  }
  const file = readdirSync(join(folder, 'dist')).find((entry) => entry.endsWith('.deb'));
  return join(folder, 'dist', file ?? '');
}
