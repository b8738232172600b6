// Compares a release of larder with the installed one, for the preview of a transfer: changelog, components, fixed vulnerabilities. Its
// texts are signed, but read with limits, as any other text of a transfer.
import { membersOf } from '#domain/vulnerabilities/feed-entry.ts';
import { builtText } from '#platform/embedded.ts';
import { compareVersions } from './verify-release.ts';

/** The texts of a release that a preview reads. */
export interface ReleaseTexts {
  changelog: string;
  bill: string;
  vex: string;
}

export interface ReleaseComparison {
  /** The lines of the changelog after the installed version, with their versions. */
  changelog: string[];
  /** The components that differ; null if this program has no bill of materials, or the release has none that is readable. */
  components: string[] | null;
  /** The vulnerabilities that the release fixes, as it says. */
  fixed: string[];
}

const maxItems = 500;
const maxLength = 400;

export function compareRelease(
  { changelog, bill, vex }: ReleaseTexts,
  { version, installed }: { version: string; installed: string },
): ReleaseComparison {
  return {
    changelog: shorten(changesBetween(changelog, installed, version)),
    components: compareComponents(builtText('components.json'), bill),
    fixed: shorten(fixedIn(vex)),
  };
}

/** At most `maxItems` items, each of at most `maxLength` characters. */
function shorten(items: readonly string[]): string[] {
  const short = items
    .slice(0, maxItems)
    .map((item) => (item.length <= maxLength ? item : `${item.slice(0, maxLength)}…`));
  return items.length <= maxItems ? short : [...short, `and ${String(items.length - maxItems)} more`];
}

/** The items of the sections after `from`, up to `to`; each begins with its version and, if there is one, its heading. */
function changesBetween(text: string, from: string, to: string): string[] {
  const items: string[] = [];
  let [version, heading]: (string | undefined)[] = [];
  for (const line of text.split('\n')) {
    const section = /^## (?:\[(\d{1,6}\.\d{1,6}\.\d{1,6})\])?/.exec(line);
    if (section !== null) [version, heading] = [section[1], undefined];
    if (version === undefined || compareVersions(version, from) <= 0 || compareVersions(version, to) > 0) continue;
    if (line.startsWith('### ')) heading = line.slice(4);
    else if (line.startsWith('- '))
      items.push(`${version}${heading === undefined ? '' : `, ${heading}`}: ${line.slice(2)}`);
    else if (/^ {2}\S/.test(line) && items.length > 0) items.push(`${items.pop()!} ${line.trim()}`);
  }
  return items;
}

function compareComponents(installed: string | undefined, carried: string): string[] | null {
  const [before, after] = [componentsOf(installed), componentsOf(carried)];
  if (before === undefined || after === undefined) return null;
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return shorten(
    names.flatMap((name) => {
      const [was, is] = [before.get(name), after.get(name)];
      if (was === is) return [];
      if (was === undefined) return `added: ${name} ${is!}`;
      return is === undefined ? `removed: ${name} ${was}` : `changed: ${name} ${was} → ${is}`;
    }),
  );
}

/** The versions of the components of a bill of materials in CycloneDX, by name; undefined if it has no list of them. */
function componentsOf(text: string | undefined): Map<string, string> | undefined {
  const { components } = membersOf(parseJson(text));
  if (!Array.isArray(components)) return undefined;
  const versions = new Map<string, string[]>();
  for (const component of components as unknown[]) {
    const { group, name, version } = membersOf(component);
    if (typeof name !== 'string' || typeof version !== 'string') continue;
    const called = typeof group === 'string' ? `${group}/${name}` : name;
    const list = versions.get(called);
    if (list === undefined) versions.set(called, [version]);
    else list.push(version);
  }
  return new Map(versions.entries().map(([name, list]) => [name, [...new Set(list)].sort().join(', ')]));
}

function fixedIn(text: string): string[] {
  const { statements } = membersOf(parseJson(text));
  const names = (Array.isArray(statements) ? (statements as unknown[]) : []).flatMap((statement) => {
    const { vulnerability, status } = membersOf(statement);
    const name = typeof vulnerability === 'string' ? vulnerability : membersOf(vulnerability)['name'];
    return status === 'fixed' && typeof name === 'string' ? [name] : [];
  });
  return [...new Set(names)].sort();
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return undefined;
  }
}
