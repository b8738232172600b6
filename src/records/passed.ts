// Whether anything that passes has ended, so that a sweep with nothing to do writes nothing.
import { sql, type Reading } from '#engine/database.ts';

export const passed = (db: Reading) => ({
  any: async (now: string) =>
    undefined !==
    (await db.get(sql`
      SELECT 1 FROM (
        SELECT ends_at FROM passing_failures WHERE ends_at <= ${now}
        UNION ALL SELECT ends_at FROM passing_familiar_places WHERE ends_at <= ${now}
        UNION ALL SELECT ends_at FROM passing_logins WHERE ends_at <= ${now}
        UNION ALL SELECT ends_at FROM passing_proofs WHERE ends_at <= ${now}
        UNION ALL SELECT ends_at FROM passing_codes WHERE ends_at <= ${now}
        UNION ALL SELECT ends_at FROM passing_registry_uploads WHERE ends_at <= ${now}
        UNION ALL SELECT ends_at FROM passing_leases WHERE ends_at <= ${now}) AS passed LIMIT 1`)),
});
