// The plan of a rollout in its wire form.
import type { RolloutPlan as WireRolloutPlan, RolloutPlanRequest as WirePlanRequest } from '#contract/wire.ts';
import { readRolloutPlan, type RolloutPlan } from '#domain/releases/rollout.ts';

/** Reads a stated plan; null for none, undefined if the caller states nothing. */
export const readPlan = (stated: WirePlanRequest | null | undefined): RolloutPlan | null | undefined =>
  stated &&
  readRolloutPlan({
    steps: stated.steps,
    intervalSeconds: stated['interval-seconds'],
    bound: stated.failures,
    silentSeconds: stated['silent-seconds'],
    notify: stated.notify,
  });

export const presentPlan = ({
  steps,
  intervalSeconds,
  bound,
  silentSeconds,
  notify,
}: RolloutPlan): WireRolloutPlan => ({
  steps: [...steps],
  'interval-seconds': intervalSeconds,
  failures: bound,
  'silent-seconds': silentSeconds,
  notify: [...notify],
});
