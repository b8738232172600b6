// Signs with keys in a device, such as an HSM, a smart card or a TPM, through a program that speaks the protocol of snapd for external
// keypair managers (snapd, asserts/extkeypairmgr.go). Larder never sees a private key or a PIN.
import { createDigest, type KeyObject } from '#domain/cryptography.ts';
import { rmSync, statSync, writeFileSync } from 'node:fs';

import type { Config } from '#configuration/config.ts';
import { createConcurrencyLimit, type ConcurrencyLimit } from '#domain/concurrency-limit.ts';
import { Refusal } from '#domain/refusal.ts';
import { readIfPresent } from '#files/read.ts';
import { describeFault, textOf, type FactsOf, type Fault } from '#platform/faults.ts';
import {
  chooseMechanism,
  InvalidSignature,
  makeKeyThere,
  readFeatures,
  readKeyNames,
  readPublicKey,
  signingOfAssertion,
  signingOfBytes,
  type DeviceSignatureUse,
  type ManagedKey,
  type ManagedKeyPurpose,
  type ManagedSigning,
} from './manager-answers.ts';
import { KeyManagerError, runManager, type ManagerProgram } from './manager-program.ts';

/** A key that the device must have. */
export interface CheckedKey extends ManagedKey {
  readonly purpose: ManagedKeyPurpose;
}

export interface KeyManager {
  /** Reads the public key with this name. Refuses a key that is not usable for the purpose: for an assertion, a key that snapd refuses. */
  publicKey(name: string, purpose?: ManagedKeyPurpose): Promise<KeyObject>;
  /** Returns the text of a signature, after it is verified with the public key. Refuses with `sealed` if the key manager does not sign. */
  sign(name: string, publicKey: KeyObject, content: string, signedAt: Date): Promise<string>;
  /** Like `sign`, for bytes. */
  signBytes(key: ManagedKey, bytes: Uint8Array, use: DeviceSignatureUse): Promise<Buffer>;
  /** Asks whether the key manager has these keys. `faults` then reports missing ones. */
  probe(keys: readonly CheckedKey[]): Promise<void>;
  /** The faults that the last calls have found. */
  faults(): Fault[];
  /** Permits another attempt with a PIN that was refused. Called when the configuration was read again. */
  retry(): void;
  /** Ends the programs that run. */
  close(): void;
}

export interface KeyManagerOptions {
  /** The current settings. Another object means that they were read again. */
  settings: () => Config['keys'];
  /** The environment of this process. */
  env: Readonly<Record<string, string | undefined>>;
  /**
   * A file for all processes of the store. It exists while the device has refused the PIN, and identifies the credential without its
   * content, so that no process tries the same PIN again.
   */
  refusedPinFile: string;
  /**
   * Lets one process of the host try a PIN at a time, until `close`. Waits until `end` in milliseconds of `performance.now()`; undefined if
   * it is too late.
   */
  lockPin: (end: number) => Promise<{ close(): unknown } | undefined>;
}

/** The name of that file in the data directory. */
export const refusedPinFile = 'refused-pin';

const maxWaitingCalls = 100;
const maxListedNames = 10;
const maxNameLength = 128;

export function createKeyManager(options: KeyManagerOptions): KeyManager {
  const stopping = new AbortController();
  let session: ManagerSession | undefined;
  const current = (): ManagerSession => {
    const settings = options.settings();
    if (session?.settings !== settings) session = new ManagerSession(settings, options, stopping.signal);
    return session;
  };
  return {
    publicKey: (name, purpose = 'assertion') => orRefuse(() => current().publicKey(name, purpose)),
    sign: (name, publicKey, content, signedAt) =>
      orRefuse(() => current().sign(signingOfAssertion({ name, publicKey }, content, signedAt))),
    signBytes: (key, bytes, use) => orRefuse(() => current().sign(signingOfBytes(key, bytes, use))),
    async probe(keys) {
      await current().probe(keys);
    },
    faults: () => current().faults(),
    retry() {
      session = undefined;
      rmSync(options.refusedPinFile, { force: true });
    },
    close() {
      stopping.abort();
    },
  };
}

