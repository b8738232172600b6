// The present faults of a store. /readyz, 'larder status', 'larder doctor', the console, the log and the metrics all use the text of
// fault-kinds.ts.
import { capital, faultKinds, type FaultKind, type Severity } from './fault-kinds.ts';

export { faultKinds, type Severity } from './fault-kinds.ts';

/** One present fault. */
export interface Fault {
  code: FaultCode;
  severity: Severity;
  /** The row of 'larder doctor' that shows it. */
  about: string;
  /** A clause without a full stop. */
  says: string;
  /** Whole sentences: how to remove the fault. */
  remedy: string;
}

export type FaultCode = keyof typeof faultKinds;

/** The facts that the sentence of a fault contains. */
export type FactsOf<Code extends FaultCode> = Parameters<(typeof faultKinds)[Code]['says']>[0];

/** The longest sentence in /readyz, in characters. */
const maxLength = 900;

/** Makes a fault from its kind and facts. */
export function describeFault<Code extends FaultCode>(code: Code, facts: FactsOf<Code>): Fault {
  const { severity, about, says, remedy } = faultKinds[code] as unknown as FaultKind<FactsOf<Code>>;
  const row = (facts as { about?: unknown }).about;
  return {
    code,
    severity,
    about: typeof row === 'string' ? row : about,
    says: cut(says(facts)),
    remedy: cut(remedy(facts)),
  };
}

/** A fault as one text: the sentence, and its remedy. */
export const textOf = ({ says, remedy }: Pick<Fault, 'says' | 'remedy'>): string => `${capital(says)}. ${remedy}`;

const cut = (text: string): string => (text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text);
