// A small model of the store: replays the audit log, and knows after each entry the values that answers speak of.

/** An entry of the audit log. */
export interface LoggedEntry {
  seq: number;
  action: string;
  object: string;
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
    propose_change: (entry) => this.#begin(entry, `proposal/${String(entry.details['proposal'])}`, 'open'),
    approve_proposal: (entry) => {
      const isFallen = entry.details['fell'] === true;
      if (!isFallen && this.get(entry.object) !== 'open') this.#complain(entry, 'approves a proposal that is not open');
      this.#set(entry.object, isFallen ? 'fallen' : 'approved');
    },
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

  #release(entry: LoggedEntry): void {
    const channels = this.#channels.get(entry.object) ?? new Map<string, number>();
    this.#channels.set(entry.object, channels);
    // Without a review in the log the revisions were there before.
    const newest = Number(this.get(`newest ${entry.object}`) ?? Infinity);
    this.#settleProposal(entry);
    for (const [channel, revision] of entry.details['releases'] as Releases) {
      if (revision === null) channels.delete(channel);
      else channels.set(channel, revision);
      if (revision !== null && revision > newest) this.#complain(entry, 'releases a revision that does not exist');
    }
    this.#set(`channels ${entry.object}`, channelText(channels));
  }

  /** A change of a package that the policy covers has an approved proposal, and uses it up. */
  #settleProposal(entry: LoggedEntry): void {
    const { proposal } = entry.details;
    if (proposal === undefined && !entry.object.endsWith('/gated')) return;
    const key = `proposal/${String(proposal)}`;
    if (this.get(key) !== 'approved') this.#complain(entry, 'is not approved');
    this.#set(key, 'done');
  }
}
