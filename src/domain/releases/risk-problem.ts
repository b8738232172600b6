// The channels that a snap may be released to, by the grade and confinement in its snap.yaml.
import type { Risk } from './channel.ts';

/** The maturity that a snap declares; other packages declare none. */
interface Maturity {
  grade?: string | undefined;
  confinement?: string | undefined;
}

/** The risks for finished software only. A branch has the risk that it belongs to. */
const finished: readonly Risk[] = ['stable', 'candidate'];

/**
 * Why a revision cannot be released to a channel of this risk, as the end of a sentence; undefined if it can. As in the
 * online store, `grade: devel` and `confinement: devmode` are for beta and edge, on every track.
 */
export function riskProblem({ grade, confinement }: Maturity, risk: Risk): string | undefined {
  if (!finished.includes(risk)) return undefined;
  const unfinished = [
    ...(grade === 'devel' ? ["its grade is 'devel'"] : []),
    ...(confinement === 'devmode' ? ["its confinement is 'devmode'"] : []),
  ];
  if (unfinished.length === 0) return undefined;
  return `${unfinished.join(' and ')}, which only beta and edge take`;
}
