// Builds dist/larder_VERSION_ARCH.deb: the executable with everything that a Debian system wants around it. Plain dpkg-deb
// over a folder that is laid out here; the same sources give the same bytes.
//
//   node packaging/deb.ts               for this machine's architecture
//   node packaging/deb.ts --arch arm64  for the other one
//
// --compression none makes a large one in a moment, for tests.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { constants, gzipSync } from 'node:zlib';

import { architecture, buildExecutable, nativeModule } from './build.ts';
import { files, release, root } from './bundle.ts';
import { dateOfRelease, releaseNotes } from './changelog.ts';
import { commitOf } from './commit.ts';
import { digest, type Architecture } from './runtime.ts';
import { billOfMaterials } from './sbom.ts';
import { thirdParties, type ThirdParty } from './third-party.ts';

const sources = join(root, 'packaging/debian');
const maintainer = 'The larder authors <authors@larder.invalid>';

const apache =
  'Licensed under the Apache License, Version 2.0. On Debian systems its text is in\n/usr/share/common-licenses/Apache-2.0.';

const { values } = parseArgs({
  options: {
    arch: { type: 'string' },
    compression: { type: 'string', default: 'xz' },
  },
});
const arch = architecture(values.arch);
const executable = await buildExecutable(arch);
const version = release();
const at = dateOfRelease(version);
const name = `larder_${version}_${debianArchitecture(arch)}`;
const file = join(root, 'dist', `${name}.deb`);
const tree = join(root, 'dist', name);

process.umask(0o022);
rmSync(tree, { recursive: true, force: true });
layOut(thirdParties(arch));
control();
settle(tree);
pack();
rmSync(tree, { recursive: true });
console.log(`${relative(root, file)}: ${String(statSync(file).size)} bytes, sha256 ${digest(file)}`);

/** Every file of the package in its place. */
function layOut(parties: readonly ThirdParty[]): void {
  place('usr/bin/larder', executable, 0o755);
  place('usr/lib/larder/better_sqlite3.node', nativeModule(arch));
  place('usr/lib/larder/pkcs11', join(root, 'packaging/pkcs11'), 0o755);
  for (const unit of ['larder.service', 'larder-backup.service', 'larder-backup.timer']) {
    place(`usr/lib/systemd/system/${unit}`, join(sources, unit));
  }
  place('usr/lib/sysusers.d/larder.conf', join(sources, 'larder.sysusers'));
  place('usr/share/lintian/overrides/larder', join(sources, 'larder.lintian-overrides'));
  write('usr/share/bash-completion/completions/larder', written('bash'));
  write('usr/share/zsh/vendor-completions/_larder', written('zsh'));
  write('usr/share/fish/vendor_completions.d/larder.fish', written('fish'));
  const { text, pages } = JSON.parse(written('man', '--json')) as { text: string; pages: Record<string, string> };
  for (const [name, page] of Object.entries({ 'larder.1': `${text}\n`, ...pages }))
    write(`usr/share/man/man1/${name}.gz`, compressed(page));
  write('usr/share/man/man5/larder.toml.5.gz', compressed(written('config-man')));
  write('usr/share/doc/larder/changelog.gz', compressed(changelog()));
  write('usr/share/doc/larder/copyright', copyright(parties));
  write('usr/share/doc/larder/node.txt.gz', compressed(parties.find(({ kind }) => kind === 'runtime')!.text));
  write('usr/share/doc/larder/sbom.cdx.json', billOfMaterials({ version, at, commit: commitOf(root) }, parties));
  for (const example of [...files('config'), ...files('packaging/grafana')]) {
    place(`usr/share/doc/larder/examples/${example.replace(/^.*\//, '')}`, join(root, example));
  }
  for (const shared of ['apparmor', 'cloud-init', 'grafana', 'prometheus'].flatMap((name) =>
    files(`packaging/${name}`),
  )) {
    place(`usr/share/larder/${shared.replace(/^.*\//, '')}`, join(root, shared));
  }
}

/** The control files for dpkg: the package, the digests of its files, the scripts before and after. */
function control(): void {
  const paths = below(tree);
  const size = paths.reduce((sum, path) => sum + Math.ceil(statSync(join(tree, path)).size / 1024), 0);
  const fields = {
    Package: 'larder',
    Version: version,
    Architecture: debianArchitecture(arch),
    Maintainer: maintainer,
    'Installed-Size': String(size),
    Depends:
      'libc6 (>= 2.34), libgcc-s1, libstdc++6 (>= 11), procps, systemd | systemd-standalone-sysusers | systemd-sysusers',
    Suggests: 'opensc',
    Section: 'admin',
    Priority: 'optional',
    Description:
      'package store for sites without internet\n' +
      ' Publishers push snaps, charms, rocks and their resources to it with the stock\n' +
      ' tools of the field; a device gateway asks it who may fetch what; administrators\n' +
      ' look after accounts, brands and signing keys. It needs no second machine, no\n' +
      ' database server and no registration.\n' +
      ' .\n' +
      " 'larder init' makes the store in /var/lib/larder, larder.service serves it.",
  };
  const md5 = paths.map((path) => `${hashOf('md5', join(tree, path))}  ${path}\n`).join('');
  const stanza = Object.entries(fields).map(([field, value]) => `${field}: ${value}\n`);
  write('DEBIAN/control', stanza.join(''));
  write('DEBIAN/md5sums', md5);
  for (const script of ['preinst', 'postinst', 'prerm', 'postrm'])
    place(`DEBIAN/${script}`, join(sources, script), 0o755);
}

