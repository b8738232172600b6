// Fleets: their rules, and their settings for the channels of snaps.
import {
  fleetKinds,
  isInFleet,
  kindOfSelector,
  partsOfSelector,
  selectorText,
  toSelector,
  type FleetKind,
} from '#domain/fleets/fleet.ts';
import { buildFleetView, type FleetOfDevice, type FleetSetting, type FleetView } from '#domain/fleets/fleet-view.ts';
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import { columns, joinRows, list, maxJoinedRows, sql, type Queries } from '#engine/database.ts';
import { memo, type MemoOptions } from '../memo.ts';

export interface Fleet {
  name: string;
  kind: FleetKind;
  /** The text of a refresh window. */
  refreshWindow: string | null;
  createdAt: string;
  /** An account id, or `cli:<user>`. */
  createdBy: string;
  /** The name of the site that it came from by a transfer; null if it was created here. */
  source: string | null;
}

/** The rules in use, so that a device without a fleet needs no search. */
export interface FleetRules {
  kinds: ReadonlySet<FleetKind>;
  /** The selectors of stores. A device states the id of its store, so other ids are not searched for. */
  stores: ReadonlySet<string>;
}

type FleetSettingRow = Omit<FleetSetting, 'resources' | 'withdrawn'> & { resources: string; withdrawn: 0 | 1 };

const asSetting = ({ resources, withdrawn, ...row }: FleetSettingRow): FleetSetting => ({
  ...row,
  resources: JSON.parse(resources) as FleetSetting['resources'],
  withdrawn: withdrawn === 1,
});

const fleetColumns = columns`
  name, kind, refresh_window AS "refreshWindow", created_at AS "createdAt", created_by AS "createdBy",
  source`;
const settingColumns = columns`
  fleet, package_id AS "packageId", channel, slot, mode, revision, follows, resources, withdrawn, set_at AS "setAt",
  set_by AS "setBy"`;

/** How many selectors are read per query. */
const batchSize = 500;

/** How many selectors one query compares with. */
const maxListed = 10_000;

