// The work of a client: reads, logins, pushes, releases, revocations, approvals and transfers, on names and sessions
// that all clients share.
import { randomBytes } from 'node:crypto';

import { conditionsOf } from '#src/macaroons/codec/macaroon.ts';
import { readToken } from '#src/macaroons/codec/text.ts';
import { approve, readProposal, releaseGated } from './approvals.ts';
import type { RecordingClient } from '../client.ts';
import type { Claim } from '../history.ts';
import { channelText } from '../model.ts';
import type { Choices } from '../random.ts';
import type { SharedPackage, SharedWork, WorkingClient } from './shared-work.ts';
import { listTransfers, settleTransfer, takesPart } from './transfers.ts';

const maxSessions = 40;
const maxPackages = 6;
const maxGated = 2;
/** The list of revisions would grow without end. */
const maxPushes = 60;
const weights = {
  whoami: 34,
  readChannels: 20,
  readName: 12,
  register: 9,
  login: 6,
  revoke: 6,
  release: 10,
  push: 4,
  releaseMissing: 2,
  releaseGated: 4,
  approve: 4,
  readProposal: 6,
  settleTransfer: 1,
  listTransfers: 2,
};
const channels = ['latest/stable', 'latest/candidate', 'latest/beta', 'latest/edge'];

/** The key of the session of a token. */
export function sessionKey(token: string): string {
  const conditions = conditionsOf(readToken(token)!) ?? [];
  return `session/${conditions.find((condition) => condition.startsWith('session-id '))!.slice('session-id '.length)}`;
}

export class Load {
  readonly #client: RecordingClient;
  readonly #work: SharedWork;
  readonly #choices: Choices;
  readonly #working: WorkingClient;

  constructor(client: RecordingClient, work: SharedWork, choices: Choices) {
    this.#client = client;
    this.#work = work;
    this.#choices = choices;
    this.#working = { client, work, choices };
  }

  /** Works until the run is over. */
  async run(): Promise<void> {
    while (!this.#work.isOver) await this.step();
    this.#client.close();
  }

  async step(): Promise<void> {
    if (takesPart(this.#work)) await this.settleTransfer();
    else await this[this.#choices.weighted(weights)]();
  }

  readonly approve = (): Promise<void> => approve(this.#working);
  readonly readProposal = (): Promise<void> => readProposal(this.#working);
  readonly settleTransfer = (): Promise<void> => settleTransfer(this.#working);
  readonly listTransfers = (): Promise<unknown> => listTransfers(this.#working);

  async releaseGated(): Promise<void> {
    const gated = this.#work.packages.filter(({ isGated }) => isGated);
    if (gated.length < maxGated) return this.#register(`${this.#work.prefix}g${++this.#work.gatedNames}-gated`);
    const ready = gated.filter(({ newest }) => newest > 0);
    if (ready.length === 0) return this.#awaitRevision(gated);
    await releaseGated(this.#working, this.#choices.pick(ready));
  }

  async login(): Promise<void> {
    const { credential, sessions } = this.#work;
    const reply = await this.#client.send({
      method: 'POST',
      path: '/v1/tokens/offline/exchange',
      body: { macaroon: credential },
      change: { action: 'exchange_admin_credential' },
      understand: ({ status, body }) =>
        status === 200 ? { outcome: 'done', entry: { object: sessionKey(body.macaroon) } } : undefined,
    });
    if (reply === undefined) return;
    if (sessions.length >= maxSessions) sessions.splice(this.#choices.below(sessions.length), 1);
    sessions.push({ token: reply.body.macaroon, key: sessionKey(reply.body.macaroon) });
  }

  async whoami(): Promise<void> {
    if (this.#work.sessions.length === 0) return this.login();
    const { token, key } = this.#choices.pick(this.#work.sessions);
    await this.#client.send({
      method: 'GET',
      path: '/v1/tokens/whoami',
      token,
      understand({ status }) {
        if (status !== 200 && status !== 401) return undefined;
        return { outcome: 'read', claims: [{ key, is: status === 200 ? 'open' : 'revoked' }] };
      },
    });
  }

  async revoke(): Promise<void> {
    if (this.#work.sessions.length === 0) return this.login();
    const { key } = this.#choices.pick(this.#work.sessions);
    await this.#client.send({
      method: 'POST',
      path: '/internal/v1/tokens/revoke',
      token: this.#work.token,
      body: { 'session-id': key.slice('session/'.length) },
      change: { action: 'revoke_token', object: key },
      understand: ({ status }) => (status === 200 ? { outcome: 'done' } : undefined),
    });
  }

  register(): Promise<void> {
    // Sometimes a name that another client registers at the same moment.
    const { prefix } = this.#work;
    return this.#register(`${prefix}${this.#choices.below(4) === 0 ? this.#work.names : ++this.#work.names}`);
  }

  async #register(name: string): Promise<void> {
    const { packages, token } = this.#work;
    const isRegistered: Claim = { key: `name bin/${name}`, isNot: null };
    const reply = await this.#client.send({
      method: 'POST',
      path: '/v1/bin',
      token,
      body: { name },
      change: { action: 'register_name', object: `bin/${name}` },
      understand({ status, body }) {
        if (status === 200) return { outcome: 'done', entry: { details: { id: body.id as string } } };
        return status === 409 ? { outcome: 'refused', claims: [isRegistered] } : undefined;
      },
    });
    const isGated = name.endsWith('-gated');
    const alike = packages.filter((each) => each.isGated === isGated);
    if (reply?.status === 200 && alike.length < (isGated ? maxGated : maxPackages))
      packages.push({ name, newest: 0, pushes: 0, isGated });
  }

  async readName(): Promise<void> {
    const { prefix, names, token } = this.#work;
    const name = `${prefix}${this.#choices.between(Math.max(1, names - 3), names + 1)}`;
    const key = `name bin/${name}`;
    await this.#client.send({
      method: 'GET',
      path: `/v1/bin/${name}`,
      token,
      understand({ status }) {
        if (status !== 200 && status !== 404) return undefined;
        return { outcome: 'read', claims: [status === 200 ? { key, isNot: null } : { key, is: null }] };
      },
    });
  }

  async readChannels(): Promise<void> {
    if (this.#work.packages.length === 0) return this.register();
    const { name } = this.#choices.pick(this.#work.packages);
    await this.#client.send({
      method: 'GET',
      path: `/v1/bin/${name}/releases`,
      token: this.#work.token,
      understand({ status, body }) {
        if (status !== 200) return undefined;
        const map = body['channel-map'] as { channel: string; revision: number }[];
        const is = channelText(map.map(({ channel, revision }) => [channel, revision] as const));
        return { outcome: 'read', claims: [{ key: `channels bin/${name}`, is }] };
      },
    });
  }

