// How a database of a server is reached: its address, and what the server knows the store by.
import { setTimeout as sleep } from 'node:timers/promises';

import { placeOf, readAddress, type PostgresAddress } from './address.ts';
import { Connection, patience, type Purpose } from './connection.ts';
import type { Counts } from './counts.ts';
import { cannotConnect, mayPass, NoConnection } from './errors.ts';

/** Asked for the password where the address says none, each time a connection is opened. */
export type Password = (() => string | undefined) | undefined;

export interface ReachOptions {
  password?: Password;
  /** Told once, after a moment, that the server is waited for whose database is in this place. */
  waits?: ((place: string) => void) | undefined;
  counts?: Counts;
  /** How many milliseconds a server is waited for that is starting, or has too much to do to answer. */
  lasting?: number;
}

export interface Reach {
  address: PostgresAddress;
  /** Opens a connection, or throws why there is none, after so many milliseconds of silence: whoever has a database open tries again himself. */
  open(purpose: Purpose, time?: number): Promise<Connection>;
  /** Opens the first one and does something on it, from its start again where the server was not there for all of it. */
  begin<Done>(purpose: Purpose, first: (connection: Connection) => Promise<Done>): Promise<Done>;
}

/** As long as somebody waits who has typed a command, unless he is told otherwise. */
const longest = 10_000;

/** After so many milliseconds he is told what is waited for. */
const moment = 1000;

/** Milliseconds between two tries. */
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
            // One that takes that long for every connection would otherwise be given up each time.
            time = Math.max(patience, left - pause);
          }
        }
      } finally {
        clearTimeout(telling);
      }
    },
  };
}

/** Of a connection that was lost when it had hardly begun the system says little. */
const inWords = (address: PostgresAddress, error: unknown): unknown =>
  !(error instanceof NoConnection) && mayPass(error) ? cannotConnect(address, error) : error;

function withPassword(address: PostgresAddress, password: NonNullable<Password>): PostgresAddress {
  try {
    return { ...address, password: password() ?? address.password };
  } catch (cause) {
    throw new NoConnection(`cannot open ${placeOf(address)}`, { cause, saysAll: false });
  }
}
