// Commands whose answers are longer than they should be in memory.
import { Spool } from '#files/spool.ts';
import type { Answer } from './command.ts';

/** Answers with a spool beside it, in a folder, which is there until the answer is told. */
export async function answerBeside(folder: string, work: (spool: Spool) => Promise<Answer>): Promise<Answer> {
  const spool = new Spool(folder);
  const done = (): void => {
    spool.close();
  };
  try {
    // What it says may be made when it is asked for.
    return Object.assign(await work(spool), { done });
  } catch (error) {
    done();
    throw error;
  }
}
