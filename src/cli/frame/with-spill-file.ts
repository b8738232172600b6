// Runs commands with answers that are too large for memory.
import { SpillFile } from '#files/spill-file.ts';
import type { CommandResult } from './command.ts';

/** Runs a command with a spill file in the folder; the file is removed after the answer is printed. */
export async function withSpillFile(
  folder: string,
  work: (spool: SpillFile) => Promise<CommandResult>,
): Promise<CommandResult> {
  const spool = new SpillFile(folder);
  const done = (): void => {
    spool.close();
  };
  try {
    // Not a spread: the text of an answer can be a getter, which builds it only when it is printed.
    return Object.assign(await work(spool), { done });
  } catch (error) {
    done();
    throw error;
  }
}
