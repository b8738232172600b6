// Transfer sources: the sites that this store accepts transfers from, with their keys and their scope.
import { columns, sql, type Queries } from '#engine/database.ts';

export interface TransferSource {
  name: string;
  /** Ed25519 public keys, base64url. */
  keys: string[];
  /** How many of them must have signed. */
  threshold: number;
  /** Its scope: globs of `namespace/name`. */
  packages: string[];
  /** Whether its releases are applied; if not, only revisions are accepted and channels stay as they are. */
  mayRelease: boolean;
  /** Whether its transfers wait for people, or are accepted automatically if they contain nothing that needs review. */
  accept: 'people' | 'automatic';
  /** The highest accepted sequence number. */
  floor: number;
  /** Whether the floor may be too low: the store was restored, and transfers that were accepted after the backup are not in its records. */
  floorInDoubt: boolean;
  /** Ed25519 public keys of scanning stations, base64url, and how many of them must have signed. */
  scanners: string[];
  scans: number;
  /** How often its keys were rotated. */
  rotation: number;
  /** Its keys before each rotation, newest last. */
  keysBefore: SourceKeySet[];
  /** RFC 3339; when two different rotations with the same number proved that a key of the source was copied. */
  keyCopiedAt: string | null;
  addedAt: string;
  /** The account that added it, in the form of the audit log. */
  addedBy: string;
}

/** The keys of a source after `rotation` rotations, and how many of them must sign a transfer. */
export interface SourceKeySet {
  rotation: number;
  keys: string[];
  threshold: number;
}

type Lists = 'keys' | 'packages' | 'scanners' | 'keysBefore';
type Flags = 'mayRelease' | 'floorInDoubt';
type TransferSourceRow = Omit<TransferSource, Lists | Flags> & Record<Lists, string> & Record<Flags, 0 | 1>;

const asSource = ({
  keys,
  packages,
  scanners,
  keysBefore,
  mayRelease,
  floorInDoubt,
  ...row
}: TransferSourceRow): TransferSource => ({
  ...row,
  keys: JSON.parse(keys) as string[],
  packages: JSON.parse(packages) as string[],
  scanners: JSON.parse(scanners) as string[],
  keysBefore: JSON.parse(keysBefore) as SourceKeySet[],
  mayRelease: mayRelease === 1,
  floorInDoubt: floorInDoubt === 1,
});

const sourceColumns = columns`
  name, keys, threshold, packages, may_release AS "mayRelease", floor, floor_in_doubt AS "floorInDoubt", scanners, scans, rotation, accept,
  keys_before AS "keysBefore", key_copied_at AS "keyCopiedAt", added_at AS "addedAt", added_by AS "addedBy"`;

export const transferSources = (db: Pick<Queries, 'get' | 'all'>) => ({
  async find(name: string): Promise<TransferSource | undefined> {
    const row = await db.get<TransferSourceRow>(
      sql`SELECT ${sourceColumns} FROM transfer_sources WHERE name = ${name}`,
    );
    return row && asSource(row);
  },

  list: async (): Promise<TransferSource[]> =>
    (await db.all<TransferSourceRow>(sql`SELECT ${sourceColumns} FROM transfer_sources ORDER BY name LIMIT 1000`)).map(
      asSource,
    ),
});

export const transferSourceChanges = (db: Queries) => ({
  ...transferSources(db),

  /**
   * Adds or changes a source. An existing floor stays; for a source that was trusted before, the floor is its highest accepted number. The
   * administrator confirms the keys with this, so a copied key is settled.
   */
  set: (s: Omit<TransferSource, 'floor' | 'floorInDoubt' | 'rotation' | 'keysBefore' | 'keyCopiedAt'>) =>
    db.run(sql`
      INSERT INTO transfer_sources
        (name, keys, threshold, packages, may_release, accept, scanners, scans, added_at, added_by, floor)
      VALUES (${s.name}, ${JSON.stringify(s.keys)}, ${s.threshold}, ${JSON.stringify(s.packages)}, ${Number(s.mayRelease)}, ${s.accept},
        ${JSON.stringify(s.scanners)}, ${s.scans}, ${s.addedAt}, ${s.addedBy},
        COALESCE((SELECT MAX(sequence) FROM transfers WHERE source = ${s.name} AND status IN ('accepted', 'withdrawn')
          AND beyond_floor = 0), 0))
      ON CONFLICT (name) DO UPDATE
      SET keys_before = CASE transfer_sources.keys WHEN excluded.keys THEN transfer_sources.keys_before ELSE '[]' END,
        key_copied_at = NULL, keys = excluded.keys, threshold = excluded.threshold, packages = excluded.packages,
        may_release = excluded.may_release, accept = excluded.accept, scanners = excluded.scanners, scans = excluded.scans,
        added_at = excluded.added_at, added_by = excluded.added_by`),

  /** Replaces the keys of a source by those of a rotation statement. */
  rotate: (s: Pick<TransferSource, 'name' | 'keys' | 'threshold' | 'rotation' | 'keysBefore'>) =>
    db.run(sql`
      UPDATE transfer_sources SET keys = ${JSON.stringify(s.keys)}, threshold = ${s.threshold}, rotation = ${s.rotation},
        keys_before = ${JSON.stringify(s.keysBefore)}
      WHERE name = ${s.name}`),

  /** Records when a copied key was proved; the first time stays. */
  noteCopiedKey: (name: string, at: string) =>
    db.run(sql`UPDATE transfer_sources SET key_copied_at = COALESCE(key_copied_at, ${at}) WHERE name = ${name}`),

  /**
   * Lowers the floor of a source to `to`, so that it can send numbers above it again. Marks the transfers that were accepted above it, so that
   * removing the source and trusting it again does not raise the floor to their numbers.
   */
  async lowerFloor(name: string, to: number): Promise<void> {
    await db.run(sql`
      UPDATE transfers SET beyond_floor = 1
      WHERE source = ${name} AND sequence > ${to} AND status IN ('accepted', 'withdrawn')`);
    await db.run(sql`UPDATE transfer_sources SET floor = ${to} WHERE name = ${name} AND floor > ${to}`);
  },

  /** Marks all floors as uncertain: higher numbers may have been accepted. */
  doubtFloors: () => db.run(sql`UPDATE transfer_sources SET floor_in_doubt = 1 WHERE name > ''`),

  /** Marks the floor of one source as uncertain. */
  doubtFloor: (name: string) => db.run(sql`UPDATE transfer_sources SET floor_in_doubt = 1 WHERE name = ${name}`),

  /** Marks the floor of a source as certain. */
  believeFloor: (name: string) => db.run(sql`UPDATE transfer_sources SET floor_in_doubt = 0 WHERE name = ${name}`),

  /** Raises the floor. */
  raiseFloor: (name: string, sequence: number) =>
    db.run(sql`UPDATE transfer_sources SET floor = ${sequence} WHERE name = ${name} AND floor < ${sequence}`),

  remove: (name: string) => db.run(sql`DELETE FROM transfer_sources WHERE name = ${name}`),
});
