// The bundled program in the form for the engine: its parts, each a text and its compiled code, and their index.
import { Script } from 'node:vm';

export type Part = (require: NodeJS.Require, module: { exports: object }, file: string, folder: string) => void;

/** A part of the bundled program, and the functions that are compiled in the executable: all, those outside of any other one, or none. */
export interface ProgramPart {
  text: string;
  compiled: 'all' | 'outermost' | 'none';
}

/** Of each part by its name: the bytes where its text begins, its compiled code begins, and that ends. */
export type ProgramIndex = Record<string, readonly [from: number, compiledFrom: number, to: number]>;

/** The assets of the program. One asset per part would put the name of each onto a page that every process reads. */
export const assetsOfProgram = { parts: 'program.parts', index: 'program.json' };

/** The engine copies compiled code that does not begin on a word. */
const word = 8;

/** A part as the text of a function. */
export const asFunction = (part: string): string => {
  const text = `(function (require, module, __filename, __dirname) {${part}\n})`;
  return text.padEnd(Math.ceil(text.length / word) * word);
};

/** Puts parts, name → function, one behind the other; `compile` returns the compiled code, or nothing for another architecture. */
export function layOut(
  all: Readonly<Record<string, ProgramPart>>,
  compile: (name: string, part: ProgramPart) => Buffer | undefined,
): { parts: Buffer; index: ProgramIndex } {
  const index: Record<string, [number, number, number]> = {};
  const pieces: Buffer[] = [];
  let end = 0;
  for (const [name, part] of Object.entries(all)) {
    const { text } = part;
    const compiled = compile(name, part) ?? Buffer.alloc(0);
    index[name] = [end, end + text.length, end + text.length + compiled.length];
    const padding = Buffer.alloc(-compiled.length & (word - 1));
    pieces.push(Buffer.from(text, 'latin1'), compiled, padding);
    end += text.length + compiled.length + padding.length;
  }
  return { parts: Buffer.concat(pieces), index };
}

/** `text` is ASCII. `compiled` is ignored, with `cachedDataRejected` set, if it is for another engine or text. */
export const scriptOf = (name: string, text: string, compiled?: Buffer): Script =>
  new Script(text, { filename: name, cachedData: compiled });
