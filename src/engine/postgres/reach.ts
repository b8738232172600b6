// How a database of a server is reached: its address, and what the server knows the store by.
import { placeOf, readAddress, type PostgresAddress } from './address.ts';
import { Connection } from './connection.ts';
import type { Counts } from './counts.ts';
import { NoConnection } from './errors.ts';

/** Asked for the password where the address says none, each time a connection is opened. */
export type Password = (() => string | undefined) | undefined;

export interface Reach {
  address: PostgresAddress;
  open(purpose: Parameters<typeof Connection.open>[1]): Promise<Connection>;
}

export function reach(text: string, password?: Password, counts?: Counts): Reach {
  const address = readAddress(text);
  return {
    address,
    open: async (purpose) =>
      Connection.open(password === undefined ? address : withPassword(address, password), purpose, counts),
  };
}

function withPassword(address: PostgresAddress, password: NonNullable<Password>): PostgresAddress {
  try {
    return { ...address, password: password() ?? address.password };
  } catch (cause) {
    throw new NoConnection(`cannot open ${placeOf(address)}`, { cause, saysAll: false });
  }
}