  async release(): Promise<void> {
    const subject = this.#findReleasable();
    if (subject === undefined) return this.#awaitRevision(this.#ungated());
    const channel = this.#choices.pick(channels);
    const revision = this.#choices.below(5) === 0 ? null : this.#choices.between(1, subject.newest);
    await this.#client.send({
      method: 'POST',
      path: `/v1/bin/${subject.name}/releases`,
      token: this.#work.token,
      body: [{ channel, revision }],
      change: { action: 'push_releases', object: `bin/${subject.name}`, details: { releases: [[channel, revision]] } },
      understand: ({ status }) => (status === 200 ? { outcome: 'done' } : undefined),
    });
  }

  /** A package with a revision, whose releases wait for no approval. */
  #findReleasable(): SharedPackage | undefined {
    const ready = this.#ungated().filter(({ newest }) => newest > 0);
    return ready.length === 0 ? undefined : this.#choices.pick(ready);
  }

  readonly #ungated = (): SharedPackage[] => this.#work.packages.filter(({ isGated }) => !isGated);

  /** Pushes a first revision of one of the packages, or asks for the review of what was pushed. */
  async #awaitRevision(packages: readonly SharedPackage[]): Promise<void> {
    if (packages.length === 0) return this.register();
    const subject = this.#choices.pick(packages);
    if (subject.lastUpload === undefined || this.#choices.below(4) === 0) await this.#push(subject);
    else await this.#readReview(subject, subject.lastUpload);
  }

  /** A release of two revisions: the second one is missing, so neither is released. */
  async releaseMissing(): Promise<void> {
    const subject = this.#findReleasable();
    if (subject === undefined) return this.#awaitRevision(this.#ungated());
    const object = `bin/${subject.name}`;
    await this.#client.send({
      method: 'POST',
      path: `/v1/${object}/releases`,
      token: this.#work.token,
      body: [
        { channel: 'latest/edge', revision: 1 },
        { channel: 'latest/beta', revision: 100_000 },
      ],
      change: { action: 'push_releases', object, details: { releases: 'impossible' } },
      understand: ({ status }) => (status === 400 ? { outcome: 'refused' } : undefined),
    });
  }

  async push(): Promise<void> {
    if (this.#work.packages.length === 0) return this.register();
    await this.#push(this.#choices.pick(this.#work.packages));
  }

  async #push(subject: SharedPackage): Promise<void> {
    const upload = await this.#upload();
    if (upload === undefined) return;
    const { packages } = this.#work;
    if (++subject.pushes === maxPushes) packages.splice(packages.indexOf(subject), 1);
    const object = `bin/${subject.name}`;
    // A client that gets no answer asks again.
    for (let tries = 0; tries < 3; tries++) {
      const reply = await this.#client.send({
        method: 'POST',
        path: `/v1/${object}/revisions`,
        token: this.#work.token,
        body: { 'upload-id': upload },
        change: { action: 'push_revision', object, details: { upload } },
        understand: ({ status }) =>
          status === 200 || status === 409
            ? { outcome: 'done', claims: [{ key: `upload ${upload}`, isNot: null }] }
            : undefined,
      });
      if (reply !== undefined) break;
    }
    subject.lastUpload = upload;
    await this.#readReview(subject, upload);
  }

  async #upload(): Promise<string | undefined> {
    const body = Buffer.concat([
      Buffer.from('--f\r\ncontent-disposition: form-data; name="binary"; filename="a"\r\n\r\n'),
      randomBytes(this.#choices.between(16, 2000)),
      Buffer.from('\r\n--f--\r\n'),
    ]);
    const reply = await this.#client.send({
      method: 'POST',
      path: '/unscanned-upload/',
      body,
      understand: ({ status }) => (status === 200 ? { outcome: 'read' } : undefined),
    });
    return reply?.body.upload_id as string | undefined;
  }

  async #readReview(subject: SharedPackage, upload: string): Promise<void> {
    const key = `upload ${upload}`;
    const reply = await this.#client.send({
      method: 'GET',
      path: `/v1/bin/${subject.name}/revisions/review?upload-id=${upload}`,
      token: this.#work.token,
      understand({ status, body }) {
        if (status === 404) return { outcome: 'read', claims: [{ key, is: null }] };
        if (status !== 200) return undefined;
        const [review] = body.revisions as { status: string; revision: number | null }[];
        const is = review!.status === 'approved' ? `revision ${review!.revision}` : 'waiting';
        return { outcome: 'read', claims: [{ key, is }] };
      },
    });
    const revision = Number(reply?.body.revisions?.[0]?.revision ?? 0);
    subject.newest = Math.max(subject.newest, revision);
  }
}
