// The bundled program in the form for the engine: a text, and its compiled code.
import { Script } from 'node:vm';

export type Program = (require: NodeJS.Require, module: object, file: string, folder: string) => void;

/** `text` is ASCII. `compiled` is ignored, with `cachedDataRejected` set, if it is for another engine or text. */
export const scriptOf = (text: string, compiled?: Buffer): Script =>
  new Script(`(function (require, module, __filename, __dirname) {${text}\n})`, {
    filename: 'program.cjs',
    cachedData: compiled,
  });
