// A history: the requests of clients with their answers, in the order of events as the recording process saw them.

/** A statement of an answer about one value of the store. `null` stands for no value. */
export interface Claim {
  key: string;
  is?: string | null;
  isNot?: string | null;
}

/** The entry of the audit log that a request asks for. */
export interface ExpectedEntry {
  action: string;
  /** Any, if only the answer shows it. */
  object?: string;
  /** The account that makes the change; any, if it is undefined. */
  actor?: string;
  /** Details that the entry must have, among others. */
  details?: Readonly<Record<string, unknown>>;
  /** Another entry that may be there in its place, such as the proposal of a change that waits for approvals. */
  orElse?: ExpectedEntry | undefined;
}

/**
 * `done` acknowledges the change, `refused` says that nothing was changed, `read` asked for no change. A request without
 * an answer, or with the answer that the store cannot say, is `unknown`.
 */
export type Outcome = 'done' | 'refused' | 'read' | 'unknown';

export interface Observation {
  request: string;
  /** The numbers of the events; the later number is the later event. */
  sent: number;
  answered?: number;
  outcome: Outcome;
  answer?: string;
  /** The request id in the answer, which the entry has too. */
  requestId?: string;
  change?: ExpectedEntry;
  claims: readonly Claim[];
}

/** The end of a request, as its client understands it. */
export interface Answer extends Pick<Observation, 'outcome'>, Partial<Pick<Observation, 'answer' | 'requestId'>> {
  claims?: readonly Claim[];
  /** The part of the entry that only the answer shows. */
  entry?: Partial<ExpectedEntry>;
}

export class History {
  readonly observations: Observation[] = [];
  #events = 0;

  /** Records that a request is sent now; the returned function records its answer. */
  send(request: string, change?: ExpectedEntry): (answer: Answer) => void {
    const observation: Observation = { request, sent: ++this.#events, outcome: 'unknown', claims: [] };
    if (change !== undefined) observation.change = change;
    this.observations.push(observation);
    return ({ outcome, answer, requestId, claims = [], entry }) => {
      observation.outcome = outcome;
      if (outcome !== 'unknown') observation.answered = ++this.#events;
      if (answer !== undefined) observation.answer = answer;
      if (requestId !== undefined) observation.requestId = requestId;
      observation.claims = claims;
      if (entry === undefined || change === undefined) return;
      const details = { ...(entry.action === undefined && change.details), ...entry.details };
      observation.change = { ...change, ...entry, details };
    };
  }

  /** The requests that were answered. */
  get answeredCount(): number {
    return this.observations.filter(({ answered }) => answered !== undefined).length;
  }
}
