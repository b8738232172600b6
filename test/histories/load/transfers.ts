// Transfers of another site: a courier receives them by a command, and clients settle them over HTTP.
import type { ExecFileException } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Claim, History } from '../history.ts';
import type { PreparedTransfer, RunCommand } from './prepared-transfers.ts';
import { messageOf, refusedWith, type Receipt, type SharedWork, type WorkingClient } from './shared-work.ts';

const transferKey = (id: string): string => `transfer/${id}`;
const path = (id: string, verb = ''): string => `/internal/v1/transfers/${id}${verb}`;

/** The claims of a refusal to settle a transfer; undefined for a refusal that no rule explains. */
function claimsOfRefusal(key: string, message: string): Claim[] | undefined {
  const [, status] = /^The transfer \w+ was (accepted|discarded|withdrawn) at /.exec(message) ?? [];
  if (status !== undefined) return [{ key, is: status }];
  const [, floor] = /, and number (\d+) was already accepted\. Earlier numbers are refused\.$/.exec(message) ?? [];
  if (floor !== undefined) return [{ key: 'floor depot', is: floor }];
  if (/ was not accepted, or was withdrawn already\.$/.test(message)) return [{ key, isNot: 'accepted' }];
  return undefined;
}

interface Settlement {
  id: string;
  verb: string;
  body: unknown;
  /** The receipt of the transfer when its preview was read. */
  previewed: Receipt;
}

/** Sends a request to settle a transfer. */
async function settle({ client, work }: WorkingClient, { id, verb, body, previewed }: Settlement): Promise<void> {
  const key = transferKey(id);
  await client.send({
    method: 'POST',
    path: path(id, `/${verb}`),
    token: work.token,
    body,
    change: { action: `${verb}_transfer`, object: key },
    understand({ status, body: answer }) {
      // A repeated acceptance finds the transfer accepted.
      if (status === 200) return { outcome: 'done', claims: verb === 'accept' ? [{ key, is: 'accepted' }] : [] };
      if (status === 404) return refusedWith({ key, is: null });
      if (status !== 409) return undefined;
      const message = messageOf(answer);
      const { isIncomplete, begun } = work.receipts.get(id)!;
      const isArriving = previewed.isIncomplete || isIncomplete || begun > previewed.begun;
      if (isArriving && refusesIncomplete.test(message)) return refusedWith({ key, is: 'waiting' });
      const claims = claimsOfRefusal(key, message);
      return claims && refusedWith(...claims);
    },
  });
}

/** The refusals of a transfer whose content arrives at the moment. */
const refusesIncomplete = new RegExp(
  ': (?:Its content is neither in the transfer nor here|It has not been reviewed yet)\\. ' +
    '|^The transfer would now make other changes than the preview showed\\.',
);

/** Looks at the transfer that was received last, and settles it in one of three ways. */
export async function settleTransfer(working: WorkingClient): Promise<void> {
  const { client, work, choices } = working;
  const { received: id } = work;
  if (id === undefined) return;
  const key = transferKey(id);
  const previewed = { ...work.receipts.get(id)! };
  const reply = await client.send({
    method: 'GET',
    path: path(id),
    token: work.token,
    understand({ status, body }) {
      if (status === 404) return { outcome: 'read', claims: [{ key, is: null }] };
      return status === 200 ? { outcome: 'read', claims: [{ key, is: body.status as string }] } : undefined;
    },
  });
  if (reply?.status !== 200) return;
  const verb = choices.weighted({ accept: 6, discard: 2, withdraw: 2 });
  // Exactly what the preview shows is accepted.
  const body = verb === 'accept' ? { seen: reply.body.digest as string } : undefined;
  await settle(working, { id, verb, body, previewed });
}

/** Reads the states of all transfers; a transfer that is not in the list was not received. */
export async function listTransfers({ client, work }: Pick<WorkingClient, 'client' | 'work'>) {
  return client.send({
    method: 'GET',
    path: '/internal/v1/transfers?page-size=500',
    token: work.token,
    understand({ status, body }) {
      if (status !== 200) return undefined;
      const states = statesIn(body);
      const claims = work.transfers.map(({ id }) => ({ key: transferKey(id), is: states.get(id) ?? null }));
      return { outcome: 'read', claims };
    },
  });
}

const statesIn = (body: { transfers: { id: string; status: string }[] }): Map<string, string> =>
  new Map(body.transfers.map(({ id, status }) => [id, status]));

/** How often a transfer is received at most, after it was discarded. */
const maxVisits = 4;

/** Receives one transfer after the other by the command, each several times. */
export class Courier {
  readonly #history: History;
  readonly #run: RunCommand;
  readonly #working: Pick<WorkingClient, 'client' | 'work'>;
  #media = 0;

