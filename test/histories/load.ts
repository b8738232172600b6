// The work of a client: reads, logins, pushes, releases and revocations, on names and sessions that all clients share.
import { randomBytes } from 'node:crypto';

import { conditionsOf } from '#src/macaroons/codec/macaroon.ts';
import { readToken } from '#src/macaroons/codec/text.ts';
import type { RecordingClient } from './client.ts';
import type { Claim } from './history.ts';
import { channelText } from './model.ts';
import type { Choices } from './random.ts';

/** The names and sessions of a run, as its clients know them. */
export class SharedWork {
  /** The credential of the store administrator, for logins. */
  readonly credential: string;
  /** The token of the store administrator. */
  readonly token: string;
  readonly sessions: { token: string; key: string }[] = [];
  readonly packages: { name: string; newest: number; pushes: number }[] = [];
  readonly prefix: string;
  names = 0;
  isOver = false;

  constructor(credential: string, token: string, seed: number) {
    this.credential = credential;
    this.token = token;
    this.prefix = `s${seed}-`;
  }
}

const maxSessions = 40;
const maxPackages = 6;
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

  constructor(client: RecordingClient, work: SharedWork, choices: Choices) {
    this.#client = client;
    this.#work = work;
    this.#choices = choices;
  }

  /** Works until the run is over. */
  async run(): Promise<void> {
    while (!this.#work.isOver) await this.step();
    this.#client.close();
  }

  async step(): Promise<void> {
    await this[this.#choices.weighted(weights)]();
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

  async register(): Promise<void> {
    const { prefix, packages, token } = this.#work;
    // Sometimes a name that another client registers at the same moment.
    const name = `${prefix}${this.#choices.below(4) === 0 ? this.#work.names : ++this.#work.names}`;
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
    if (reply?.status === 200 && packages.length < maxPackages) packages.push({ name, newest: 0, pushes: 0 });
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
    const subject = this.#work.packages.find(({ newest }) => newest > 0);
    if (subject === undefined) return this.push();
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

  /** A release of two revisions: the second one is missing, so neither is released. */
  async releaseMissing(): Promise<void> {
    const subject = this.#work.packages.find(({ newest }) => newest > 0);
    if (subject === undefined) return this.push();
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
    const subject = this.#choices.pick(this.#work.packages);
    const upload = await this.#upload();
    if (upload === undefined) return;
    if (++subject.pushes > maxPushes) this.#work.packages.splice(this.#work.packages.indexOf(subject), 1);
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

  async #readReview(subject: SharedWork['packages'][number], upload: string): Promise<void> {
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
