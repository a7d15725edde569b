-- What each trial that has ended counts for in each of its metrics, but NaN: lists by a metric are read in this order.
CREATE TABLE trial_metrics (
  study  INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  metric TEXT    NOT NULL,
  value  REAL    NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (study, metric, value, number)
) STRICT, WITHOUT ROWID;
-- Lists of the trials in one state.
CREATE INDEX trials_by_state ON trials (study, state, number);
-- Studies that were deleted, whose trials, events and metrics are removed in steps: those of a long study take seconds.
CREATE TABLE leftovers (
  study INTEGER PRIMARY KEY  -- Its id.
) STRICT;
