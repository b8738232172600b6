// Opens connections to a PostgreSQL database with its address and password.
import { setTimeout as sleep } from 'node:timers/promises';

import { placeOf, readAddress, type PostgresAddress } from './address.ts';
import { Connection, patience, type Purpose } from './connection.ts';
import type { Counts } from './counts.ts';
import { cannotConnect, mayPass, NoConnection } from './errors.ts';

/** Called for the password, each time a connection is opened. If it returns undefined, the password of the address is used. */
export type Password = (() => string | undefined) | undefined;

export interface ReachOptions {
  password?: Password;
  /** Called once, with the place of the database, if the server has not answered after a second. */
  waits?: ((place: string) => void) | undefined;
  counts?: Counts;
  /** Milliseconds to wait for a server that is starting, or is too busy to answer. */
  lasting?: number;
}

export interface Reach {
  address: PostgresAddress;
  /**
   * Opens a connection, or throws the reason after `time` milliseconds of silence. It does not retry; a caller with an open database does.
   */
  open(purpose: Purpose, time?: number): Promise<Connection>;
  /** Opens the first connection and runs `first` on it. Retries both from the start if the connection is lost on the way. */
  begin<Done>(purpose: Purpose, first: (connection: Connection) => Promise<Done>): Promise<Done>;
}

/** Default for `lasting` in milliseconds: as long as a person waits for a command. */
const longest = 10_000;

/** After so many milliseconds `waits` is called. */
const moment = 1000;

/** Milliseconds between two attempts. */
const pause = 200;

export function reach(text: string, { password, waits, counts, lasting = longest }: ReachOptions = {}): Reach {
  const address = readAddress(text);
  const open = async (purpose: Purpose, time = patience): Promise<Connection> =>
    Connection.open(password === undefined ? address : withPassword(address, password), purpose, {
      counts,
      patience: time,
    });
  return {
    address,
    open,
    async begin(purpose, first) {
      const began = performance.now();
      const telling = waits && setTimeout(() => waits(placeOf(address)), moment);
      try {
        for (let time = patience; ;) {
          let connection: Connection | undefined;
          try {
            connection = await open(purpose, time);
            return await first(connection);
          } catch (error) {
            connection?.destroy();
            const left = lasting - (performance.now() - began);
            if (!mayPass(error) || left <= 0) throw inWords(address, error);
            await sleep(pause);
            // With the shorter timeout, a server that is slow with every connection would fail each attempt.
            time = Math.max(patience, left - pause);
          }
        }
      } finally {
        clearTimeout(telling);
      }
    },
  };
}

/** Describes a connection that was lost soon after it was opened, since the error of the system says little. */
const inWords = (address: PostgresAddress, error: unknown): unknown =>
  !(error instanceof NoConnection) && mayPass(error) ? cannotConnect(address, error) : error;

function withPassword(address: PostgresAddress, password: NonNullable<Password>): PostgresAddress {
  try {
    return { ...address, password: password() ?? address.password };
  } catch (cause) {
    throw new NoConnection(`cannot open ${placeOf(address)}`, { cause, saysAll: false });
  }
}
