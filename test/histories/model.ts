// A small model of the store: replays the audit log, and knows after each entry the values that answers speak of.

/** An entry of the audit log. */
export interface LoggedEntry {
  seq: number;
  action: string;
  object: string;
  /** An account id, or `cli:<user>`. */
  actor?: string;
  requestId: string | null;
  details: Readonly<Record<string, unknown>>;
  outcome?: 'done' | 'refused';
}

/** The values of a key: each holds from its entry on. */
export type Timeline = { seq: number; value: string | null }[];

type Releases = [channel: string, revision: number | null][];

/** The revisions in the channels of a package, as `channels` of the model has them. */
export const channelText = (channels: Iterable<readonly [string, number]>): string =>
  JSON.stringify([...channels].sort(([a], [b]) => (a < b ? -1 : 1)));

export class StoreModel {
  readonly timelines = new Map<string, Timeline>();
  /** Entries that cannot follow from the state before them. */
  readonly problems: string[] = [];
  readonly #channels = new Map<string, Map<string, number>>();
  /** The accounts that have approved a proposal. */
  readonly #approvers = new Map<string, string[]>();
  /** How many approvals the policy requires for a release of a gated package. */
  #people = 1;
  /** The number of the entry that is replayed. */
  #seq = 0;

  /** The current value of a key. */
  get(key: string): string | null {
    return this.timelines.get(key)?.at(-1)?.value ?? null;
  }

  replay(entry: LoggedEntry): void {
    if (entry.outcome === 'refused') return;
    if (entry.seq <= this.#seq) this.#complain(entry, 'is out of order');
    this.#seq = entry.seq;
    this.#effects[entry.action]?.(entry);
  }

  #set(key: string, value: string): void {
    const timeline = this.timelines.get(key) ?? [];
    if (timeline.length === 0) this.timelines.set(key, timeline);
    timeline.push({ seq: this.#seq, value });
  }

  #complain({ seq, action, object }: LoggedEntry, problem: string): void {
    this.problems.push(`entry ${seq} (${action} ${object}) ${problem}`);
  }

  /** Gives a key its first value. */
  #begin(entry: LoggedEntry, key: string, value: string): void {
    if (this.get(key) !== null) this.#complain(entry, 'does again what was done');
    this.#set(key, value);
  }

