// Applies snapd's rules for the files in a snap (snap/container.go): modes that allow reading and running, and
// every command at its path.
import { posix } from 'node:path';

import type { Image } from '../squashfs/image.ts';
import type { Directory, Inode } from '../squashfs/inode.ts';
import { quoted } from '../unacceptable.ts';
import { isService } from './apps.ts';
import type { Faults } from './fields.ts';
import { checkListing } from './listing.ts';
import type { SnapModel } from './model.ts';
import { cleanPath } from './paths.ts';

/** The requirements on the paths in a snap or a component. */
interface Needs {
  /** Readable and executable by all users. */
  readAndRun: Set<string>;
  /** Executable by at least one user. */
  run: Set<string>;
  /** Readable by all users. */
  read: Set<string>;
  /** A file or a link. */
  file: Set<string>;
  /** Folders to visit. */
  visit: Set<string>;
}

const maxPath = 4096;
/** A folder that contains itself would never end. */
const maxDepth = 100;
const maxVisited = 1 << 20;
const maxLinks = 10;

const emptyNeeds = (yaml: string): Needs => ({
  readAndRun: new Set(['.', 'meta']),
  run: new Set(),
  read: new Set([yaml]),
  file: new Set(),
  visit: new Set(),
});

/** Adds the faults that make a device refuse the files of a snap. */
export function checkSnapFiles(image: Image, snap: SnapModel, faults: Faults): void {
  new ContainerCheck(image, needsOf(snap), faults, 'snap').check();
}

/** Adds the faults that make a device refuse the files of a component. */
export function checkComponentFiles(image: Image, faults: Faults): void {
  const needs = emptyNeeds('meta/component.yaml');
  needs.file.add('meta/component.yaml');
  new ContainerCheck(image, needs, faults, 'component').check();
}

function needsOf(snap: SnapModel): Needs {
  const needs = emptyNeeds('meta/snap.yaml');
  for (const app of snap.apps.values()) {
    const { texts } = app;
    const service = isService(app);
    const commands = [
      texts.command,
      ...(service ? [texts['stop-command'], texts['reload-command'], texts['post-stop-command']] : []),
    ];
    for (const path of commands.map(pathOf)) {
      if (path === '') continue;
      needs.file.add(path);
      if (service) needs.run.add(path);
      for (const above of withFolders(path)) (service ? needs.visit : needs.readAndRun).add(above);
    }
    const completer = pathOf(texts.completer);
    if (completer === '') continue;
    needs.read.add(completer);
    for (const above of withFolders(posix.dirname(completer))) needs.readAndRun.add(above);
  }
  for (const path of needs.read) needs.file.add(path);
  for (const path of needs.readAndRun) {
    needs.run.delete(path);
    needs.read.delete(path);
  }
  for (const path of [...needs.run].filter((both) => needs.read.has(both))) {
    needs.run.delete(path);
    needs.read.delete(path);
    needs.readAndRun.add(path);
  }
  return needs;
}