export const fleets = (db: Pick<Queries, 'get' | 'all'>) => {
  const settingsIn = async (names: readonly string[]): Promise<FleetSetting[]> =>
    (
      await db.all<FleetSettingRow>(sql`
        SELECT ${settingColumns} FROM fleet_channels WHERE fleet IN ${list(names)}
        ORDER BY fleet, package_id, channel, slot`)
    ).map(asSetting);
  const hiddenIn = (names: readonly string[]) =>
    db.all<{ fleet: string; packageId: string }>(sql`
      SELECT fleet, package_id AS "packageId" FROM fleet_hidden_snaps WHERE fleet IN ${list(names)}
      ORDER BY fleet, package_id`);
  const fleetsNamed = (names: readonly string[]) =>
    db.all<Fleet>(sql`SELECT ${fleetColumns} FROM fleets WHERE name IN ${list(names)} ORDER BY name`);

  return {
    settingsIn,
    hiddenIn,

    find: (name: string) => db.get<Fleet>(sql`SELECT ${fleetColumns} FROM fleets WHERE name = ${name}`),

    /** Lists fleets by name, after the given one. */
    list: (after: string, limit: number) =>
      db.all<Fleet>(sql`SELECT ${fleetColumns} FROM fleets WHERE name > ${after} ORDER BY name LIMIT ${limit}`),

    /** Lists all fleets, by name. */
    async listAll(): Promise<Fleet[]> {
      const all: Fleet[] = [];
      for (let page: Fleet[] = [], after = ''; ; after = page.at(-1)!.name) {
        page = await this.list(after, batchSize);
        all.push(...page);
        if (page.length < batchSize) return all;
      }
    },

    /** The fleet as its site last brought it, as JSON; undefined if it was created here. */
    sourceText: async (name: string): Promise<string | undefined> =>
      (await db.get<{ text: string | null }>(sql`SELECT source_text AS text FROM fleets WHERE name = ${name}`))?.text ??
      undefined,

    /** Lists the selectors of a fleet in their stored form, after the given one. */
    selectors: async (fleet: string, after: string, limit: number): Promise<string[]> =>
      (
        await db.all<{ selector: string }>(sql`
          SELECT selector FROM fleet_selectors WHERE fleet = ${fleet} AND selector > ${after}
          ORDER BY selector LIMIT ${limit}`)
      ).map(({ selector }) => selector),

    /** Lists all selectors of a fleet, in order. */
    async allSelectors(fleet: string): Promise<string[]> {
      const selectors: string[] = [];
      for (let page: string[] = [], after = ''; ; after = page.at(-1)!) {
        page = await this.selectors(fleet, after, batchSize);
        selectors.push(...page);
        if (page.length < batchSize) return selectors;
      }
    },

    /** Returns those of the given selectors that a fleet has. */
    selectorsAmong: async (fleet: string, selectors: readonly string[]): Promise<Set<string>> =>
      new Set(
        (
          await db.all<{ selector: string }>(sql`
            SELECT selector FROM fleet_selectors WHERE selector IN ${list(selectors)} AND fleet = ${fleet}`)
        ).map(({ selector }) => selector),
      ),

    countSelectors: async (fleet: string): Promise<number> =>
      (await db.get<{ count: number }>(sql`SELECT count(*) AS count FROM fleet_selectors WHERE fleet = ${fleet}`))!
        .count,

    /** Lists the models of a fleet, `BRAND/MODEL`, as far as its selectors name models. */
    modelsOf: async (fleet: string): Promise<string[]> =>
      (
        await db.all<{ model: string }>(sql`
          SELECT DISTINCT model FROM fleet_selectors WHERE fleet = ${fleet} AND model <> '' ORDER BY model LIMIT 1000`)
      ).map(({ model }) => model),

    /** Lists the other fleets that share a selector with a fleet, each with one such selector. */
    overlapping: (fleet: string) =>
      db.all<{ fleet: string; selector: string }>(sql`
        SELECT other.fleet AS fleet, min(other.selector) AS selector
        FROM fleet_selectors AS mine CROSS JOIN fleet_selectors AS other
        WHERE mine.fleet = ${fleet} AND other.selector = mine.selector AND other.fleet <> ${fleet}
        GROUP BY other.fleet ORDER BY other.fleet`),

    /** Lists the fleets that have one of these selectors, each with one of them. */
    async withSelectorAmong(selectors: readonly string[]): Promise<Map<string, string>> {
      const shared = new Map<string, string>();
      for (let at = 0; at < selectors.length; at += maxListed) {
        const rows = await db.all<{ fleet: string; selector: string }>(sql`
          SELECT fleet, min(selector) AS selector FROM fleet_selectors
          WHERE selector IN ${list(selectors.slice(at, at + maxListed))} GROUP BY fleet`);
        for (const { fleet, selector } of rows) shared.set(fleet, shared.get(fleet) ?? selector);
      }
      return shared;
    },

    /** Lists the devices with a serial that a fleet names, or that this store issued: `BRAND/MODEL/SERIAL`. */
    devicesWithSerial: async (serial: string): Promise<string[]> => {
      const rows = await db.all<{ device: string }>(sql`
        SELECT model || '/' || serial AS device FROM fleet_selectors WHERE serial = ${serial} AND serial <> ''
        UNION
        SELECT brand_account_id || '/' || model_name || '/' || serial FROM serial_log WHERE serial = ${serial}
        ORDER BY 1 LIMIT 20`);
      return rows.map(({ device }) => device);
    },

    async rules(): Promise<FleetRules> {
      const rows = await db.all<{ kind: FleetKind }>(sql`
        SELECT 'serial' AS kind WHERE EXISTS (SELECT 1 FROM fleet_selectors WHERE selector > 'serial:' AND selector < 'serial;')
        UNION ALL
        SELECT 'model' WHERE EXISTS (SELECT 1 FROM fleet_selectors WHERE selector > 'model:' AND selector < 'model;')
        UNION ALL
        SELECT 'brand' WHERE EXISTS (SELECT 1 FROM fleet_selectors WHERE selector > 'brand:' AND selector < 'brand;')
        UNION ALL
        SELECT 'store' WHERE EXISTS (SELECT 1 FROM fleet_selectors WHERE selector > 'store:' AND selector < 'store;')`);
      const stores = await db.all<{ selector: string }>(sql`
        SELECT DISTINCT selector FROM fleet_selectors WHERE selector > 'store:' AND selector < 'store;' ORDER BY selector`);
      return {
        kinds: new Set(rows.map(({ kind }) => kind)),
        stores: new Set(stores.map(({ selector }) => selectorText(selector))),
      };
    },

    /** The names of the fleets with one of these selectors, the most specific first. */
    namesFor: async (selectors: readonly string[]): Promise<string[]> => {
      const rows = await db.all<{ selector: string; fleet: string }>(sql`
        SELECT selector, fleet FROM fleet_selectors WHERE selector IN ${list(selectors)} ORDER BY fleet`);
      const rank = ({ selector }: { selector: string }): number => fleetKinds.indexOf(kindOfSelector(selector));
      return rows.sort((row, other) => rank(row) - rank(other)).map(({ fleet }) => fleet);
    },

    /** The fleets with these names in their order, with their settings. */
    async withSettings(names: readonly string[]): Promise<FleetOfDevice[]> {
      const [rows, settings, hidden] = [await fleetsNamed(names), await settingsIn(names), await hiddenIn(names)];
      return names.flatMap((name) =>
        rows
          .filter((fleet) => fleet.name === name)
          .map(({ kind, refreshWindow }) => ({
            name,
            kind,
            refreshWindow,
            settings: settings.filter(({ fleet }) => fleet === name),
            hidden: hidden.flatMap(({ fleet, packageId }) => (fleet === name ? packageId : [])),
          })),
      );
    },

    /**
     * Returns a function that tells which devices belong to a fleet; undefined if there is no such fleet. Devices that this store remembers
     * belong to `storeId`, the id of this store.
     */
    async filterOf(
      name: string,
      storeId: string,
    ): Promise<((device: { brandId: string; model: string; serial: string }) => boolean) | undefined> {
      if ((await this.find(name)) === undefined) return undefined;
      const selectors = new Set(await this.allSelectors(name));
      return ({ brandId: brand, model, serial }) => isInFleet(selectors, { brand, model, serial }, storeId);
    },

    /** Lists the settings of all fleets for the revisions of a package. */
    settingsOfPackage: async (packageId: string): Promise<FleetSetting[]> =>
      (
        await db.all<FleetSettingRow>(sql`
          SELECT ${settingColumns} FROM fleet_channels WHERE package_id = ${packageId} ORDER BY fleet, channel, slot`)
      ).map(asSetting),
  };
};

