// Packages as they are named on a command line: NAMESPACE/NAME.
import { isNamespace, namespaces, type Namespace } from '#domain/namespace.ts';
import { nameProblem } from '#domain/package-name.ts';
import { nearest } from '#src/configuration/nearest.ts';
import { UsageError } from './command.ts';

/** Reads NAMESPACE/NAME. */
export function packageName(text: string): { namespace: Namespace; name: string } {
  const [namespace = '', name] = text.split(/\/(.*)/s);
  if (name === undefined) throw new UsageError(`a package is named NAMESPACE/NAME, such as snap/hello, not '${text}'`);
  if (!isNamespace(namespace)) {
    const meant = nearest(namespace, namespaces);
    const hint = meant === undefined ? `; there is ${namespaces.join(', ')}` : `; did you mean '${meant}'?`;
    throw new UsageError(`there is no namespace '${namespace}'${hint}`);
  }
  const problem = nameProblem(name);
  if (problem !== undefined) throw new UsageError(problem);
  return { namespace, name };
}
