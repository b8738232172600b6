// A service that was stopped, or cannot start, on a booted system: the part of the journey of the Debian package with
// the reasons from 'larder status', 'larder doctor', 'larder ready' and the journal, in the same words.
import type { Test } from 'tap';

import type { FaultCode } from '#platform/faults.ts';
import type { Container } from '#test/fixtures/servers/container.ts';
import { doctorShows, faultsIn, has } from '#test/faults/places.ts';

const code: FaultCode = 'service-down';
const configuration = '/var/lib/larder/larder.toml';

/** Begins and ends with a service that serves. */
export function aStoppedServiceShows(t: Test, container: Container): void {
  const { run } = container;
  run('systemctl', 'stop', 'larder');
  saidByAll(
    t,
    container,
    /^The service larder is not running \(inactive, dead\); its last line: Stopped larder\.service/,
  );
  run('systemctl', 'start', 'larder');
  saidByNone(t, container);

  // An address of no interface: the unit starts it again and again.
  const listens = /^listen = .*$/m.exec(run('cat', configuration))![0];
  cannotStart(t, container, {
    change: ['sed', '-i', 's/^listen = .*/listen = "192.0.2.1:8080"/', configuration],
    undo: ['sed', '-i', `s/^listen = .*/${listens}/`, configuration],
    because: /cannot listen on 192\.0\.2\.1:8080/,
  });
  cannotStart(t, container, {
    change: ['sed', '-i', '$ a [nonsense]', configuration],
    undo: ['sed', '-i', '$ d', configuration],
    because: /larder\.toml:\d+: .*nonsense/,
  });
  cannotStart(t, container, {
    change: ['chown', 'root', configuration],
    undo: ['chown', 'larder', configuration],
    because: /the directory belongs to larder, and larder\.toml to root/,
  });
}

interface Obstacle {
  change: readonly [string, ...string[]];
  undo: readonly [string, ...string[]];
  because: RegExp;
}

function cannotStart(t: Test, container: Container, { change, undo, because }: Obstacle): void {
  const { run } = container;
  run('systemctl', 'stop', 'larder');
  run(...change);
  t.match(container.try('systemctl', 'start', 'larder'), { code: 1 });
  const { says } = saidByAll(
    t,
    container,
    new RegExp(`^The service larder is not running \\(.*its last line: .*${because.source}`),
  );
  const [, line = ''] = /its last line: (.*)$/.exec(says) ?? [];
  const journal = run('journalctl', '--unit=larder', '--no-pager', '--output=cat', '--lines=40');
  t.ok(has(line)(journal), 'and so does the journal of the service', { line, journal });
  run('systemctl', 'stop', 'larder');
  run(...undo);
  run('systemctl', 'reset-failed', 'larder');
  run('systemctl', 'start', 'larder');
  saidByNone(t, container);
}

/** Every command says it; the fault as `larder status --json` has it. */
function saidByAll(t: Test, container: Container, words: RegExp) {
  const { out } = container.try('larder', 'status', '--json');
  const fault = faultsIn(out).find((candidate) => candidate.code === code);
  t.match(fault?.says, words, out);
  if (fault === undefined) throw new Error(`status does not show '${code}'`);
  // Each attempt of the unit to start has another state; the text of the reason stays.
  const [, reason = fault.says] = /; its last line: (.*)$/.exec(fault.says) ?? [];
  const { out: status } = container.try('larder', 'status');
  t.ok(has('The service larder is not running', reason, fault.remedy)(status), 'status', { status });
  const doctor = container.try('larder', 'doctor');
  doctorShows(t, { code: doctor.code ?? -1, out: doctor.out }, { ...fault, says: reason });
  const ready = container.try('larder', 'ready', '--timeout', '1s');
  t.equal(ready.code, 7);
  t.ok(has('The service larder is not running', reason, fault.remedy)(ready.out), 'ready', { ready: ready.out });
  return fault;
}

function saidByNone(t: Test, { run }: Container): void {
  for (const command of ['status', 'ready'])
    t.notOk(has('The service larder is not running')(run('larder', command)), `no longer in ${command}`);
  t.match(run('larder', 'doctor'), /ok {4}Server: served since/);
}