/** The path of a command in its snap, without arguments; empty if it is not in the snap. */
function pathOf(command: string): string {
  if (command === '') return '';
  const path = cleanPath(command).replace(/^\//, '');
  return path.startsWith('../') ? '' : path.split(' ', 1)[0]!;
}

function withFolders(path: string): string[] {
  const paths: string[] = [];
  for (let above = path.slice(0, maxPath); above !== '.' && above !== '/'; above = posix.dirname(above))
    paths.push(above);
  return paths;
}

class ContainerCheck {
  readonly #image: Image;
  readonly #needs: Needs;
  readonly #faults: Faults;
  readonly #seen = new Set<string>();
  readonly #found = new Map<string, Inode | undefined>();
  #visited = 0;

  readonly #what: string;

  constructor(image: Image, needs: Needs, faults: Faults, container: 'snap' | 'component') {
    this.#what = container;
    this.#image = image;
    this.#needs = needs;
    this.#faults = faults;
  }

  check(): void {
    checkListing(this.#image, this.#what, this.#faults);
    this.#visit('.', this.#image.root, 0);
    const { readAndRun, run, read } = this.#needs;
    for (const path of [...readAndRun, ...run, ...read])
      if (!this.#seen.has(path))
        this.#faults.add(`The file ${quoted(path)}, which a device needs, is not in the ${this.#what}: add it.`);
  }

  #isNeeded(path: string): boolean {
    const { readAndRun, run, read } = this.#needs;
    return readAndRun.has(path) || run.has(path) || read.has(path);
  }

  #visit(path: string, inode: Inode, depth: number): void {
    if (this.#isNeeded(path)) this.#seen.add(path);
    if (this.#isNeeded(path) || path.startsWith('meta/')) this.#checkInode(path, inode);
    else if (!this.#needs.visit.has(path)) return;
    if (inode.kind === 'directory') this.#visitFolder(path, inode, depth);
  }

  #visitFolder(path: string, directory: Directory, depth: number): void {
    if (depth > maxDepth) {
      this.#faults.add(`The folder ${quoted(path)} lies more than ${String(maxDepth)} folders deep: make it flatter.`);
      return;
    }
    for (const entry of this.#image.entries(directory)) {
      if (++this.#visited > maxVisited) {
        this.#faults.add(`The ${this.#what} has more files in meta than are looked through: remove some.`);
        return;
      }
      const name = Buffer.from(entry.name, 'latin1').toString();
      const inner = path === '.' ? name : `${path}/${name}`;
      if (this.#isNeeded(inner) || inner.startsWith('meta/') || this.#needs.visit.has(inner))
        this.#visit(inner, this.#image.inode(entry), depth + 1);
    }
  }

  #checkInode(path: string, link: Inode): void {
    const inode = link.kind === 'symlink' && /^meta(?:$|\/)/.test(path) ? this.#followed(path, link) : link;
    if (inode === undefined) return;
    const { permissions: mode } = inode;
    const shown = `${quoted(path)} in the ${this.#what}`;
    const has = (bits: number) => (mode & bits) === bits;
    if (inode.kind === 'directory' || this.#needs.readAndRun.has(path)) {
      if (!has(0o555))
        this.#faults.add(
          `${shown} is not readable and executable for all users: it has the mode ${modeText(mode)}. Give it 0755.`,
        );
      if (inode.kind === 'directory') return;
    }
    if (inode.kind === 'special' && (this.#needs.file.has(path) || path.startsWith('meta/')))
      this.#faults.add(`${shown} must be a file, and is a device, pipe or socket: replace it.`);
    if (this.#needs.run.has(path) || path.startsWith('meta/hooks/')) {
      if ((mode & 0o111) === 0)
        this.#faults.add(`${shown} is not executable: it has the mode ${modeText(mode)}. Give it 0755.`);
    } else if (!has(0o444))
      this.#faults.add(`${shown} is not readable for all users: it has the mode ${modeText(mode)}. Give it 0644.`);
  }

  /** The target of a link in meta; undefined, with a fault, if a device does not follow it there. */
  #followed(path: string, link: Inode & { kind: 'symlink' }): Inode | undefined {
    const fault = (problem: string): Inode | undefined => {
      this.#faults.add(
        `${quoted(path)} in the ${this.#what} is a link to ${quoted(link.target)}, ${problem}: put the file there.`,
      );
      return undefined;
    };
    if (path === 'meta') return fault('but must be a folder');
    if (path.includes(' -> ')) return fault('and has an arrow in its name, behind which a device reads the target');
    let [at, target]: [string, Inode | undefined] = [path, link];
    for (let links = 0; target?.kind === 'symlink'; links++) {
      if (links >= maxLinks) return fault('through too many links');
      const clean = cleanPath(target.target);
      if (clean.startsWith('/')) return fault(`out of the ${this.#what}`);
      at = cleanPath(`${posix.dirname(at)}/${clean}`);
      if (at === '..' || at.startsWith('../')) return fault(`out of the ${this.#what}`);
      target = this.#inodeAt(at);
    }
    if (target === undefined) return fault('which is not there');
    return at === '.' || at === 'meta' ? fault('which contains it') : target;
  }

  /** Looks up each path once: many links may have the same target. */
  #inodeAt(path: string): Inode | undefined {
    let inode: Inode = this.#image.root;
    let at = '';
    for (const part of path === '.' ? [] : path.split('/')) {
      at += `/${part}`;
      if (!this.#found.has(at)) {
        const name = Buffer.from(part).toString('latin1');
        const inner = inode.kind === 'directory' ? this.#image.find(inode, [name]).get(name) : undefined;
        this.#found.set(at, inner);
      }
      const child = this.#found.get(at);
      if (child === undefined) return undefined;
      inode = child;
    }
    return inode;
  }
}

const modeText = (mode: number): string => `0${mode.toString(8).padStart(3, '0')}`;
