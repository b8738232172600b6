// Which channels a snap may be released to, by the grade and the confinement that its snap.yaml states.
import type { Risk } from './channel.ts';

/** What a snap states about how finished it is; other packages state neither. */
interface Maturity {
  grade?: string | undefined;
  confinement?: string | undefined;
}

/** The risks that hold only finished software: a branch has the risk that it belongs to. */
const finished: readonly Risk[] = ['stable', 'candidate'];

/**
 * Why a revision cannot be released to a channel of this risk, in the rest of a sentence; undefined if it can. As in the
 * online store: `grade: devel` and `confinement: devmode` are for beta and edge, on every track.
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
