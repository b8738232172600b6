// Loaded before larder (`node --import`): its clock differs by the milliseconds in the file with the name of this host,
// in the folder that LARDER_CLOCK names.
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

const file = join(process.env['LARDER_CLOCK'] ?? '', hostname());
const HostDate = Date;
let shiftMs = 0;

function readShift(): void {
  try {
    shiftMs = Number(readFileSync(file, 'utf8'));
  } catch {
    // There is no shift yet.
  }
}

class ShiftedDate extends HostDate {
  constructor(...parts: [] | [number]) {
    super(...(parts.length === 0 ? ([HostDate.now() + shiftMs] as const) : parts));
  }

  static override now(): number {
    return HostDate.now() + shiftMs;
  }
}

globalThis.Date = ShiftedDate as typeof Date;
readShift();
setInterval(readShift, 50).unref();
