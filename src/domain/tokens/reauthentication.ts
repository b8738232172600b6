// The refusal of an act before which the account must prove its credentials again.
import { Refusal } from '../refusal.ts';

export class ReauthenticationRequired extends Refusal {
  readonly maxAgeMinutes: number;

  constructor(maxAgeMinutes: number) {
    super(
      'forbidden',
      `This needs a password that was entered within the last ${String(maxAgeMinutes)} minutes. Enter yours again.`,
    );
    this.maxAgeMinutes = maxAgeMinutes;
  }
}