  readonly #open = (entry: LoggedEntry): void => this.#begin(entry, entry.object, 'open');
  readonly #end = (entry: LoggedEntry): void => {
    if (this.get(entry.object) === null) this.#complain(entry, 'ends a session that never began');
    this.#set(entry.object, 'revoked');
  };

  readonly #effects: Readonly<Record<string, (entry: LoggedEntry) => void>> = {
    register_name: (entry) => {
      this.#begin(entry, `name ${entry.object}`, String(entry.details['account']));
      this.#set(`channels ${entry.object}`, channelText([]));
    },
    issue_token: this.#open,
    exchange_admin_credential: this.#open,
    exchange_login: this.#open,
    revoke_token: this.#end,
    revoke_own_token: this.#end,
    push_revision: (entry) => this.#begin(entry, `upload ${String(entry.details['upload'])}`, 'waiting'),
    approve_upload: (entry) => this.#judge(entry),
    reject_upload: (entry) => this.#judge(entry),
    push_releases: (entry) => this.#release(entry),
    change_approval_policy: (entry) => {
      const rules = Object.values((entry.details['policy'] ?? {}) as Record<string, string>);
      this.#people = Math.max(1, ...rules.map((rule) => Number.parseInt(rule, 10)));
    },
    propose_change: (entry) => this.#propose(entry),
    approve_proposal: (entry) => this.#approve(entry),
    receive_transfer: (entry) => {
      const status = this.get(entry.object);
      // A further copy of a transfer, on another medium, changes nothing else.
      if (status === null || status === 'discarded') this.#set(entry.object, 'waiting');
    },
    accept_transfer: (entry) => {
      this.#settle(entry, 'waiting', 'accepted');
      const [floor, sequence] = [`floor ${String(entry.details['source'])}`, Number(entry.details['sequence'])];
      if (sequence <= Number(this.get(floor) ?? 0)) this.#complain(entry, 'is older than an accepted transfer');
      this.#set(floor, String(sequence));
    },
    discard_transfer: (entry) => this.#settle(entry, 'waiting', 'discarded'),
    withdraw_transfer: (entry) => this.#settle(entry, 'accepted', 'withdrawn'),
    set_value: (entry) => this.#set(`value ${entry.object}`, String(entry.details['value'])),
  };

  /** The review of an upload: the next revision, or none. */
  #judge(entry: LoggedEntry): void {
    const upload = `upload ${String(entry.details['upload'])}`;
    const revision = entry.details['revision'] as number | undefined;
    if (this.get(upload) !== 'waiting') this.#complain(entry, 'judges an upload that does not wait');
    this.#set(upload, revision === undefined ? 'rejected' : `revision ${String(revision)}`);
    if (revision === undefined) return;
    const newest = `newest ${entry.object}`;
    if (revision !== Number(this.get(newest) ?? 0) + 1) this.#complain(entry, 'is not the next revision');
    this.#set(newest, String(revision));
  }

  #settle(entry: LoggedEntry, before: string, after: string): void {
    const status = this.get(entry.object);
    if (status !== before) this.#complain(entry, `settles a transfer that is ${String(status)}`);
    this.#set(entry.object, after);
  }

  #propose(entry: LoggedEntry): void {
    for (const number of (entry.details['replaces'] ?? []) as number[]) {
      if (!this.#isOpen(`proposal/${number}`)) this.#complain(entry, 'replaces a proposal that is not open');
      this.#set(`proposal/${number}`, 'fallen');
    }
    const proposal = `proposal/${String(entry.details['proposal'])}`;
    this.#begin(entry, proposal, 'open');
    this.#set(`missing ${proposal}`, String(this.#people));
    this.#approvers.set(proposal, []);
  }

  #approve(entry: LoggedEntry): void {
    const proposal = entry.object;
    const approvers = this.#approvers.get(proposal) ?? [];
    if (!this.#isOpen(proposal)) this.#complain(entry, 'approves a proposal that is not open');
    if (entry.details['fell'] === true) return this.#set(proposal, 'fallen');
    if (approvers.includes(String(entry.actor))) this.#complain(entry, 'is the second approval of one account');
    approvers.push(String(entry.actor));
    this.#set(`approval ${String(entry.actor)} ${proposal}`, 'given');
    const missing = Math.max(0, this.#people - approvers.length);
    this.#set(`missing ${proposal}`, String(missing));
    if (missing === 0) this.#set(proposal, 'approved');
  }

  readonly #isOpen = (proposal: string): boolean => ['open', 'approved'].includes(this.get(proposal) ?? '');

  #release(entry: LoggedEntry): void {
    const channels = this.#channels.get(entry.object) ?? new Map<string, number>();
    this.#channels.set(entry.object, channels);
    // Without a review in the log the revisions were there before.
    const newest = Number(this.get(`newest ${entry.object}`) ?? Infinity);
    this.#settleProposal(entry, channels);
    for (const [channel, revision] of entry.details['releases'] as Releases) {
      if (revision === null) channels.delete(channel);
      else channels.set(channel, revision);
      if (revision !== null && revision > newest) this.#complain(entry, 'releases a revision that does not exist');
    }
    this.#set(`channels ${entry.object}`, channelText(channels));
  }

  /** A change of a package that the policy covers has an approved proposal, and uses it up. */
  #settleProposal({ details, ...entry }: LoggedEntry, before: ReadonlyMap<string, number>): void {
    const { proposal } = details;
    const isChange = (details['releases'] as Releases).some(([channel, to]) => (before.get(channel) ?? null) !== to);
    if (proposal === undefined && !(isChange && entry.object.endsWith('gated'))) return;
    const key = `proposal/${String(proposal)}`;
    if (this.get(key) !== 'approved') this.#complain({ details, ...entry }, 'is not approved');
    if (proposal === undefined) return;
    const counted = (details['approved-by'] ?? []) as string[];
    if (JSON.stringify(counted.toSorted()) !== JSON.stringify(this.#approvers.get(key)?.toSorted()))
      this.#complain({ details, ...entry }, `names other approvals: ${counted.join(', ')}`);
    this.#set(key, 'done');
  }
}
