// Which Node larder runs on.

/** Says what is wrong with this Node, or nothing. On one that is too old SQLite's native module ends the process without a word. */
export function runtimeProblem({ node, napi }: { readonly node: string; readonly napi?: string }): string | undefined {
  if (Number(napi ?? 0) >= 10) return undefined;
  return `Node 24 is needed (Node-API 10 or later); this is Node ${node}`;
}
