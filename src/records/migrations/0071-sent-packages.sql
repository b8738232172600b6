-- What each site was told of each package last, as a digest: of a package of which nothing has changed the next transfer says nothing.
CREATE TABLE sent_packages (
  -- Empty for what was made for any site.
  site       TEXT NOT NULL,
  package_id TEXT NOT NULL,
  digest     TEXT NOT NULL,
  sequence   INTEGER NOT NULL,
  PRIMARY KEY (site, package_id)
);

-- Which numbers of a source were let in.
CREATE INDEX transfers_by_sequence ON transfers (source, sequence);
