// Reads CHANGELOG.md: the releases, their days and their lines.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { root } from './bundle.ts';

/** The day stands beside the release in CHANGELOG.md; SOURCE_DATE_EPOCH has the last word. */
export function dateOfRelease(version: string): Date {
  const epoch = process.env['SOURCE_DATE_EPOCH'];
  const day = epoch === undefined ? releaseNotes().find((notes) => notes.version === version)?.day : undefined;
  if (epoch !== undefined) return new Date(Number(epoch) * 1000);
  if (day === undefined) throw new Error(`cannot tell when ${version} was released: CHANGELOG.md has no day for it`);
  return day;
}

/** The releases in CHANGELOG.md: `## [0.1.0] - 2026-11-21`, and lists. */
export function releaseNotes(): { version: string; day: Date; items: string[] }[] {
  const [, ...sections] = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m);
  return sections.flatMap((section) => {
    const [, version, day] = /^\[(\S+)\] - (\d{4}-\d\d-\d\d)\n/.exec(section) ?? [];
    if (version === undefined || day === undefined) return [];
    const items = [...section.matchAll(/^- (.+(?:\n {2}.+)*)/gm)].map(([, item]) => item!.replaceAll(/\s+/g, ' '));
    return { version, day: new Date(`${day}T00:00:00Z`), items };
  });
}
