// One interleaving: clients work at the processes of a store, one call at a time as the scheduler decides, and the
// checker holds their answers against the audit log.
import { createHash, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import fc, { type Scheduler } from 'fast-check';

import { approveProposal } from '#acts/approvals/proposals.ts';
import { registerName } from '#acts/packages/registration.ts';
import { pushReleases } from '#acts/releases/releases.ts';
import { issueToken, revokeToken } from '#acts/tokens/tokens.ts';
import { pushRevision } from '#acts/uploads/uploads.ts';
import { contentKey } from '#src/blobs/s3/contents.ts';
import { unlimited } from '#domain/accounts/quota.ts';
import { Refusal } from '#domain/refusal.ts';
import { parseChannel } from '#domain/releases/channel.ts';
import { everyDevice } from '#domain/releases/channel-map.ts';
import { leaseLifeMs } from '#shared/leases.ts';
import { approver } from './approval-policy.ts';
import { checkHistory } from '../checker.ts';
import { History, type Answer, type ExpectedEntry } from '../history.ts';
import { Doors, type Accident } from './doors.ts';
import { MemoryBucket } from './memory-bucket.ts';
import { StoreProcess } from './store-process.ts';
import { owner, type TestStore } from './test-store.ts';

/** Verbs that meet at the same things; a plan uses one group, or all verbs. */
const verbGroups = [
  ['set', 'refuse', 'get'],
  ['login', 'revoke', 'whoami', 'whoami'],
  ['register', 'push'],
  ['release', 'release', 'approve'],
  ['lease'],
  ['receive', 'sweep'],
] as const;
type Verb = (typeof verbGroups)[number][number];

/** A piece of work: at a process, on the first or second thing of its kind. */
interface Step {
  verb: Verb;
  process: number;
  thing: number;
}

export interface InterleavingPlan {
  /** The steps of each client. */
  clients: Step[][];
  accidents: Accident[];
  /** Whether the store is changed from outside and reloaded at the end. */
  isReloaded: boolean;
}

export const processCount = 3;

const stepsOf = (verbs: readonly Verb[]): fc.Arbitrary<Step[][]> => {
  const step = fc.record({ verb: fc.constantFrom(...verbs), process: fc.nat(processCount - 1), thing: fc.nat(1) });
  return fc.array(fc.array(step, { minLength: 1, maxLength: 4, size: 'max' }), {
    minLength: 2,
    maxLength: 4,
    size: 'max',
  });
};

const accidents: fc.Arbitrary<Accident> = fc.record({
  call: fc.integer({ min: 1, max: 70 }),
  kind: fc.constantFrom('fail', 'end', 'clock'),
});

export const plans: fc.Arbitrary<InterleavingPlan> = fc.record({
  clients: fc.oneof(...verbGroups.map(stepsOf), stepsOf(verbGroups.flat())),
  accidents: fc.array(accidents, { maxLength: 3 }),
  isReloaded: fc.oneof({ weight: 49, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});

const begin = Date.parse('2026-03-01T12:00:00.000Z');
const hour = 3_600_000;
const noQuota = { bytes: unlimited, packages: unlimited };

/** The violations of one interleaving. */
export async function runInterleaving(
  store: TestStore,
  scheduler: Scheduler,
  { clients, accidents, isReloaded }: InterleavingPlan,
): Promise<string[]> {
  const world = new World(store, new Doors(scheduler, accidents));
  try {
    return await world.run(clients, isReloaded);
  } finally {
    await world.close();
  }
}

/** The entry of a request that was proposed, if it was not proposed before. */
const proposed = (proposal: number) => ({
  action: 'propose_change',
  object: 'bin/gated',
  details: { proposal },
  orElse: undefined,
});

class World {
  readonly #store: TestStore;
  readonly #doors: Doors;
  readonly #bucket: MemoryBucket;
  readonly #processes: Promise<StoreProcess>[] = [];
  readonly #all: StoreProcess[] = [];
  readonly #history = new History();
  readonly #violations: string[] = [];
  /** The things of this interleaving have names of their own. */
  readonly #id = randomUUID().slice(0, 8);
  readonly #sessions: (string | undefined)[] = [];
  readonly #proposals: number[] = [];
  readonly #holders = new Map<string, StoreProcess>();
  readonly #received = new Set<string>();

  constructor(store: TestStore, doors: Doors) {
    this.#store = store;
    this.#doors = doors;
    this.#bucket = new MemoryBucket(doors, () => new Date(this.#time()));
    for (const thing of [0, 1]) {
      const stored = { 'stored-at': new Date(begin - 2 * hour).toISOString(), sending: 'before' };
      this.#bucket.put(contentKey(this.#digest(thing)), this.#content(thing), stored);
    }
  }

  readonly #time = (): number => begin + this.#doors.waitedMs;
  readonly #content = (thing: number): Buffer => Buffer.from(`content ${thing}`);
  readonly #digest = (thing: number): string => createHash('sha3-384').update(this.#content(thing)).digest('hex');

  async run(clients: readonly Step[][], isReloaded: boolean): Promise<string[]> {
    const after = await this.#store.lastEntry();
    await this.#store.addUploads([this.#upload(0), this.#upload(1)]);
    for (let number = 0; number < processCount; number++) this.#processes.push(this.#start(number));
    await Promise.all(this.#processes);
    const working = Promise.all(clients.map((steps) => this.#work(steps)));
    await this.#doors.runUntil(working);
    this.#doors.open();
    const survivor = await this.#start(processCount);
    await this.#checkLeases(survivor);
    this.#checkContents();
    this.#checkClock(survivor);
    if (isReloaded) await this.#checkReload(survivor);
    const entries = await this.#store.readLog(after);
    return [...this.#violations, ...checkHistory(this.#history.observations, entries, { after })];
  }

  async close(): Promise<void> {
    this.#doors.open();
    for (const process of this.#all) await process.close();
  }

  async #start(number: number): Promise<StoreProcess> {
    const surroundings = { doors: this.#doors, bucket: this.#bucket, time: this.#time };
    const process = new StoreProcess(`process ${number}`, await this.#store.connect(), surroundings);
    this.#all.push(process);
    return process;
  }

  async #work(steps: readonly Step[]): Promise<void> {
    for (const { verb, process: number, thing } of steps) {
      if ((await this.#processes[number]!).hasEnded) this.#processes[number] = this.#start(number);
      const process = await this.#processes[number]!;
      await this.#steps[verb](process, thing);
    }
  }

  /** Does something at a process, and records it. An answer of another kind than a refusal says nothing. */
  async #record<Result>(
    process: StoreProcess,
    {
      text,
      change,
      work,
    }: { text: string; change?: Omit<ExpectedEntry, 'requestId'>; work(requestId: string): Promise<Result> },
    understand: (result: Result) => Pick<Answer, 'outcome' | 'claims' | 'entry'>,
    refused: Answer['claims'] = [],
  ): Promise<void> {
    const requestId = randomUUID();
    const answered = this.#history.send(`${process.name}: ${text}`, change);
    try {
      const result = await process.run(async () => ({ value: await work(requestId) }));
      if (result !== undefined) answered({ ...understand(result.value), requestId });
    } catch (error) {
      if (!(error instanceof Refusal) || error.status === 503) return;
      const claims = error.status < 500 ? refused : [];
      answered({ outcome: change === undefined ? 'read' : 'refused', answer: error.message, requestId, claims });
    }
  }

  readonly #steps: Readonly<Record<Verb, (process: StoreProcess, thing: number) => Promise<void>>> = {
    set: (process, thing) => this.#change(process, thing, false),
    refuse: (process, thing) => this.#change(process, thing, true),
    get: (process, thing) => {
      const name = this.#name(thing);
      const work = () => process.records.appliance.find(name);
      const claim = (value: string | undefined) => ({ key: `value ${name}`, is: value ?? null });
      return this.#record(process, { text: `get ${name}`, work }, (value) => ({
        outcome: 'read',
        claims: [claim(value)],
      }));
    },
    login: (process, thing) => {
      const sessionId = randomUUID();
      this.#sessions[thing] = sessionId;
      const times = {
        validSince: new Date(begin).toISOString(),
        validUntil: new Date(begin + 24 * hour).toISOString(),
      };
      const session = { sessionId, accountId: owner, rootKeyId: this.#store.rootKeyId, description: null, ...times };
      const work = (requestId: string) => process.acts.do(issueToken, { actor: owner, requestId }, { session });
      const change = { action: 'issue_token', object: `session/${sessionId}` };
      return this.#record(process, { text: `login ${sessionId}`, change, work }, () => ({ outcome: 'done' }));
    },
    revoke: (process, thing) => {
      const sessionId = this.#sessions[thing];
      if (sessionId === undefined) return this.#steps.login(process, thing);
      const key = `session/${sessionId}`;
      const work = (requestId: string) => process.acts.do(revokeToken, { actor: owner, requestId }, { sessionId });
      const change = { action: 'revoke_token', object: key };
      const done = () => ({ outcome: 'done' as const });
      return this.#record(process, { text: `revoke ${sessionId}`, change, work }, done, [{ key, is: null }]);
    },
    whoami: (process, thing) => {
      const sessionId = this.#sessions[thing];
      if (sessionId === undefined) return this.#steps.login(process, thing);
      const work = async () => process.records.macaroons.session(sessionId, this.#store.rootKeyId);
      const key = `session/${sessionId}`;
      return this.#record(process, { text: `whoami ${sessionId}`, work }, (session) => ({
        outcome: 'read',
        claims: [session === undefined ? { key, isNot: 'open' } : { key, is: 'open' }],
      }));
    },
    register: (process, thing) => {
      const name = this.#name(thing);
      const request = { namespace: 'bin', name, type: 'bin', publisherId: owner, private: false } as const;
      const input = { ...request, freshId: randomUUID().replaceAll('-', ''), reserved: [], defaultQuota: noQuota };
      const work = (requestId: string) => process.acts.do(registerName, { actor: owner, requestId }, input);
      const change = { action: 'register_name', object: `bin/${name}` };
      const taken = [{ key: `name bin/${name}`, isNot: null }];
      return this.#record(process, { text: `register ${name}`, change, work }, () => ({ outcome: 'done' }), taken);
    },
    push: (process, thing) => {
      const upload = this.#upload(thing);
      const input = { upload, package: this.#store.package, defaultQuota: noQuota };
      const work = (requestId: string) => process.acts.do(pushRevision, { actor: owner, requestId }, input);
      const change = { action: 'push_revision', object: 'bin/tool', details: { upload } };
      const claims = [{ key: `upload ${upload}`, isNot: null }];
      return this.#record(process, { text: `push ${upload}`, change, work }, () => ({ outcome: 'done', claims }));
    },
    release: (process, thing) => this.#release(process, thing),
    approve: (process, thing) => {
      const number = this.#proposals.at(-1 - thing);
      if (number === undefined) return this.#release(process, thing);
      const input = { number, login: { accountId: approver, at: new Date(begin).toISOString() } };
      const work = (requestId: string) => process.acts.do(approveProposal, { actor: approver, requestId }, input);
      const change = { action: 'approve_proposal', object: `proposal/${number}` };
      return this.#record(process, { text: `approve ${number}`, change, work }, () => ({ outcome: 'done' }));
    },
    lease: (process, thing) => this.#hold(process, this.#name(thing)),
    receive: async (process, thing) => {
      const [file, digest] = [join(this.#store.folder, randomUUID()), this.#digest(thing)];
      writeFileSync(file, this.#content(thing));
      const work = async () => {
        await process.contents.settle(file, digest);
        this.#received.add(digest);
      };
      await process.run(work).catch(() => undefined);
    },
    sweep: async (process, thing) => {
      const work = () => process.contents.remove(this.#digest(thing), new Date(begin - hour));
      await process.run(work).catch(() => undefined);
    },
  };

  readonly #name = (thing: number): string => `n${this.#id}-${thing}`;
  readonly #upload = (thing: number): string => `u${this.#id}-${thing}`;

  /** Releases a revision of a package whose releases wait for an approval: it is done, or proposed. */
  async #release(process: StoreProcess, thing: number): Promise<void> {
    const [channel, revision] = [parseChannel(`latest/edge/${this.#name(thing)}`)!, 1 + (thing % 2)];
    const releases = [{ channel, revision, progressive: everyDevice, resources: [] }];
    const input = { package: this.#store.gated, releases };
    const work = (requestId: string): Promise<number | undefined> =>
      process.acts.do(pushReleases, { actor: owner, requestId }, input).then(
        () => undefined,
        (error: unknown) => {
          const [, number] = /\(proposal (\d+), /.exec(error instanceof Refusal ? error.message : '') ?? [];
          if (number === undefined) throw error;
          this.#proposals.push(Number(number));
          return Number(number);
        },
      );
    const proposal = { action: 'propose_change', object: 'bin/gated' };
    const details = { releases: [[channel.name, revision]] };
    const change = { action: 'push_releases', object: 'bin/gated', details, orElse: proposal };
    await this.#record(process, { text: `release ${channel.name}`, change, work }, (number) =>
      number === undefined
        ? { outcome: 'done', entry: { orElse: undefined } }
        : { outcome: 'done', entry: proposed(number), claims: [{ key: `proposal/${number}`, isNot: null }] },
    );
  }

  /** Sets a value, or is refused after it has set it. */
  #change(process: StoreProcess, thing: number, isRefused: boolean): Promise<void> {
    const [object, value] = [this.#name(thing), randomUUID().slice(0, 8)];
    const change = { action: 'set_value', object, details: { value } };
    const at = new Date(begin).toISOString();
    const work = (requestId: string) =>
      process.records.change({ ...change, at, actor: owner, requestId }, async (tx) => {
        await tx.appliance.set(object, value);
        if (isRefused) throw new Refusal('conflict', 'This change is refused.');
      });
    const text = `${isRefused ? 'refuse' : 'set'} ${object} ${value}`;
    return this.#record(process, { text, change, work }, () => ({ outcome: 'done' }));
  }

  /** Works under a lease; only one process may do so at a time. */
  async #hold(process: StoreProcess, name: string): Promise<void> {
    const work = async (): Promise<void> => {
      const other = this.#holders.get(name);
      if (other?.hasEnded === false) this.#violations.push(`${process.name} and ${other.name} hold the lease ${name}`);
      this.#holders.set(name, process);
      await this.#doors.pass(process, 'work');
      await this.#doors.pass(process, 'work');
      this.#holders.delete(name);
    };
    const hold = () => process.run(() => process.leases.withLease(name, work)).catch(() => undefined);
    await this.#doors.duringLease(hold);
  }

  /** A minute after the end of all processes every lease is free. */
  async #checkLeases(survivor: StoreProcess): Promise<void> {
    this.#doors.waitedMs += leaseLifeMs + 10_000;
    for (const thing of [0, 1]) {
      const held = await survivor.leases.withLease(this.#name(thing), async () => 'held');
      if (held === undefined) this.#violations.push(`the lease ${this.#name(thing)} does not end`);
    }
  }

  /** Content that was acknowledged is there. */
  #checkContents(): void {
    for (const digest of this.#received)
      if (!this.#bucket.objects.has(contentKey(digest)))
        this.#violations.push(`the content ${digest} was removed early`);
  }

  /** A clock that was wrong for a moment leaves nothing behind. */
  #checkClock(process: StoreProcess): void {
    process.latestTime.now();
    process.shiftMs += 48 * hour;
    process.latestTime.now();
    process.shiftMs -= 48 * hour;
    if (process.latestTime.now().getTime() > begin + 24 * hour)
      this.#violations.push('the time of a wrong clock stays');
  }

  /** Records that were replaced from outside, with their versions, are read again after a reload. */
  async #checkReload(process: StoreProcess): Promise<void> {
    await this.#steps.login(process, 0);
    const [sessionId, { rootKeyId }] = [this.#sessions[0]!, this.#store];
    await process.records.macaroons.session(sessionId, rootKeyId);
    await this.#store.replaceSession(sessionId);
    process.records.forgetRemembered();
    const session = await process.records.macaroons.session(sessionId, rootKeyId);
    if (session !== undefined) this.#violations.push('a cached session survives a reload');
  }
}
