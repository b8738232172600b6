// The error for an invalid configuration; a separate module, so that importing it does not load the checks.

export interface ConfigProblem {
  /** From 1; undefined for the file as a whole. */
  readonly line?: number;
  readonly column?: number;
  readonly message: string;
}

/** An invalid configuration with all its problems, one line each: `FILE:LINE: …`. */
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
