-- What each process holds of something that all processes of a store have together, such as the free space of the disk.
-- A holder's name begins with that of its process, and what it holds ends with that.
CREATE TABLE passing_shares (
  name   TEXT NOT NULL CHECK (length(name) <= 512),
  holder TEXT NOT NULL CHECK (length(holder) <= 64),
  amount INTEGER NOT NULL CHECK (amount > 0),
  PRIMARY KEY (name, holder)
) STRICT, WITHOUT ROWID;