  constructor(history: History, run: RunCommand, working: Pick<WorkingClient, 'client' | 'work'>) {
    this.#history = history;
    this.#run = run;
    this.#working = working;
  }

  /** Works until the run is over, with a pause after each command, which costs a second of a processor. */
  async run(pauseMs: number): Promise<void> {
    const { work, client } = this.#working;
    for (const transfer of work.transfers) {
      for (let visit = 0; visit < maxVisits && !work.isOver; visit++) {
        if (await this.#receive(transfer)) this.#handOut(transfer);
        await this.#pause(pauseMs);
        if (await this.#isSettled(transfer)) break;
      }
    }
    client.close();
  }

  async #pause(milliseconds: number): Promise<void> {
    for (let waitedMs = 0; waitedMs < milliseconds && !this.#working.work.isOver; waitedMs += 100) await sleep(100);
  }

  /** Has half of the clients settle a transfer at the same moment. */
  #handOut({ id }: PreparedTransfer): void {
    const { work } = this.#working;
    work.received = id;
    work.settling = 4;
  }

  async #isSettled({ id }: PreparedTransfer): Promise<boolean> {
    const reply = await listTransfers(this.#working);
    const state = reply === undefined ? undefined : statesIn(reply.body).get(id);
    return state === 'accepted' || state === 'withdrawn';
  }

  readonly #receiving = async (file: string, medium: string): Promise<CommandResult> =>
    (await this.#run('transfer', 'receive', file, '--media', medium)) as CommandResult;

  /** Receives a transfer; its entry is known by the name of the medium. Returns whether the transfer is there. */
  async #receive({ id, file }: PreparedTransfer): Promise<boolean> {
    const [medium, key] = [`disc-${++this.#media}`, transferKey(id)];
    const change = { action: 'receive_transfer', object: key, details: { media: medium } };
    const { receipts } = this.#working.work;
    const receipt = { begun: 1 + (receipts.get(id)?.begun ?? 0), isIncomplete: true };
    receipts.set(id, receipt);
    const answered = this.#history.send(`larder transfer receive, from ${medium}`, change);
    const result = await this.#receiving(file, medium).catch(resultOf);
    const { status, error, lacking = [] } = result;
    if (error !== undefined) {
      const claims = claimsOfRefusal(key, error);
      if (claims !== undefined) answered({ outcome: 'refused', requestId: medium, answer: error, claims });
      else if (result.isAway === true) answered({ outcome: 'unknown', answer: error });
      else throw new Error(`unexpected answer to larder transfer receive: ${error}`);
      return false;
    }
    receipt.isIncomplete = lacking.length > 0;
    const isEarlier = status !== undefined;
    answered({
      outcome: isEarlier ? 'refused' : 'done',
      requestId: medium,
      answer: JSON.stringify(result),
      claims: isEarlier ? [{ key, is: status }] : [],
    });
    return true;
  }
}

interface CommandResult {
  /** The status of a transfer that was settled before. */
  status?: string;
  /** The numbers of the missing parts. */
  lacking?: number[];
  error?: string;
  code?: string;
  /** Whether the process was killed, or its store or disk was away. */
  isAway?: boolean;
}

const awayCodes = ['remote-service-unavailable', 'insufficient-storage'];
const awayErrors = /^(?:cannot open|The (?:database|server|bucket)) /;
/** The host was just ended or started. */
const awayHosts = /has no process at the moment|nsenter: /;

/** The result of a command that failed. */
function resultOf(problem: unknown): CommandResult {
  const { stdout = '', stderr = '', message } = problem as ExecFileException;
  const last = stderr.trim().split('\n').at(-1)!;
  // Exit code 1 with an output: parts are missing, because the transfer was discarded at the same moment.
  if (stdout !== '') return JSON.parse(stdout) as CommandResult;
  const { error, code = '' } = last.startsWith('{') ? (JSON.parse(last) as CommandResult) : {};
  // A killed command says nothing, or its progress.
  if (error === undefined) return { error: message, isAway: wasKilled(problem as ExecFileException) };
  return { error, isAway: awayCodes.includes(code) || awayErrors.test(error) };
}

/** A shell reports 128 and the number of the signal. */
const wasKilled = ({ signal, code, message }: ExecFileException): boolean =>
  typeof signal === 'string' || Number(code) === 128 + constants.signals.SIGKILL || awayHosts.test(message);

/** Whether a client has to help settle the transfer that has just been received. */
export function takesPart(work: SharedWork): boolean {
  if (work.settling === 0) return false;
  work.settling--;
  return true;
}
