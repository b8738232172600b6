// The bundled program in the form for the engine: a text, and its compiled code.
import { Script } from 'node:vm';

export type Program = (require: NodeJS.Require, module: object, file: string, folder: string) => void;

/**
 * The bundled program as the text of a function. The build embeds it in this form: a text that is put together at the start is in memory
 * twice, which adds 6 of 109 MB to the peak of `larder status` (`npm run bench -- memory`).
 */
export const asFunction = (program: string): string =>
  `(function (require, module, __filename, __dirname) {${program}\n})`;

/** `text` is ASCII. `compiled` is ignored, with `cachedDataRejected` set, if it is for another engine or text. */
export const scriptOf = (text: string, compiled?: Buffer): Script =>
  new Script(text, { filename: 'program.cjs', cachedData: compiled });

/**
 * The embedded text for a command line: `help` is the program without all other commands, 1 % of its size, for command lines that
 * need no other. It halves the processor time and the memory of `larder help` and `larder version` (`npm run bench -- memory`).
 */
export const textFor = (argv: readonly string[]): 'help' | 'program' =>
  argv.length === 1 && /^(?:help|version|--help|-h|--version)$/.test(argv[0] ?? '') ? 'help' : 'program';
