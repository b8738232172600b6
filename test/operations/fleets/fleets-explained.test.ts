// For any fleets, an explanation, the answers to devices and a separate model of the rules agree.
import fc from 'fast-check';
import t from 'tap';

import type { FleetExplanation } from '#contract/wire.ts';
import { pumpOf, refreshTo, startWithFleets } from './world.ts';

t.setTimeout(600_000);

const kinds = { serial: 'acme/pump/0001', model: 'acme/pump', brand: 'acme', store: 'larder' } as const;
type Kind = keyof typeof kinds;
const order = ['serial', 'model', 'brand', 'store'] as const;
const channels = ['stable', 'candidate', 'beta', 'edge'] as const;
type Risk = (typeof channels)[number];

/** What a fleet does to a channel. */
type Setting = { mode: 'pin'; revision: number } | { mode: 'hold' } | { mode: 'follow'; follows: Risk };

interface Step {
  kind: Kind;
  channel: Risk;
  setting: Setting | undefined;
  hidden: boolean | undefined;
  release: [Risk, number | null] | undefined;
}

const setting = fc.oneof(
  fc.record({ mode: fc.constant('pin' as const), revision: fc.integer({ min: 1, max: 6 }) }),
  fc.constant({ mode: 'hold' as const }),
  fc.record({ mode: fc.constant('follow' as const), follows: fc.constantFrom(...channels) }),
);

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...order),
  channel: fc.constantFrom(...channels),
  setting: fc.option(setting, { nil: undefined, freq: 4 }),
  hidden: fc.option(fc.boolean(), { nil: undefined, freq: 2 }),
  release: fc.option(fc.tuple(fc.constantFrom(...channels), fc.option(fc.integer({ min: 1, max: 6 }), { freq: 5 })), {
    nil: undefined,
  }),
});

/** The rules of fleets, written from the guide and without the code of the store. */
class Model {
  readonly released = new Map<Risk, number>([
    ['stable', 3],
    ['candidate', 4],
    ['edge', 6],
  ]);
  readonly settings = new Map<string, { revision: number } | { follows: Risk }>();
  readonly hidden = new Set<Kind>();

  set(kind: Kind, channel: Risk, value: Setting): void {
    const revision =
      value.mode === 'pin' ? value.revision : value.mode === 'hold' ? this.released.get(channel) : undefined;
    this.settings.set(
      `${kind} ${channel}`,
      value.mode === 'follow' ? { follows: value.follows } : { revision: revision! },
    );
  }

  inStore(channel: Risk): number | null {
    for (let at = channels.indexOf(channel); at >= 0; at--) {
      const revision = this.released.get(channels[at]!);
      if (revision !== undefined) return revision;
    }
    return null;
  }

  given(channel: Risk, fleets: readonly Kind[]): number | null {
    const concerned = fleets.find(
      (kind) => this.hidden.has(kind) || channels.some((each) => this.settings.has(`${kind} ${each}`)),
    );
    if (concerned !== undefined && this.hidden.has(concerned)) return null;
    for (let at = channels.indexOf(channel); at >= 0; at--) {
      const kind = fleets.find((each) => this.settings.has(`${each} ${channels[at]!}`));
      const decided = kind && this.settings.get(`${kind} ${channels[at]!}`);
      if (decided === undefined) {
        const revision = this.released.get(channels[at]!);
        if (revision !== undefined) return revision;
      } else if ('revision' in decided) return decided.revision;
      else {
        const followed = this.inStore(decided.follows);
        if (followed !== null) return followed;
      }
    }
    return null;
  }
}

t.test('an explanation is the answer that the device gets, for any fleets', async (t) => {
  const { store, id, acme, root, fleet } = await startWithFleets(t);
  const model = new Model();
  const devices = {
    'acme/pump/0001': { fleets: order, headers: await pumpOf(store, 'pump', '0001') },
    'acme/pump/0002': { fleets: order.slice(1), headers: await pumpOf(store, 'pump', '0002') },
    'acme/mill/0001': { fleets: order.slice(2), headers: await pumpOf(store, 'mill', '0001') },
  };
  for (const kind of order) await fleet(`create ${kind}s --${kind} ${kinds[kind]}`);
  const post = async (path: string, body: object): Promise<boolean> => {
    const { status, body: answer } = await root.post(`/internal/v1/packages/snap/hello/fleets/${path}`, body);
    if (status >= 500) throw new Error(JSON.stringify(answer));
    return status < 300;
  };
  const explain = async (device: string): Promise<FleetExplanation> => {
    const { status, body } = await root.get(`/internal/v1/packages/snap/hello/fleet-explanation?device=${device}`);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body as FleetExplanation;
  };
  let [accepted, compared] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
      for (const { kind, channel, setting: chosen, hidden, release } of steps) {
        if (release !== undefined) {
          const [risk, revision] = release;
          await acme.post('/v1/snap/hello/releases', [{ channel: risk, revision }]);
          if (revision === null) model.released.delete(risk);
          else model.released.set(risk, revision);
        }
        if (hidden !== undefined && (await post(`${kind}s/visibility`, { hidden })))
          model.hidden[hidden ? 'add' : 'delete'](kind);
        const isSet = await post(`${kind}s/channel`, { channel, ...(chosen ?? { mode: 'clear' }) });
        if (isSet && chosen === undefined) model.settings.delete(`${kind} ${channel}`);
        if (isSet && chosen !== undefined) model.set(kind, channel, chosen);
        accepted += Number(isSet);
      }
      for (const [name, { fleets, headers }] of Object.entries(devices)) {
        const { channels: explained } = await explain(name);
        for (const channel of channels) {
          const expected = model.given(channel, fleets);
          for (let time = 0; time < 2; time++)
            t.equal(await refreshTo(store, id, { headers, channel, revision: 1 }), expected, `${name} ${channel}`);
          const line = explained.find((each) => each.channel === `latest/${channel}`);
          if (line !== undefined) t.equal(line.revision, expected, `${name} ${channel}, explained: ${line.because}`);
          compared += Number(line !== undefined);
        }
      }
    }),
    // A fixed seed, so that enough is set and compared each time.
    process.env['LARDER_LONG'] === '1' ? { numRuns: 300 } : { numRuns: 12, seed: 1 },
  );
  t.ok(accepted > 5 && compared > 20, `${accepted} were set, and ${compared} compared`);
});
