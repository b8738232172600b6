// Ten seeded defects: patches of the sources, each of a kind that the checkers exist for. They are applied to a copy.
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { root } from '../runner/lanes.ts';

export interface SeededDefect {
  name: string;
  engine: 'sqlite' | 'postgres';
  file: string;
  /** The text in the file, which must be there once, and the defect in its place. */
  text: string;
  defect: string;
  /** The violation that the checker must report. */
  finds: RegExp;
}

const leaseTimes = '[timestamp(after(moment, this.#life)), timestamp(after(moment, 2 * this.#life))]';
const auditInChange = `    const { result, seal } = await db.transaction(async (queries, commit) => {
      const writer = { db: queries, commit, sealing };
      const end = readAuditEnd(writer, occasion);
      let details = entry.details ?? {};
      const done = await work(changing(queries, commit), (more) => (details = { ...details, ...more }));
      return { result: done, seal: await appendAudit(writer, { ...entry, details }, { end, occasion }) };
    });`;
const auditApart = `    let details = entry.details ?? {};
    const result = await db.transaction((queries, commit) =>
      work(changing(queries, commit), (more) => (details = { ...details, ...more })),
    );
    const seal = await db.transaction((queries, commit) =>
      appendAudit({ db: queries, commit, sealing }, { ...entry, details }, { occasion }),
    );`;
const retryCheck = 'if (!isNew && (await areFollowUpsRecorded(tx, uploadId, then))) throw new DoneAlready(undefined);';

const anyViolation = /lost: |untrue: |too early: |done twice: |refused and done: |another change: |entry \d+ \(/;

export const defects: readonly SeededDefect[] = [
  {
    name: 'the version check of a cached session is off',
    engine: 'sqlite',
    file: 'src/records/memo.ts',
    text: 'if (!isAsSeen(snapshot)) current = {};',
    defect: 'isAsSeen(snapshot);',
    finds: /untrue: 'process \d: whoami|a cached session survives a reload/,
  },
  {
    name: 'the mark of a commit is not written',
    engine: 'postgres',
    file: 'src/engine/postgres/write-lane.ts',
    text: '`${marking(this.#writer, mark)}; COMMIT`',
    defect: "'COMMIT'",
    finds: anyViolation,
  },
  {
    name: 'a lease has no end',
    engine: 'sqlite',
    file: 'src/shared/leases.ts',
    text: `const [endsAt, tooLate] = ${leaseTimes}`,
    defect: "const [endsAt, tooLate] = ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z']",
    finds: /the lease \S+ does not end/,
  },
  {
    name: 'a blob is removed although it was received again',
    engine: 'sqlite',
    file: 'src/blobs/s3/contents.ts',
    text: 'await removals.none(sha3_384);',
    defect: '',
    finds: /the content \w+ was removed early/,
  },
  {
    name: 'a refused change is not undone',
    engine: 'sqlite',
    file: 'src/engine/sqlite/group-commit.ts',
    text: "else if (mustUndo) throw new NeedsSavepoints('a refused change must be undone', { cause: error });",
    defect: '',
    finds: anyViolation,
  },
  {
    name: 'the group commit answers before it is on disk',
    engine: 'sqlite',
    file: 'src/engine/sqlite/group-commit.ts',
    text: 'return () => resolve(result);',
    defect: 'resolve(result); return () => undefined;',
    // A new store reads the table that its first change has made.
    finds: /no such table: migrations/,
  },
  {
    name: 'the entry of the audit log is in another transaction',
    engine: 'sqlite',
    file: 'src/records/index.ts',
    text: auditInChange,
    defect: auditApart,
    finds: anyViolation,
  },
  {
    name: 'a repeated request is done again',
    engine: 'postgres',
    file: 'src/acts/uploads/uploads.ts',
    text: retryCheck,
    defect: '',
    finds: /\(push_revision bin\/tool\) does again what was done|done twice: /,
  },
  {
    name: 'a doubtful clock is believed',
    engine: 'sqlite',
    file: 'src/macaroons/latest-time.ts',
    text: 'Math.abs(moment - expected) > clockTolerance;',
    defect: 'Math.abs(moment - expected) > clockTolerance * 1000;',
    finds: /the time of a wrong clock stays/,
  },
  {
    name: 'a cached value survives a reload',
    engine: 'postgres',
    file: 'src/records/noun-versions.ts',
    text: 'generation++;\n      seen = NaN;',
    defect: '',
    finds: /a cached session survives a reload/,
  },
];

/** A copy of the sources and of the tests that run in it. */
export class SourceCopy {
  readonly folder = mkdtempSync(join(tmpdir(), 'larder-defects-'));

  constructor(names = ['src', 'schemas', 'package.json', 'test/histories', 'test/fixtures', 'test/runner']) {
    for (const name of names) cpSync(join(root, name), join(this.folder, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'));
  }

  /** Replaces a text that must be in the file exactly once, after earlier patches. */
  patch({ name, file, text, defect }: Pick<SeededDefect, 'name' | 'file' | 'text' | 'defect'>): void {
    const parts = readFileSync(join(this.folder, file), 'utf8').split(text);
    if (parts.length !== 2)
      throw new Error(
        `cannot seed the defect '${name}': ${file} has the text ${JSON.stringify(text)} ${parts.length - 1} times; ` +
          'change the patch in test/histories/defects.ts along with the code',
      );
    writeFileSync(join(this.folder, file), parts.join(defect));
  }

  /** Takes the patches of a file back. */
  restore({ file }: Pick<SeededDefect, 'file'>): void {
    cpSync(join(root, file), join(this.folder, file));
  }

  /** Runs interleavings there; their output and whether all were good. */
  interleave(
    engine: SeededDefect['engine'],
    count: number,
    seed: number,
  ): Promise<{ isGood: boolean; output: string }> {
    const program = 'test/histories/interleavings/interleave.ts';
    return this.run([program, engine, String(count), String(seed)]);
  }

  /** Runs a program there with arguments; its output and whether it was good. */
  run([program = '', ...args]: string[]): Promise<{ isGood: boolean; output: string }> {
    const env = { ...process.env, NODE_OPTIONS: '' };
    return new Promise((resolve) => {
      execFile(
        process.execPath,
        [join(this.folder, program), ...args],
        { env, cwd: this.folder, maxBuffer: 1 << 28 },
        (error, stdout, stderr) => resolve({ isGood: error === null, output: stdout + stderr }),
      );
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
