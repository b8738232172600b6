// Selects the tests for a change: files that import a changed file, the nearest first, as many as half a minute allows.
import { execFileSync } from 'node:child_process';
import { basename, dirname } from 'node:path';

import { readImportGraph, type SourceFile } from './import-graph.ts';
import { root } from './lanes.ts';
import { readCosts } from './costs.ts';

/** Seconds of processor time: 30 s of the clock on two cores, less the start of the processes and room for uneven groups. */
const maxCpuSeconds = 26;
/** The assumed cost of a file that has not run here yet. */
const usualCpuSeconds = 1.5;

/** Paths that differ from HEAD, or that git does not know yet. */
function changedPaths(): string[] {
  const git = (...args: string[]): string[] =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' })
      .split('\0')
      .filter((path) => path !== '');
  const differing = git('diff', '--name-only', '-z', 'HEAD');
  return [...new Set([...differing, ...git('ls-files', '-z', '--others', '--exclude-standard')])];
}

/** The files that use each file: by import or by its path; pages and other data also by their name or folder. */
function usersOf(graph: ReadonlyMap<string, SourceFile>, changed: readonly string[]): Map<string, string[]> {
  const users = new Map<string, string[]>();
  for (const { path, uses } of graph.values())
    for (const used of uses) users.set(used, [...(users.get(used) ?? []), path]);
  for (const path of changed.filter((path) => !path.endsWith('.ts'))) {
    const names = [basename(path), dirname(path).split('/').slice(-2).join('/')].filter((name) => name.length > 3);
    const naming = [...graph.values()].filter(({ text }) => names.some((name) => text.includes(name)));
    users.set(path, [...new Set([...(users.get(path) ?? []), ...naming.map(({ path }) => path)])]);
  }
  return users;
}

/** How many imports are between a changed file and each file that it can affect. */
function distancesFrom(changed: readonly string[], users: ReadonlyMap<string, string[]>): Map<string, number> {
  const distances = new Map(changed.map((path) => [path, 0]));
  for (const [path, distance] of distances)
    for (const user of users.get(path) ?? []) if (!distances.has(user)) distances.set(user, distance + 1);
  return distances;
}

/** The folder below src/ or test/ that a file is in: tests of a part are in the folder of its name. */
const partOf = (path: string): string => dirname(path).split('/').slice(1).join('/');

/** The files to run of those given, and how many more a change can affect. */
export function chooseChanged(files: readonly string[]): { chosen: string[]; leftOut: number } {
  const changed = changedPaths();
  const graph = readImportGraph();
  const distances = distancesFrom(changed, usersOf(graph, changed));
  const parts = new Set(changed.map(partOf));
  const names = changed.map((path) => basename(path).replace(/\..*$/, ''));
  /** Few imports between, the same folder, or a mention of a changed name: the smaller, the nearer. */
  const rank = (file: string): number => {
    const text = graph.get(file)?.text ?? '';
    return (
      distances.get(file)! + (parts.has(partOf(file)) ? 0 : 2) + (names.some((name) => text.includes(name)) ? 0 : 2)
    );
  };
  const affected = files.filter((file) => distances.has(file)).sort((a, b) => rank(a) - rank(b));
  const costs = readCosts();
  let seconds = 0;
  const chosen = affected.filter((file) => {
    seconds += costs[file] ?? usualCpuSeconds;
    return distances.get(file) === 0 || seconds <= maxCpuSeconds;
  });
  return { chosen, leftOut: affected.length - chosen.length };
}