export const fleetChanges = (db: Queries) => ({
  ...fleets(db),

  /** Adds a fleet. Returns false if the name is taken. */
  claim: async ({ name, kind, createdAt, createdBy }: Omit<Fleet, 'refreshWindow' | 'source'>) =>
    0 <
    (await db.run(sql`
      INSERT INTO fleets (name, kind, created_at, created_by) VALUES (${name}, ${kind}, ${createdAt}, ${createdBy})
      ON CONFLICT DO NOTHING`)),

  remove: (name: string) => db.run(sql`DELETE FROM fleets WHERE name = ${name}`),

  async addSelectors({ name, kind }: Pick<Fleet, 'name' | 'kind'>, texts: readonly string[]): Promise<void> {
    for (let at = 0; at < texts.length; at += maxJoinedRows) {
      const rows = texts.slice(at, at + maxJoinedRows).map((text) => {
        const { model, serial } = partsOfSelector(kind, text);
        return sql`
          INSERT INTO fleet_selectors (selector, fleet, model, serial)
          VALUES (${toSelector(kind, text)}, ${name}, ${model}, ${serial})`;
      });
      await db.run(joinRows(rows));
    }
  },

  removeSelectors: (fleet: string, selectors: readonly string[]) =>
    db.run(sql`DELETE FROM fleet_selectors WHERE selector IN ${list(selectors)} AND fleet = ${fleet}`),

  setWindow: (name: string, window: string | null) =>
    db.run(sql`UPDATE fleets SET refresh_window = ${window} WHERE name = ${name}`),

  /** Records the site that a fleet came from, and its text; null for a fleet of this site. */
  setSource: (name: string, source: { site: string; text: string } | null) =>
    db.run(sql`
      UPDATE fleets SET source = ${source?.site ?? null}, source_text = ${source?.text ?? null} WHERE name = ${name}`),

  /** Replaces the settings of a channel. */
  async setChannel(
    { fleet, packageId, channel }: Pick<FleetSetting, 'fleet' | 'packageId' | 'channel'>,
    settings: readonly FleetSetting[],
  ): Promise<void> {
    await db.run(sql`
      DELETE FROM fleet_channels WHERE fleet = ${fleet} AND package_id = ${packageId} AND channel = ${channel}`);
    for (const s of settings) {
      await db.run(sql`
        INSERT INTO fleet_channels (fleet, package_id, channel, slot, mode, revision, follows, resources, withdrawn, set_at, set_by)
        VALUES (${fleet}, ${packageId}, ${channel}, ${s.slot}, ${s.mode}, ${s.revision}, ${s.follows},
          ${JSON.stringify(s.resources)}, ${Number(s.withdrawn)}, ${s.setAt}, ${s.setBy})`);
    }
    // Devices can get another revision, so deltas to it are made, as after a release.
    await db.run(sql`
      INSERT INTO passing_delta_work (package_id, version) VALUES (${packageId}, 1)
      ON CONFLICT (package_id) DO UPDATE SET version = passing_delta_work.version + 1`);
  },

  hide: (fleet: string, packageId: string, { at, actor }: { at: string; actor: string }) =>
    db.run(sql`
      INSERT INTO fleet_hidden_snaps (fleet, package_id, hidden_at, hidden_by)
      VALUES (${fleet}, ${packageId}, ${at}, ${actor})`),

  unhide: (fleet: string, packageId: string) =>
    db.run(sql`DELETE FROM fleet_hidden_snaps WHERE fleet = ${fleet} AND package_id = ${packageId}`),

  /** Empties the slots that give a withdrawn revision. They stay empty if it is restored, because approvers saw another state. */
  markWithdrawn: (packageId: string, revision: number) =>
    db.run(sql`
      UPDATE fleet_channels SET withdrawn = 1
      WHERE package_id = ${packageId} AND revision = ${revision} AND withdrawn = 0`),
});

/** Caches the fleets of devices. Devices with the same fleets get the same view, so responses can be cached by it. */
export function fleetMemos(noun: ReturnType<typeof fleets>, options: MemoOptions) {
  const rules = memo(options, noun.rules);
  const namesFor = memo(options, async (first, others) =>
    (await noun.namesFor([first, ...others.split(' ')])).join(' '),
  );
  const view = memo(options, async (names) =>
    buildFleetView(names === '' ? [] : await noun.withSettings(names.split(' '))),
  );
  return {
    rules: () => rules('', ''),
    /** The view of a device with these selectors, the most specific first. */
    viewFor: ([first = '', ...others]: readonly string[]): MaybePromise<FleetView> =>
      whenReady(namesFor(first, others.join(' ')), (names) => view(names, '')),
  };
}
