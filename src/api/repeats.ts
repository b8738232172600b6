// Answers that are given again. A gateway asks the same of every device of a fleet: what an operation answered that follows
// from who asks, what he says and the records alone (`repeatable`) is sent again until one of those is another. His token,
// his rights and the form of his request are looked at each time.
import type { Principal } from '#domain/principal.ts';
import { then, type Soon } from '#domain/soon.ts';
import type { Sent } from './sent.ts';

export interface Question {
  /** Another object whenever anything has changed about the account or its token. */
  principal: Principal;
  /** Another object whenever the records that are asked have changed. */
  era: object;
  /** The body as it came. */
  bytes: Buffer;
}

/** Gives the answer to a question again, or makes it. */
export type Repeats = (question: Question, make: () => Soon<Sent>) => Soon<Sent>;

/** Characters of questions and answers that are kept; with more of them all are forgotten, as with another era. */
const most = 16 * 1024 * 1024;
/** Bytes of a question that may be kept. */
const longest = 8 * 1024;
/** So many marks of questions that were asked are remembered. */
const marks = 16_384;

export function createRepeats(): Repeats {
  let of: object | undefined;
  let answers = new WeakMap<Principal, Map<string, Sent>>();
  let size = 0;
  // What is asked only once is neither looked up nor kept: where no question comes twice, that costs a tenth of the call.
  const seen = new Uint32Array(marks);

  const keep = (principal: Principal, asked: string, sent: Sent): Sent => {
    if (typeof sent.body !== 'string') return sent;
    size += asked.length + sent.body.length;
    if (size > most) forget(of);
    const theirs = answers.get(principal) ?? new Map<string, Sent>();
    answers.set(principal, theirs.set(asked, sent));
    return sent;
  };

  function forget(era: object | undefined): void {
    answers = new WeakMap();
    size = 0;
    of = era;
  }

  return ({ principal, era, bytes }, make) => {
    if (bytes.length > longest) return make();
    if (era !== of) forget(era);
    const mark = markOf(bytes);
    if (seen[mark % marks] !== mark) {
      seen[mark % marks] = mark;
      return make();
    }
    const asked = bytes.toString('latin1');
    const kept = answers.get(principal)?.get(asked);
    if (kept !== undefined) return kept;
    return then(make(), (sent) => (era === of ? keep(principal, asked, sent) : sent));
  };
}

/**
 * A number of 32 bits that two questions seldom share, of 64 of their bytes (FNV-1a). Where they do, an answer is kept that
 * need not be, and no more.
 */
function markOf(bytes: Buffer): number {
  const step = Math.ceil(bytes.length / 64);
  let mark = 0x811c9dc5 ^ bytes.length;
  for (let at = 0; at < bytes.length; at += step) mark = Math.imul(mark ^ (bytes[at] as number), 0x01000193);
  return mark >>> 0;
}
