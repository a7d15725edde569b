-- What the log of a study comes to as of an event, so that it need not be read from its beginning (src/study/fold_snapshot.cc).
-- Computed from the log; rows may be removed at any time. Without a row in snapshots, parts mean nothing.
CREATE TABLE snapshots (
  study INTEGER PRIMARY KEY,
  as_of INTEGER NOT NULL,
  head  TEXT    NOT NULL
) STRICT;
CREATE TABLE snapshot_parts (
  study INTEGER NOT NULL,
  part  INTEGER NOT NULL,  -- 0, 1, 2, …
  data  BLOB    NOT NULL,
  PRIMARY KEY (study, part)
) STRICT;
-- What a request did before.
CREATE INDEX requests ON events (study, request_id) WHERE request_id <> '';
