// The parts of the npm package `macaroon`, which has no types of its own, that the tests compare with.
declare module 'macaroon' {
  export interface PackageMacaroon {
    readonly identifier: Uint8Array;
    readonly location: string;
    readonly signature: Uint8Array;
    addFirstPartyCaveat(condition: string): void;
    addThirdPartyCaveat(rootKey: Uint8Array, identifier: Uint8Array, location: string): void;
    bindToRoot(signature: Uint8Array): void;
    exportJSON(): unknown;
    /** Calls back for each condition; a falsy answer means that it is met. Throws when anything is wrong. */
    verify(rootKey: Uint8Array, check: (condition: string) => string | null, discharges?: PackageMacaroon[]): void;
  }
  export function newMacaroon(parts: {
    identifier: Uint8Array;
    location: string;
    rootKey: Uint8Array;
    version: 1 | 2;
  }): PackageMacaroon;
  export function importMacaroon(source: unknown): PackageMacaroon;
}
