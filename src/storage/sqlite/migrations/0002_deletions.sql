-- Which study a request deleted: of the study itself nothing is left that could tell the request from a new one.
CREATE TABLE deletions (
  request_id TEXT NOT NULL PRIMARY KEY,
  study      TEXT NOT NULL  -- Its name.
) STRICT, WITHOUT ROWID;
