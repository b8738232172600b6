// Holds a history against the audit log, which is a total order of all changes. Each answer must fit a position in that
// order between the sending of its request and its arrival:
// - an acknowledged change has exactly one entry, and an entry has exactly one request;
// - the claims of a read or a refusal are true after some entry;
// - no position is before that of a request that was answered before this one was sent.
// The last rule also forbids stale reads. For reads the smallest possible position is chosen, so that the search never
// has to go back: the time is linear in the length of the history, apart from a binary search for each claim.
import type { Claim, ExpectedEntry, Observation } from './history.ts';
import { StoreModel, type LoggedEntry, type Timeline } from './model.ts';

export interface CheckOptions {
  /** Entries up to this number were there before the history. */
  after?: number;
  /** Keys that must not end with this value, such as an upload that still waits. */
  neverLast?: { prefix: string; value: string };
}

/** The violations, in words; none for a correct history. */
export function checkHistory(
  observations: readonly Observation[],
  entries: readonly LoggedEntry[],
  { after = 0, neverLast }: CheckOptions = {},
): string[] {
  const model = new StoreModel();
  for (const entry of entries) model.replay(entry);
  const matcher = new EntryMatcher(
    observations,
    entries.filter(({ seq }) => seq > after),
  );
  const stale = checkOrder(observations, matcher.places, model, after);
  const waiting = [...model.timelines].flatMap(([key, timeline]) =>
    neverLast !== undefined && key.startsWith(neverLast.prefix) && timeline.at(-1)?.value === neverLast.value
      ? [`${key} is still ${neverLast.value} at the end`]
      : [],
  );
  return [...model.problems, ...matcher.problems, ...stale, ...waiting];
}

const describe = ({ request, outcome, answer = outcome, sent, answered }: Observation): string =>
  `'${request}' (${answer}; events ${sent} to ${answered ?? 'none'})`;

const nameOf = ({ action, object }: Pick<LoggedEntry, 'action' | 'object'>): string => `${action} ${object}`;

function fits(entry: LoggedEntry, { action, object, actor, details = {}, orElse }: ExpectedEntry): boolean {
  const isEqual = (name: string): boolean => JSON.stringify(entry.details[name]) === JSON.stringify(details[name]);
  const isObject = object === undefined || entry.object === object;
  const isActor = actor === undefined || entry.actor === actor;
  if (entry.action === action && isObject && isActor && Object.keys(details).every(isEqual)) return true;
  return orElse !== undefined && fits(entry, orElse);
}

function push<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const list = lists.get(key) ?? [];
  if (list.push(item) === 1) lists.set(key, list);
}

const actionsOf = ({ action, orElse }: ExpectedEntry): string[] => [action, ...(orElse ? actionsOf(orElse) : [])];

/**
 * The request of an entry. A command has no request id: the medium of a received transfer names the command. A request
 * with a password has an entry for its login besides its own.
 */
function requestOf({ action, requestId, details }: LoggedEntry): string | undefined {
  if (action === 'log_in') return undefined;
  return requestId ?? (details['media'] as string | undefined);
}

/** Finds the entry of each change, and the request of each entry. */
class EntryMatcher {
  readonly problems: string[] = [];
  /** The number of the entry of each change that was done. */
  readonly places = new Map<Observation, number>();
  readonly #byRequest: Map<string, LoggedEntry[]>;

  constructor(observations: readonly Observation[], entries: readonly LoggedEntry[]) {
    const done = entries.filter((entry) => requestOf(entry) !== undefined && entry.outcome !== 'refused');
    this.#byRequest = Map.groupBy(done, (entry) => requestOf(entry)!);
    const changes = observations.filter(({ change }) => change !== undefined);
    for (const observation of changes) if (observation.answered !== undefined) this.#matchAnswered(observation);
    const actions = new Set(changes.flatMap(({ change }) => actionsOf(change!)));
    this.#matchRest(
      changes.filter(({ answered }) => answered === undefined),
      [...this.#byRequest.values()].flat().filter(({ action }) => actions.has(action)),
    );
  }

  #matchAnswered(observation: Observation): void {
    const { requestId = '', outcome, change, claims } = observation;
    const own = this.#byRequest.get(requestId) ?? [];
    this.#byRequest.delete(requestId);
    const [entry] = own;
    // A repeated request may find its change done: then its claim says so.
    if (entry === undefined && (outcome !== 'done' || claims.length > 0)) return;
    if (entry === undefined) this.problems.push(`lost: ${describe(observation)} has no entry`);
    else if (outcome !== 'done') this.problems.push(`refused and done: ${describe(observation)}, entry ${entry.seq}`);
    else if (own.length > 1)
      this.problems.push(`done twice: ${describe(observation)}, entries ${own.map(({ seq }) => seq).join(', ')}`);
    else if (!fits(entry, change!))
      this.problems.push(`another change: ${describe(observation)}, entry ${entry.seq} (${nameOf(entry)})`);
    else this.places.set(observation, entry.seq);
  }

  /** Requests without an answer may have been done, once each. The earliest request gets the earliest entry. */
  #matchRest(attempts: readonly Observation[], entries: readonly LoggedEntry[]): void {
    const byAction = new Map<string, Observation[]>();
    for (const attempt of attempts) for (const action of actionsOf(attempt.change!)) push(byAction, action, attempt);
    for (const entry of entries.toSorted((a, b) => a.seq - b.seq)) {
      const candidates = byAction.get(entry.action) ?? [];
      const attempt = candidates.find((each) => !this.places.has(each) && fits(entry, each.change!));
      if (attempt === undefined) this.problems.push(`entry ${entry.seq} (${nameOf(entry)}) has no request`);
      else this.places.set(attempt, entry.seq);
    }
  }
}