/** The state of a key manager under settings that were read at one time. */
class ManagerSession {
  readonly settings: Config['keys'];
  readonly #options: KeyManagerOptions;
  readonly #stopping: AbortSignal;
  readonly #inTurn: ConcurrencyLimit;
  /** Until a credential has proved right, one call runs at a time, so that a wrong PIN is tried once. */
  readonly #alone: ConcurrencyLimit;
  #provenCredential: string | undefined;
  #offered: Promise<readonly unknown[]> | undefined;
  #refusedCredential: string | undefined;
  /** Why the last call failed: it did not reach the key, or its signature was invalid. */
  #unreachable: string | undefined;
  #unusable: string | undefined;

  constructor(settings: Config['keys'], options: KeyManagerOptions, stopping: AbortSignal) {
    const waiting = {
      atMost: maxWaitingCalls,
      ofClient: maxWaitingCalls,
      refusal: 'Too many signatures wait for the key manager. Try again in a few seconds.',
    };
    this.settings = settings;
    this.#options = options;
    this.#stopping = stopping;
    this.#inTurn = createConcurrencyLimit({ concurrency: settings.concurrent, waiting });
    this.#alone = createConcurrencyLimit({ concurrency: 1, waiting });
  }

  async publicKey(name: string, purpose: ManagedKeyPurpose): Promise<KeyObject> {
    const end = this.#deadline();
    let der: Buffer;
    try {
      der = await this.#call(['get-public-key', '-f', 'DER', '-k', name], end);
    } catch (error) {
      if (error instanceof KeyManagerError) await this.#refuseUnknown(name, purpose);
      throw error;
    }
    return readPublicKey(name, der, purpose);
  }

  async sign<Signature>(signing: ManagedSigning<Signature>): Promise<Signature> {
    const end = this.#deadline();
    if (this.#provenCredential === this.#credential()) return this.#signUnlessRefused(signing, end);
    return this.#alone(() => this.#signLocked(signing, end));
  }

  async probe(keys: readonly CheckedKey[]): Promise<void> {
    try {
      for (const { name, publicKey, purpose } of keys) {
        const der = await this.#call(['get-public-key', '-f', 'DER', '-k', name], this.#deadline());
        const now = readPublicKey(name, der, purpose);
        if (!now.equals(publicKey)) throw new KeyManagerError(`it has another key with the name '${name}'`);
      }
      this.#unreachable = undefined;
    } catch (error) {
      this.#unreachable = reasonOf(error);
    }
  }

  faults(): Fault[] {
    const because = this.#isPinRefused() ? pinRefused : (this.#unusable ?? this.#unreachable);
    return because === undefined ? [] : [faultOf({ because, isPinRefused: because === pinRefused })];
  }

  /** Other processes of the host wait until the credential is proven or refused. */
  async #signLocked<Signature>(signing: ManagedSigning<Signature>, end: number): Promise<Signature> {
    const lock = await this.#options.lockPin(end);
    if (lock === undefined) throw new KeyManagerError('another process of the store waits for the device');
    try {
      return await this.#signUnlessRefused(signing, end);
    } finally {
      lock.close();
    }
  }

  async #signUnlessRefused<Signature>(signing: ManagedSigning<Signature>, end: number): Promise<Signature> {
    if (this.#isPinRefused()) throw new KeyManagerError(pinRefused, { isPinRefused: true });
    const credential = this.#credential();
    try {
      const mechanism = chooseMechanism(signing, await this.#findOffered(end));
      const output = await this.#call(['sign', '-m', mechanism, '-k', signing.name], end, signing.inputFor(mechanism));
      this.#provenCredential = credential;
      this.#unreachable = undefined;
      const signature = signing.read(mechanism, output);
      this.#unusable = undefined;
      return signature;
    } catch (error) {
      this.#record(error);
      throw error;
    }
  }

  #record(error: unknown): void {
    if (!(error instanceof KeyManagerError)) return;
    if (error instanceof InvalidSignature) this.#unusable = error.message;
    else if (error.isPinRefused) this.#refusePin();
    else this.#unreachable = error.message;
  }