/** All times are those of the release, so that only the content counts. */
function settle(path: string): void {
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) settle(join(path, name));
  utimesSync(path, at, at);
}

function pack(): void {
  const env = { ...process.env, LC_ALL: 'C', SOURCE_DATE_EPOCH: String(at.getTime() / 1000) };
  // One thread: with several the compressed bytes depend on how much memory there was.
  const settings = ['--root-owner-group', `-Z${values.compression}`, '--threads-max=1'];
  execFileSync('dpkg-deb', [...settings, '--build', tree, file], { env, stdio: ['ignore', 'ignore', 2] });
}

/** A completion, or the manual page, as the program writes it. */
function written(document: string, ...options: string[]): string {
  const program = [process.execPath, join(root, 'src/main.ts'), 'completion', document, ...options];
  const args = ['-u', 'NODE_OPTIONS', ...program];
  return execFileSync('/usr/bin/env', args, { encoding: 'utf8', cwd: root });
}

/** CHANGELOG.md in Debian's form. */
function changelog(): string {
  const listed = releaseNotes();
  const own = { version, day: at, items: [`Larder ${version}.`] };
  const releases = listed.some((notes) => notes.version === version) ? listed : [own, ...listed];
  const stanzas = releases.map(({ version, day, items }) => {
    const date = day.toUTCString().replace('GMT', '+0000');
    const entries = items.map((item) => `  * ${wrapped(item)}`).join('\n');
    return `larder (${version}) stable; urgency=medium\n\n${entries}\n\n -- ${maintainer}  ${date}\n`;
  });
  return stanzas.join('\n');
}

/** In lines of at most 76 characters, all but the first indented. */
function wrapped(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)!} ${word}`.trimStart();
    if (line.length <= 72) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines.join('\n    ');
}

/** The copyright holders of each part, in the machine-readable format of Debian. */
function copyright(parties: readonly ThirdParty[]): string {
  const stanzas = [
    'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: larder\n' +
      'Comment: The executable holds larder itself, the packages below, SQLite and the\n' +
      ' Node runtime. sbom.cdx.json beside this file lists them with their digests.',
    'Files: *\nCopyright: The larder authors\nLicense: Apache-2.0',
  ];
  for (const party of parties) {
    stanzas.push(
      `Files: ${party.folder}/*\nCopyright: ${holders(party).join('\n           ')}\n` +
        `License: ${shortName(party)}\n${indented(termsOf(party))}\nComment: ${party.name} ${party.version}`,
    );
  }
  stanzas.push(`License: Apache-2.0\n${indented(apache)}`);
  return `${stanzas.join('\n\n')}\n`;
}

/** The text of a licence, or where it is: Debian keeps the long ones, and ours keeps Node's in a file of its own. */
function termsOf({ kind, licence, text }: ThirdParty): string {
  if (kind === 'runtime') {
    return 'The licences of Node and of everything in it are, verbatim, in\n/usr/share/doc/larder/node.txt.gz.';
  }
  if (licence === 'Apache-2.0') return apache;
  const [own, gpl] = text.split(/^\s*GNU GENERAL PUBLIC LICENSE$/m);
  if (gpl === undefined) return text;
  return `${own!.trimEnd()}\n\nThe text of the GNU General Public License, version 2, is on Debian systems in\n/usr/share/common-licenses/GPL-2.`;
}

/** A name of its own for each text: many packages have the same licence in slightly different words. */
function shortName({ licence, name, version, kind }: ThirdParty): string {
  if (kind === 'runtime') return 'Node.js';
  if (licence === 'Apache-2.0') return licence;
  return `${licence.replaceAll(' OR ', '-or-')}~${name.replaceAll(/[^\w.-]+/g, '-')}-${version}`;
}

/** The copyright holders in the lines of a licence. */
function holders(party: ThirdParty): string[] {
  if (party.kind === 'runtime') return ['Node.js contributors, and those named in node.txt.gz'];
  const holders = termsOf(party)
    .split('\n')
    .map((line) => line.trim().replaceAll(/[*_]/g, ''))
    .map(
      (line) =>
        /^(?:[Cc]opyright:?\s*(?:\([Cc]\)|©)\s*|\([Cc]\)\s*(?=\d{4})|Copyright:?\s+(?=[A-Z\d]))(\S.*)$/.exec(line)?.[1],
    )
    .filter((holder) => holder !== undefined);
  return holders.length > 0 ? [...new Set(holders)] : [`the authors of ${party.name}`];
}

function indented(text: string): string {
  const lines = text.replaceAll('\t', '    ').trim().split('\n');
  return lines.map((line) => (line.trim() === '' ? ' .' : ` ${line.trimEnd()}`)).join('\n');
}

function place(path: string, from: string, mode = 0o644): void {
  mkdirSync(dirname(join(tree, path)), { recursive: true });
  copyFileSync(from, join(tree, path));
  chmodSync(join(tree, path), mode);
}

function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(tree, path)), { recursive: true });
  writeFileSync(join(tree, path), content);
}

/** As `gzip -n9` does: no name, no time. */
function compressed(text: string): Buffer {
  return gzipSync(text, { level: constants.Z_BEST_COMPRESSION });
}

function below(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

function hashOf(algorithm: string, path: string): string {
  return createHash(algorithm).update(readFileSync(path)).digest('hex');
}

function debianArchitecture(arch: Architecture): string {
  return { x64: 'amd64', arm64: 'arm64' }[arch];
}