/** An event of the history: a request was sent, or answered. */
interface HistoryEvent {
  at: number;
  observation: Observation;
  isAnswer: boolean;
}

function eventsOf(observations: readonly Observation[]): HistoryEvent[] {
  const events = observations.flatMap((observation) => {
    const sent = { at: observation.sent, observation, isAnswer: false };
    return observation.answered === undefined
      ? [sent]
      : [sent, { at: observation.answered, observation, isAnswer: true }];
  });
  return events.sort((a, b) => a.at - b.at);
}

/** The last possible position of each answer: before every change that was sent after it. */
function ceilingsOf(
  events: readonly HistoryEvent[],
  places: ReadonlyMap<Observation, number>,
): Map<Observation, number> {
  const ceilings = new Map<Observation, number>();
  let ceiling = Infinity;
  for (const { observation, isAnswer } of events.toReversed()) {
    if (isAnswer) ceilings.set(observation, ceiling);
    else ceiling = Math.min(ceiling, (places.get(observation) ?? Infinity) - 1);
  }
  return ceilings;
}

/** Goes through the events with the position that every later request must have reached. */
function checkOrder(
  observations: readonly Observation[],
  places: ReadonlyMap<Observation, number>,
  { timelines }: Pick<StoreModel, 'timelines'>,
  after: number,
): string[] {
  const problems: string[] = [];
  const events = eventsOf(observations);
  const ceilings = ceilingsOf(events, places);
  const positions = new Map<Observation, number>();
  let floor = after;
  for (const { observation, isAnswer } of events) {
    if (isAnswer) {
      floor = Math.max(floor, positions.get(observation) ?? 0);
      continue;
    }
    const place = places.get(observation);
    if (place !== undefined && place <= floor)
      problems.push(`too early: ${describe(observation)} is entry ${place}, and entry ${floor} was known before it`);
    const span =
      place === undefined ? ([floor, ceilings.get(observation) ?? Infinity] as const) : ([place, place] as const);
    const position = placeClaims(observation.claims, timelines, span);
    if (position === undefined)
      problems.push(`untrue: ${describe(observation)} ${explain(observation, timelines, floor)}`);
    else positions.set(observation, position);
  }
  return problems;
}

const isTrue = ({ is, isNot }: Claim, value: string | null): boolean =>
  (is === undefined || value === is) && (isNot === undefined || value !== isNot);

/** The first position in a span where all claims are true; undefined if there is none. */
function placeClaims(
  claims: readonly Claim[],
  timelines: ReadonlyMap<string, Timeline>,
  [floor, ceiling]: readonly [number, number],
): number | undefined {
  let position = floor;
  for (let at = 0; at < claims.length;) {
    const claim = claims[at]!;
    const next = findTrue(claim, timelines.get(claim.key) ?? [], [position, ceiling]);
    if (next === undefined) return undefined;
    // A later position may make an earlier claim untrue.
    at = next > position ? 0 : at + 1;
    position = next;
  }
  return position;
}

/** The index of the value that holds at a position; -1 before the first. */
function indexAt(timeline: Timeline, position: number): number {
  let [low, high] = [0, timeline.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeline[middle]!.seq <= position) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The first position in a span where a claim is true. */
function findTrue(claim: Claim, timeline: Timeline, [floor, ceiling]: readonly [number, number]): number | undefined {
  const from = indexAt(timeline, floor);
  if (isTrue(claim, timeline[from]?.value ?? null)) return floor;
  for (let at = from + 1; at < timeline.length && timeline[at]!.seq <= ceiling; at++)
    if (isTrue(claim, timeline[at]!.value)) return timeline[at]!.seq;
  return undefined;
}

function explain({ claims }: Observation, timelines: ReadonlyMap<string, Timeline>, floor: number): string {
  const parts = claims.map((claim) => {
    const timeline = timelines.get(claim.key) ?? [];
    const value = timeline[indexAt(timeline, floor)];
    return `says ${JSON.stringify(claim)}; after entry ${floor} it is ${value?.value ?? 'nothing'} since entry ${value?.seq ?? 0}`;
  });
  return parts.join('; ');
}