  #refusePin(): void {
    this.#provenCredential = undefined;
    this.#refusedCredential = this.#credential();
    try {
      writeFileSync(this.#options.refusedPinFile, this.#refusedCredential, { mode: 0o600 });
    } catch {
      // The file is for the next start. If the disk is full, this process still remembers the refusal.
    }
  }

  #isPinRefused(): boolean {
    const refused = this.#refusedCredential ?? readIfPresent(this.#options.refusedPinFile);
    return refused !== undefined && refused === this.#credential();
  }

  /** Identifies the credential by the state of the files that the variables name: larder does not read the PIN. */
  #credential(): string {
    const { manager = '', environment } = this.settings;
    const files = environment.map((name) => this.#options.env[name]).filter((value) => value?.startsWith('/') === true);
    const states = [manager, ...(files as string[])].map((file) => {
      const state = statSync(file, { throwIfNoEntry: false });
      return state?.isFile() === true ? [file, state.ino, state.size, state.mtimeMs, state.ctimeMs] : [file];
    });
    return createDigest('cache').update(JSON.stringify(states)).digest('hex');
  }

  #findOffered(end: number): Promise<readonly unknown[]> {
    this.#offered ??= this.#call(['features'], end)
      .then(readFeatures)
      .catch((error: unknown) => {
        this.#offered = undefined;
        throw error;
      });
    return this.#offered;
  }

  /** Refuses the name of a key that the key manager does not list. The refusal contains the names that it lists. */
  async #refuseUnknown(name: string, purpose: ManagedKeyPurpose): Promise<void> {
    let names: string[];
    try {
      names = readKeyNames(await this.#call(['key-names'], this.#deadline()), purpose);
    } catch {
      // The device is unavailable, or does not list its keys: the error of the first call tells more.
      return;
    }
    if (names.includes(name)) return;
    const some = names
      .slice(0, maxListedNames)
      .map((each) => `'${each.slice(0, maxNameLength).replaceAll(/\p{C}/gu, ' ')}'`);
    const more = names.length > some.length ? ` and ${String(names.length - some.length)} more` : '';
    throw new Refusal(
      'resource-not-found',
      `The key manager has no key '${name}'; it has ${names.length === 0 ? 'no keys' : `${some.join(', ')}${more}`}. ${makeKeyThere(purpose)}`,
    );
  }

  /** The deadline of a call that begins now, by `performance.now()`. The wait for its turn counts. */
  readonly #deadline = (): number => performance.now() + this.settings.timeout_seconds * 1000;

  #call(args: readonly string[], end: number, input: string | Uint8Array = ''): Promise<Buffer> {
    return this.#inTurn(async () => {
      const timeoutMs = end - performance.now();
      if (timeoutMs > 0) return runManager(this.#program(), { args, input, timeoutMs, signal: this.#stopping });
      throw new KeyManagerError(`it had no turn within ${String(this.settings.timeout_seconds)} s`);
    });
  }

  #program(): ManagerProgram {
    const { manager, environment } = this.settings;
    if (manager === undefined) throw new KeyManagerError('keys.manager in larder.toml is not set');
    const values = environment.map((name) => [name, this.#options.env[name]]);
    return {
      path: manager,
      env: Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Record<string, string>,
    };
  }
}

const pinRefused = 'the device has refused the PIN';

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const faultOf = (facts: FactsOf<'keys-unavailable'>): Fault => describeFault('keys-unavailable', facts);

/** A caller reads the same words as in the faults of the store. */
async function orRefuse<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof KeyManagerError)) throw error;
    const { message: because, isPinRefused } = error;
    throw new Refusal(
      'sealed',
      textOf(faultOf({ because: isPinRefused ? pinRefused : because, isPinRefused })),
      undefined,
    );
  }
}
