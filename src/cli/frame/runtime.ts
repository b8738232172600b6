// Checks the version of Node.

/** Describes the problem with this Node, if any. On an older Node, SQLite's native module ends the process without an error. */
export function runtimeProblem({ node, napi }: { readonly node: string; readonly napi?: string }): string | undefined {
  if (Number(napi ?? 0) >= 10) return undefined;
  return `Node 24 is needed (Node-API 10 or later); this is Node ${node}`;
}
