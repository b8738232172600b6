// The present faults of the store. Every place that shows the state of the store reads them here, so that all of them agree.
import type { Logger } from 'pino';

import { isEngineUnavailable } from '#domain/refusal.ts';
import type { MaybePromise } from '#domain/maybe-promise.ts';
import { describeFault, textOf, type FactsOf, type Fault, type FaultCode } from './faults.ts';
import { inOneSentence } from './system-errors.ts';

export interface Health {
  /**
   * Reports that a fault is present, or gone (undefined). `instance` separates several faults of one kind. If the fault is also watched,
   * the report is only written to the log.
   */
  report<Code extends FaultCode>(code: Code, facts: FactsOf<Code> | undefined, instance?: string): void;
  /**
   * Watches a fault: calls `look`, a check, whenever the health is read. A check that fails is a fault too. While the database server or the S3
   * server is unavailable, the last result of the check stays, because that fault is already shown.
   */
  watch<Code extends FaultCode>(
    code: Code,
    look: () => MaybePromise<FactsOf<Code> | undefined>,
    instance?: string,
  ): void;
  /** Like `watch`, for a check that can return several faults. */
  watchAll(subject: string, look: () => MaybePromise<readonly Fault[]>): void;
  /** Runs all checks. Returns the present faults, ordered by kind: the kind that appeared first comes first. */
  look(): Promise<Fault[]>;
}

/** Milliseconds after which the last result of a slow check is used. */
const maxLookMs = 2000;

export function createHealth(log: Pick<Logger, 'error' | 'info'>): Health {
  const sources = new Map<string, () => Promise<readonly Fault[]>>();
  const watched = new Set<string>();
  const changes = changeLog(log);
  let looking: Promise<Fault[]> | undefined;
  let next: Promise<Fault[]> | undefined;

  async function runAllChecks(): Promise<Fault[]> {
    const faultLists = await Promise.all(
      [...sources].map(async ([key, look]) => {
        const faults = await look();
        changes.tell(key, faults);
        return faults;
      }),
    );
    return faultLists.flat();
  }

  /** Checks that are running may have missed the latest change by a caller. So callers wait for the next run, and share it. */
  async function runNextChecks(): Promise<Fault[]> {
    await looking;
    next = undefined;
    looking = runAllChecks();
    return looking;
  }

  const watchAll: Health['watchAll'] = (subject, look) => {
    sources.set(subject, boundedLook(subject, look, log));
  };
  return {
    report(code, facts, instance = '') {
      const key = keyOf(code, instance);
      const faults = facts === undefined ? [] : [describeFault(code, facts)];
      // For a watched fault the check decides, not the report; the log gets the report at once.
      if (!watched.has(key)) sources.set(key, () => Promise.resolve(faults));
      changes.tell(key, faults, { isReport: true });
    },
    watch(code, look, instance = '') {
      const lookUp = async (): Promise<readonly Fault[]> => {
        const facts = await look();
        return facts === undefined ? [] : [describeFault(code, facts)];
      };
      watched.add(keyOf(code, instance));
      watchAll(keyOf(code, instance), lookUp);
    },
    watchAll,
    look: () => (next ??= runNextChecks()),
  };
}

const keyOf = (code: FaultCode, instance: string): string => `${code} ${instance}`.trimEnd();

/** Writes each change to the log once: that a fault is present, and that it is gone. */
export function changeLog(log: Pick<Logger, 'error' | 'info'>) {
  const logged = new Map<string, Map<FaultCode, Fault>>();
  return {
    tell(key: string, faults: readonly Fault[], { isReport = false } = {}): void {
      const before = logged.get(key) ?? new Map<FaultCode, Fault>();
      const now = new Map(faults.map((fault) => [fault.code, fault]));
      for (const [code, fault] of now) {
        const previous = before.get(code);
        // The figures in the sentence of a watched fault may differ each time.
        if (previous !== undefined && (!isReport || textOf(previous) === textOf(fault))) continue;
        log[fault.severity === 'problem' ? 'error' : 'info']({ fault: code }, textOf(fault));
      }
      for (const [code, fault] of before)
        if (!now.has(code)) log.info({ fault: code, was: textOf(fault) }, 'this is well again');
      logged.set(key, now);
    },
  };
}

/** Runs a check within `maxLookMs`, even if it fails or hangs. */
function boundedLook(
  subject: string,
  look: () => MaybePromise<readonly Fault[]>,
  log: Pick<Logger, 'error'>,
): () => Promise<readonly Fault[]> {
  let last: readonly Fault[] = [];
  let failure = '';
  const lookNow = async (): Promise<readonly Fault[]> => {
    try {
      last = await look();
      failure = '';
    } catch (error) {
      if (isEngineUnavailable(error)) return last;
      const because = inOneSentence(error);
      if (failure !== because) log.error({ subject, err: error }, 'cannot check the state of the store');
      failure = because;
      last = [describeFault('cannot-look', { subject, because })];
    }
    return last;
  };
  return async () => {
    const late = Promise.withResolvers<readonly Fault[]>();
    const timer = setTimeout(() => late.resolve(last), maxLookMs);
    try {
      return await Promise.race([lookNow(), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
}
