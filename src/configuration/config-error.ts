// What is thrown for a configuration that is not accepted; apart, so that it is known without loading the checks.

export interface ConfigProblem {
  /** From 1; nothing when the file as a whole is meant. */
  readonly line?: number;
  readonly column?: number;
  readonly message: string;
}

/** A configuration that is not accepted, with everything that is wrong with it, a line each: `FILE:LINE: …`. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(file: string, problems: readonly ConfigProblem[]) {
    const place = ({ line, column }: ConfigProblem) =>
      [file, line, column].filter((part) => part !== undefined).join(':');
    super(problems.map((problem) => `${place(problem)}: ${problem.message}`).join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}
