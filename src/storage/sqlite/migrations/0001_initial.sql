-- What a study is now. `spec` is the study file as JSON.
CREATE TABLE studies (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  name         TEXT    NOT NULL UNIQUE,
  state        TEXT    NOT NULL,
  reason       TEXT    NOT NULL,
  created_at   TEXT    NOT NULL,
  updated_at   TEXT    NOT NULL,
  last_event   INTEGER NOT NULL,
  trials       INTEGER NOT NULL,
  completed    INTEGER NOT NULL,
  failed       INTEGER NOT NULL,
  open         INTEGER NOT NULL,
  best_trial   INTEGER,
  spec_version INTEGER NOT NULL,
  spec         TEXT    NOT NULL
) STRICT;

-- What a trial is now. `row` is all of it as JSON; the columns before it are for people.
CREATE TABLE trials (
  study      INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  number     INTEGER NOT NULL,
  state      TEXT    NOT NULL,
  created_at TEXT    NOT NULL,
  ended_at   TEXT,
  failure    TEXT,
  message    TEXT    NOT NULL,
  row        TEXT    NOT NULL,
  PRIMARY KEY (study, number)
) STRICT;

-- The log: what happened, in order. The truth; the other tables follow from it.
CREATE TABLE events (
  study      INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  seq        INTEGER NOT NULL,
  time       TEXT    NOT NULL,
  actor      TEXT    NOT NULL,
  request_id TEXT    NOT NULL,
  kind       TEXT    NOT NULL,
  trial      INTEGER NOT NULL,  -- 0: about the study.
  payload    TEXT    NOT NULL,
  PRIMARY KEY (study, seq)
) STRICT;

CREATE INDEX measurements ON events (study, trial, seq) WHERE kind = 'measurement_reported';
