// Opens connections to a PostgreSQL database with its address and password.
import { setTimeout as sleep } from 'node:timers/promises';

import { describeAddress, readAddress, type PostgresAddress } from '#contract/postgres-address.ts';
import { PostgresConnection, connectTimeoutMs, type ConnectionPurpose } from './connection.ts';
import type { PostgresCounts } from './counts.ts';
import { cannotConnect, mayPass, ConnectionFailure } from './errors.ts';

/** Called for the password, each time a connection is opened. If it returns undefined, the password of the address is used. */
export type PasswordSource = (() => string | undefined) | undefined;

export interface PostgresConnectorOptions {
  password?: PasswordSource;
  /** Called once, with the place of the database, if the server has not answered after a second. */
  waits?: ((place: string) => void) | undefined;
  counts?: PostgresCounts;
  /** Milliseconds to wait for a server that is starting, or is too busy to answer. */
  lasting?: number;
}

export interface PostgresConnector {
  address: PostgresAddress;
  /** Opens a connection. Throws if the server sends nothing for `time` milliseconds. Does not retry; readers and the write lane do. */
  open(purpose: ConnectionPurpose, time?: number): Promise<PostgresConnection>;
  /** Opens the first connection and runs `first` on it. Retries both from the start if the connection is lost on the way. */
  begin<Done>(purpose: ConnectionPurpose, first: (connection: PostgresConnection) => Promise<Done>): Promise<Done>;
}

/** Default for `lasting` in milliseconds: as long as a person waits for a command. */
const defaultMaxWaitMs = 10_000;

/** Milliseconds without a connection after which `waits` is called. */
const moment = 1000;

/** Milliseconds between two attempts. */
const pause = 200;

export function createConnector(
  text: string,
  { password, waits, counts, lasting = defaultMaxWaitMs }: PostgresConnectorOptions = {},
): PostgresConnector {
  const address = readAddress(text);
  const open = async (purpose: ConnectionPurpose, time = connectTimeoutMs): Promise<PostgresConnection> =>
    PostgresConnection.open(password === undefined ? address : withPassword(address, password), purpose, {
      counts,
      connectTimeoutMs: time,
    });
  return {
    address,
    open,
    async begin(purpose, first) {
      const began = performance.now();
      const noticeTimer = waits && setTimeout(() => waits(describeAddress(address)), moment);
      try {
        for (let time = connectTimeoutMs; ;) {
          let connection: PostgresConnection | undefined;
          try {
            connection = await open(purpose, time);
            return await first(connection);
          } catch (error) {
            connection?.destroy();
            const left = lasting - (performance.now() - began);
            if (!mayPass(error) || left <= 0) throw inWords(address, error);
            await sleep(pause);
            // With the shorter timeout, a server that is slow with every connection would fail each attempt.
            time = Math.max(connectTimeoutMs, left - pause);
          }
        }
      } finally {
        clearTimeout(noticeTimer);
      }
    },
  };
}

/** Describes a connection that was lost soon after it was opened, since the error of the system says little. */
const inWords = (address: PostgresAddress, error: unknown): unknown =>
  !(error instanceof ConnectionFailure) && mayPass(error) ? cannotConnect(address, error) : error;

function withPassword(address: PostgresAddress, password: NonNullable<PasswordSource>): PostgresAddress {
  try {
    return { ...address, password: password() ?? address.password };
  } catch (cause) {
    throw new ConnectionFailure(`cannot open ${describeAddress(address)}`, { cause, saysAll: false });
  }
}
