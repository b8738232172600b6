// The bundled program as the engine takes it: a text, and what the compiler has made of it before.
import { Script } from 'node:vm';

export type Program = (require: NodeJS.Require, module: object, file: string, folder: string) => void;

/** `text` is ASCII; `compiled` is left aside, as `cachedDataRejected` says, where it is not of this very engine and text. */
export const scriptOf = (text: string, compiled?: Buffer): Script =>
  new Script(`(function (require, module, __filename, __dirname) {${text}\n})`, {
    filename: 'program.cjs',
    cachedData: compiled,
  });
