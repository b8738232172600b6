// Issues device sessions: a device proves its serial and uses the session for 30 days.
import { parseAssertion, type Assertion } from '#assertions/format/assertion.ts';
import { verifyDeviceProof, namesFor, readProof, type DeviceProof } from '#assertions/devices/device-proof.ts';
import { nonceKept } from '#assertions/devices/request-ids.ts';
import { anyone } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import type { Services } from '#http/services.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { deviceRateKey, refundProof, refuseBeyondRateLimit, checkSessionLimit } from './rate-limits.ts';

/** Room for three assertions in JSON, where each line break takes one character more. */
const bodyLimit = 384 * 1024;
const sessionLifetimeMs = days(30);

export const deviceSession = operation({
  name: 'device_session',
  method: 'POST',
  path: '/api/v1/snaps/auth/sessions',
  since: 0,
  summary: 'Start a session for a device that proves its serial. The session identifies the device in later requests.',
  // A device that renews its session sends the former session too, possibly expired. It proves nothing here.
  access: anyone,
  body: 'DeviceSessionRequest',
  bodyLimit,
  response: 'DeviceSessionResponse',
  refuses: ['unauthorized', 'too-many-requests'],
  prefixed: false,
  errors: 'snapd',
  enabledBy: 'devices.snap',

  async handle(call) {
    const { body, deviceNonces, deviceSessions, records, authority, config, log } = call;
    refuseBeyondRateLimit(call);
    const moment = authority.latestTime();
    const proof = readProof({
      request: body['device-session-request'],
      serial: body['serial-assertion'],
      model: body['model-assertion'],
    });
    if (!deviceNonces.holds(proof.nonce, moment)) throw staleNonce();
    await vouchedFor(proof, call);
    refundProof(call);
    const counted = deviceRateKey(proof);
    const refusal = await records.ephemeral(async (tx) => {
      const tooMany = await checkSessionLimit(counted, moment, tx);
      if (tooMany !== undefined) return tooMany;
      const isFirst = await tx.deviceNonces.use(proof.nonce, counted, timestamp(after(moment, nonceKept)));
      return isFirst ? undefined : staleNonce();
    });
    if (refusal !== undefined) throw refusal;
    const { brandId: brand, model, serial, deviceKeyId, signedWith } = proof;
    const device = { brand, model, serial };
    // The clock of the device is only logged: boards without a battery start with any date.
    if (config.devices.remember) records.noteContact({ ...device, at: timestamp(call.now()) });
    log.info({ device, clock: proof.timestamp }, 'a device has a session');
    const session = {
      device,
      store: config.store.id,
      deviceKeyId,
      signedWith,
      until: after(moment, sessionLifetimeMs),
    };
    return { macaroon: deviceSessions.write(session) };
  },
});

/** Refuses a device if its serial is revoked here, or if its chain of trust does not reach a trusted root. */
async function vouchedFor(proof: DeviceProof, { records, roots, now }: Pick<Services, 'records' | 'roots' | 'now'>) {
  const { brandId, model: modelName, serial: ownSerial } = proof;
  const revoked = await records.revokedSerials.find(ownSerial, `${brandId}/${modelName}`);
  if (revoked !== null) {
    const when = revoked.revokedAt.slice(0, 10);
    throw new Refusal('unauthorized', `The serial '${ownSerial}' was revoked here on ${when}: ${revoked.because}`);
  }
  const names = namesFor(proof);
  const stored = await records.assertions.listOf([...names.keys, names.model, names.serial]);
  const read = (name: string): Assertion[] =>
    stored.filter((assertion) => assertion.name === name).map(({ text }) => parseAssertion(text));
  const [[model], [serial]] = [read(names.model), read(names.serial)];
  verifyDeviceProof(proof, { roots: roots(), signerKeys: names.keys.flatMap(read), model, serial, now: now() });
}

const staleNonce = (): Refusal =>
  new Refusal(
    'unauthorized',
    'This store did not issue the nonce within the last ten minutes, or the nonce has been used. Request a new one.',
  );
