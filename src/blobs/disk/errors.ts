// The code of an error of the file system.

export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

export function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(String(codeOf(error)));
}
